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

# refused NAME TEXT WORDS...: dlsim ends with an error that says so.
refused() {
    "$dlsim" "${@:3}" >out 2>err && fail "$1: accepted"
    grep -qF -- "$2" err || fail "$1: '$2' not in: $(cat err)"
}

# same NAME FILE: the rest of the input is the whole expected file.
same() {
    cat >expected
    cmp -s expected "$2" || fail "$1: $(diff expected "$2")"
}

empty() {
    test ! -s "$1" || fail "$1 is not empty: $(head -c 2000 "$1")"
}

# page_commands FILE: the commands of dlsim in its blocks of shell, continued lines joined.
page_commands() {
    sed -n '/^```sh/,/^```/p' "$1" | sed -e ':a' -e '/\\$/N; s/\\\n *//; ta' | grep '^dlsim ' ||
        fail "$1 shows no command"
}

# on_path: dlsim is found by name.
on_path() {
    mkdir -p bin
    ln -sf "$(realpath "$dlsim")" bin/dlsim
    PATH=$work/bin:$PATH
}

# run_page FILE [FEWER]: every command that a page of the documentation shows, in this folder; they stay in
# commands.txt, the output of the last in out.txt. FEWER, a command of sed, makes them smaller for the sanitizers.
run_page() {
    on_path
    page_commands "$1" >commands.txt
    test "${DLSIM_SANITIZE:-0}" = 0 || sed -i "${2:-}" commands.txt
    while read -r line; do
        bash -e -c "$line" >out.txt 2>err.txt </dev/null || fail "$line: $(cat err.txt)"
        checks=$((checks + 1))
    done <commands.txt
}
