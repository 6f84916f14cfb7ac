#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every fuzz target for some time, with a corpus that is kept: what it ran, as a table (docs/reliability.md).
# New inputs go to KEPT/<target>, from which the next call goes on; what fails to KEPT/failed.
#
# Usage: run.sh BUILD SECONDS [KEPT [TARGET...]]      a build with the preset "fuzz" (clang), KEPT: BUILD/corpus
set -u
test $# -ge 2 || { sed -n 's/^# //; /^Usage/p' "$0"; exit 2; }
source=$(cd "$(dirname "$0")" && pwd)
build=$1 seconds=$2 kept=${3:-$1/corpus}
shift $(($# < 3 ? $# : 3))
test $# -gt 0 || set -- $(cd "$source" && ls fuzz_*.c | sed 's/fuzz_\(.*\)\.c/\1/')
mkdir -p "$kept/failed" || exit 2
bad=0 total=0
echo "| target | executions | a second | edges covered | inputs kept | failures |"
echo "|---|---|---|---|---|---|"
for name; do
    program=$build/tests/fuzz/fuzz_$name log=$kept/$name.log
    test -x "$program" || { echo "$program: not built (cmake --preset fuzz, with clang)" >&2; exit 2; }
    mkdir -p "$kept/$name"
    mark=$(mktemp)
    "$program" -max_total_time="$seconds" -print_final_stats=1 -timeout=30 -rss_limit_mb=4096 \
        -artifact_prefix="$kept/failed/$name-" "$kept/$name" "$source/corpus/$name" >"$log" 2>&1 </dev/null
    code=$?
    failures=$(find "$kept/failed" -name "$name-*" -newer "$mark" | wc -l)
    rm -f "$mark"
    n=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")
    edges=$(grep -o 'cov: [0-9]*' "$log" | tail -1)
    echo "| $name | ${n:-0} | ${rate:-0} | ${edges#cov: } | $(find "$kept/$name" -type f | wc -l) | $failures |"
    total=$((total + ${n:-0}))
    if [ $code -ne 0 ] || [ "${n:-0}" -eq 0 ]; then
        bad=1
        echo "$name: exit code $code, see $log and $kept/failed" >&2
    fi
done
echo "| together | $total | | | | |"
exit $bad
