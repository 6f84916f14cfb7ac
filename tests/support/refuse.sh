# SPDX-License-Identifier: GPL-3.0-or-later
# Commands whose calls of one kind are refused one after the other by a preloaded library (refuse_malloc.c, refuse_io.c).

# refuse_with SOURCE: compiles it; skips the test where that cannot be or a sanitizer has the functions.
refuse_with() {
    shim=$work/refuse.so
    ${CC:-cc} -O1 -shared -fPIC -o "$shim" "$source/tests/support/$1" 2>cc.txt ||
        { echo "skipped: no C compiler"; exit 77; }
    if grep -q __asan_init "$dlsim"; then
        echo "skipped: a sanitizer has these functions"
        exit 77
    fi
}

# try WORDS...: the command in a folder of its own, so that what it leaves there is seen.
try() {
    rm -rf out
    mkdir out
    code=0
    (cd out && LD_PRELOAD=$shim exec "$dlsim" "$@") >out.txt 2>err.txt </dev/null || code=$?
}

# refuse WORDS...: the command without call n, for the first $first n and $others of all others. It ends with a message and
# an exit code of its own and leaves no file; or it does without, and its files and words are as always (same_as_whole,
# which a test may define anew). At least $least of the refusals matter.
same_as_whole() {
    diff -r whole out >/dev/null && cmp -s whole.txt out.txt
}
what_is_left() { # by a command that failed
    ls -A out
}
refuse() {
    rm -f "$work/count"
    REFUSE_COUNT=$work/count try "$@"
    test $code -eq 0 || fail "dlsim $*: exit code $code: $(cat err.txt)"
    local all n step refused=0
    all=$(cat count)
    test "$all" -gt $((least - 1)) || fail "dlsim $*: $all calls"
    rm -rf whole
    mv out whole
    mv out.txt whole.txt
    step=$(((all - first) / others + 1))
    for ((n = 0; n < all; n += n < first ? 1 : step)); do
        REFUSE_AT=$n try "$@"
        if [ $code -eq 0 ]; then
            same_as_whole || fail "dlsim $*: without call $n of $all all is said to be well, but it differs"
        else
            refused=$((refused + 1))
            test $code -le 6 || fail "dlsim $*: without call $n of $all exit code $code"
            test -s err.txt || fail "dlsim $*: without call $n of $all no message"
            test -z "$(what_is_left)" || fail "dlsim $*: without call $n of $all $(what_is_left) is left"
        fi
        checks=$((checks + 1))
    done
    test $refused -ge $least || fail "dlsim $*: $refused of $all refusals matter"
    echo "dlsim $1: $refused of $all"
}
