#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The numbers of the documentation, run again (check.py; docs/testing.md). Without options what is quick, and
# that a number which is not the page's, or not the output's, is found.
#
# Usage: check.sh DLSIM [--all] [--only=NAME,...] [--keep]
set -u
check=$(dirname "$0")/check.py
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
python3 "$check" "$@" || exit 1
[ $# -eq 1 ] || exit 0

list=$(mktemp)
trap 'rm -f "$list"' EXIT
finds() { # DLSIM TEXT FIND WITHIN MESSAGE
    printf 'run licence\n$ echo version 3.5\nclaim README.md\ntext %s\nfind %s\nwithin %s\n' "$2" "$3" "$4" >"$list"
    python3 "$check" "$1" --from="$list" >"$list.out" 2>&1
    grep -qF -- "$5" "$list.out" || { echo "not found: $5 in:"; cat "$list.out"; rm -f "$list.out"; exit 1; }
    rm -f "$list.out"
}
finds "$1" 'GPL-{3.0}-or-later' 'version (\S+)' 0.5 '1 claims, 1 numbers'
finds "$1" 'GPL-{3.0}-or-later' 'version (\S+)' 0.4 'now 3.5, which is not within 0.4 of 3.0'
finds "$1" 'GPL-{3.5}-or-later' 'version (\S+)' 0 'README.md does not say "GPL-3.5-or-later"'
finds "$1" 'GPL-{3.0}-or-later' 'release (\S+)' 1 'nothing in the output is /release (\S+)/'
