#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# ctest in build folders, one after the other whatever the first says; then what was not checked and why (tests print
# a line "skipped: REASON" or "skipped: REASON: DETAIL" for what they leave out), and ctest's summaries, of a
# folder whose tests fail last. Exit status: 0 if all pass, else that of ctest where they do not.
#
# Usage: skipped.sh BUILD[,BUILD...] [OPTIONS OF ctest]
set -u
IFS=, read -ra builds <<<"$1"
shift
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
        }' "$1" | fold -s -w 100
}
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT
status=0
for build in "${builds[@]}"; do
    ctest --test-dir "$build" "$@" | {
        held=
        while IFS= read -r line; do
            case $line in *"% tests passed, "*) held=yes ;; esac
            if [ -n "$held" ]; then printf '%s\n' "$line" >>"$parts/summary"; else printf '%s\n' "$line"; fi
        done
    }
    code=${PIPESTATUS[0]}
    {
        [ ${#builds[@]} -eq 1 ] || echo "== $build"
        log=$build/Testing/Temporary/LastTest.log
        if [ -r "$log" ]; then summarise "$log"; fi
        if [ -r "$parts/summary" ]; then cat "$parts/summary"; fi
        rm -f "$parts/summary"
    } >>"$parts/$([ "$code" -eq 0 ] && echo passed || echo red)"
    [ "$code" -eq 0 ] || status=$code
done
for part in passed red; do
    if [ -r "$parts/$part" ]; then cat "$parts/$part"; fi
done
exit "$status"
