#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every fuzz target for some time, with a corpus that is kept: what it ran, as a table (docs/reliability.md).
# New inputs go to KEPT/<target>, from which the next call goes on; what fails to KEPT/failed, and the target begins
# again until its time is over. KEPT/totals has a line for each call and target: `-` as SECONDS only adds them up.
# Targets work in memory (/dev/shm), where no file is waited for.
#
# Usage: run.sh BUILD SECONDS [KEPT [TARGET...]]      a build with the preset "fuzz" (sanitizers) or "fuzz-fast"
#                                                     (clang), KEPT: BUILD/corpus
set -u
test $# -ge 2 || { sed -n 's/^# //; /^Usage/,/clang/p' "$0"; exit 2; }
source=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd) seconds=$2 kept=${3:-$build/corpus}
shift $(($# < 3 ? $# : 3))
test $# -gt 0 || set -- $(cd "$source" && ls fuzz_*.c | sed 's/fuzz_\(.*\)\.c/\1/')
export LSAN_OPTIONS="suppressions=$source/../support/lsan.supp:print_suppressions=0"
mkdir -p "$kept/failed" || exit 2
kept=$(cd "$kept" && pwd) bad=0
folder=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
# Comparisons that are not traced are a build for executions a second: no weighing of inputs either.
entropic=$(grep -q '^DLSIM_SANITIZE:BOOL=ON' "$build/CMakeCache.txt" && echo 1 || echo 0)

# one NAME SECONDS: a line of the table and of the totals.
one() {
    local name=$1 program=$build/tests/fuzz/fuzz_$1 log=$kept/$1.log end=$((SECONDS + $2)) n=0 failures=0 edges= code all left
    local begin=$SECONDS
    test -x "$program" || { echo "$program: not built (cmake --preset fuzz, with clang)" >&2; exit 2; }
    mkdir -p "$kept/$name"
    while left=$((end - SECONDS)) && [ $left -gt 0 ] && [ $failures -lt 100 ]; do
        "$program" -max_total_time=$left -print_final_stats=1 -timeout=30 -rss_limit_mb=4096 -entropic="$entropic" \
            -artifact_prefix="$kept/failed/$name-" "$kept/$name" "$source/corpus/$name" >"$log" 2>&1 </dev/null
        code=$?
        all=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        edges=$(grep -o 'cov: [0-9]*' "$log" | tail -1 | tr -dc 0-9)
        if [ $code -ne 0 ] || [ "${all:-0}" -eq 0 ]; then
            bad=1 failures=$((failures + 1))
            cp "$log" "$kept/failed/$name.log"
            echo "$name: exit code $code, see $kept/failed" >&2
            if [ "${all:-0}" -le "$(find "$kept/$name" "$source/corpus/$name" -type f | wc -l)" ]; then
                break # an input that is kept fails: nothing new is run until that is mended, or the input gone
            fi
        fi
        n=$((n + ${all:-0}))
    done
    echo "| $name | $n | $((n / (SECONDS > begin ? SECONDS - begin : 1))) | ${edges:-0} | $(find "$kept/$name" -type f | wc -l) | $failures |"
    echo "$name $n $((SECONDS - begin)) ${edges:-0} $failures" >>"$kept/totals"
}

if [ "$seconds" != - ]; then
    echo "| target | executions | a second | edges covered | inputs kept | failures |"
    echo "|---|---|---|---|---|---|"
    for name; do
        one "$name" "$seconds"
    done
fi
echo
echo "| target, all calls so far | executions | seconds | edges covered | failures |"
echo "|---|---|---|---|---|"
sort "$kept/totals" | awk '
    function put() { if (name != "") printf "| %s | %d | %d | %d | %d |\n", name, n, s, edges, bad }
    $1 != name { put(); name = $1; n = s = edges = bad = 0 }
    { n += $2; s += $3; bad += $5; edges = $4 > edges ? $4 : edges; all += $2; time += $3; failed += $5 }
    END { put(); printf "| together | %d | %d | | %d |\n", all, time, failed }'
exit $bad
