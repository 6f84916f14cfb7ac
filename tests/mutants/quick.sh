#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The quick mutants are noticed; and the runner tells a mutant that nobody notices, a row whose text has
# gone, and one whose file does not compile. Usage: quick.sh BUILD
set -u
build=$1
run=$(dirname "$0")/run.py
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
python3 "$run" "$build" --quick -j 2
status=$?
[ "$status" -eq 0 ] || exit "$status"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
row() { # NAME OLD NEW
    printf 'mutant %s\nwhat a test\nfile predictor/training/adam.c\ntests unit_test_adam\n- %s\n+ %s\n' "$@" \
        >"$folder/list"
}
expect() { # STATUS TEXT
    python3 "$run" "$build" --from "$folder/list" >"$folder/out" 2>&1
    status=$?
    if [ "$status" -ne "$1" ] || ! grep -q "$2" "$folder/out"; then
        echo "status $status, not $1, or nothing about \"$2\":"
        cat "$folder/out"
        exit 1
    fi
}
row harmless 'const double norm = sqrt(sum);' 'const double norm = 1 * sqrt(sum);'
expect 1 "harmless *SURVIVES"
row gone 'no such text' ''
expect 2 "mutant gone: its text is 0 times"
row twice 'adam->t' '1'
expect 2 "mutant twice: its text is"
row nonsense 'const double norm = sqrt(sum);' 'const double norm = "'
expect 2 "mutant nonsense does not compile"
