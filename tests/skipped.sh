#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# ctest in a build folder, and before its summary what was not checked and why: tests print a line
# "skipped: REASON" or "skipped: REASON: DETAIL" for what they leave out.
#
# Usage: skipped.sh BUILD [OPTIONS OF ctest]
set -u
build=$1
shift
log=$build/Testing/Temporary/LastTest.log
summarise() {
    awk '
        /^[0-9]+\/[0-9]+ Test: / { test = $3 }
        /^skipped: / {
            reason = substr($0, 10)
            sub(/: .*/, "", reason)
            if (!(reason in n)) order[++reasons] = reason
            n[reason]++
            if (index(tests[reason] " ", " " test " ") == 0) tests[reason] = tests[reason] " " test
        }
        END {
            for (i = 1; i <= reasons; i++)
                printf "%d skipped: %s\n   %s\n", n[order[i]], order[i], tests[order[i]]
        }' "$log" | fold -s -w 100
}
ctest --test-dir "$build" "$@" | {
    held=
    while IFS= read -r line; do
        case $line in *"% tests passed, "*) held=yes ;; esac
        if [ -n "$held" ]; then tail+=$line$'\n'; else printf '%s\n' "$line"; fi
    done
    [ -r "$log" ] && summarise
    printf '%s' "${tail-}"
}
exit "${PIPESTATUS[0]}"
