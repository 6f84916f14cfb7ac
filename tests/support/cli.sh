# SPDX-License-Identifier: GPL-3.0-or-later
# What the scripts of tests/cli share. Sets dlsim, source, work (a folder that goes away) and sample.
set -eu
dlsim=$1
source=$DLSIM_SOURCE
sample=$source/traces/samples/quick_60.csv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
checks=0

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# expect CODE WORDS...: run dlsim; its output is in out.txt and err.txt.
expect() {
    local want=$1 code=0
    shift
    "$dlsim" "$@" >out.txt 2>err.txt || code=$?
    test $code -eq "$want" || fail "dlsim $*: exit code $code, not $want: $(head -c 2000 out.txt err.txt)"
    checks=$((checks + 1))
}

# says FILE TEXT: the file contains the text.
says() {
    grep -qF -- "$2" "$1" || fail "$1 does not say \"$2\": $(head -c 2000 "$1")"
    checks=$((checks + 1))
}

empty() {
    test ! -s "$1" || fail "$1 is not empty: $(head -c 2000 "$1")"
}
