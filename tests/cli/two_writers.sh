#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Two processes that write one file at once: both succeed, the file is whole, and nothing else in the
# folder changes. A cache that cannot be written costs a warning.
. "$(dirname "$0")/../support/cli.sh"
run=("--config=$source/configs/quickstart.cfg" "--trace=$sample" --quiet)
echo keep >same.h5.part
for _ in 1 2 3 4 5 6 7 8 9 10; do
    "$dlsim" run "${run[@]}" -o same.h5 --force &
    "$dlsim" run "${run[@]}" -o same.h5 --force || fail "the first of two writers failed"
    wait $! || fail "the second of two writers failed"
    expect 0 inspect same.h5
done
says same.h5.part keep
test "$(ls -A)" = "$(printf '%s\n' err.txt out.txt same.h5 same.h5.part)" || fail "left: $(ls -A)"

expect 0 run "${run[@]}" -o cached.h5 --set perf.model=operator --set predictor.source=driple \
    --set "predictor.cache=$work/nowhere/at/all"
says err.txt "warning: $work/nowhere/at/all: cannot be created: No such file or directory"
expect 0 inspect cached.h5
echo "$checks checks"
