# SPDX-License-Identifier: GPL-3.0-or-later
# Commands that write files, where a call that puts them on the disk fails: write, ftruncate, fsync, linkat,
# rename, close, one after the other. The command says so and leaves nothing behind; or it does without,
# and the file is the one that it always writes. And runs that are killed leave the whole file or none.
. "$DLSIM_SOURCE/tests/support/cli.sh"
shim=$work/refuse.so
${CC:-cc} -O1 -shared -fPIC -o "$shim" "$source/tests/support/refuse_io.c" 2>cc.txt ||
    { echo "skipped: no C compiler"; exit 77; }
if grep -q __asan_init "$dlsim"; then
    echo "skipped: a sanitizer has these functions"
    exit 77
fi
kills=${REFUSED_KILLS:-12} most=${REFUSED_CALLS:-60}

# try WORDS...: the command in a folder of its own, so that what it leaves there is seen.
try() {
    rm -rf out
    mkdir out
    code=0
    (cd out && LD_PRELOAD=$shim exec "$dlsim" "$@") >out.txt 2>err.txt </dev/null || code=$?
}

# same A B: two files of results, which say how long their runs took, tell the same of the jobs.
same() {
    "$dlsim" inspect "$1" --jobs=0 >one.txt &&
        "$dlsim" inspect "$2" --jobs=0 >other.txt && cmp -s one.txt other.txt
}

refuse() {
    REFUSE_COUNT=$work/count try "$@"
    test $code -eq 0 || fail "dlsim $*: exit code $code: $(cat err.txt)"
    local all n step refused=0
    all=$(cat count)
    test "$all" -gt 3 || fail "dlsim $*: $all calls"
    rm -rf whole
    mv out whole
    step=$(((all + most - 1) / most))
    for ((n = 0; n < all; n += step)); do
        REFUSE_AT=$n try "$@"
        if [ $code -eq 0 ]; then
            diff -r whole out >/dev/null || same whole/r.h5 out/r.h5 || fail "dlsim $*: without call $n of $all all is said to be well, but it differs"
        else
            refused=$((refused + 1))
            test $code -le 6 || fail "dlsim $*: without call $n of $all exit code $code"
            test -s err.txt || fail "dlsim $*: without call $n of $all no message"
            test -z "$(ls -A out)" || fail "dlsim $*: without call $n of $all $(ls -A out) is left"
        fi
        checks=$((checks + 1))
    done
    test $refused -gt 1 || fail "dlsim $*: $refused of $all refusals matter"
    echo "dlsim $1: $refused of $all"
}

expect 0 --config="$source/configs/quickstart.cfg" --trace="$sample" -o run.h5 -q
in=$work
refuse --config="$source/configs/quickstart.cfg" --trace="$sample" -o r.h5 -q
refuse export --perfetto "$in/run.h5" -o r.json
refuse trace convert "$sample" -o t.csv
refuse graph zoo resnet50 -o g.h5
refuse model random -o model.h5 --arch=hidden=16
refuse dataset build -o d.h5 --graphs=34 --samples=20 --groups=4 --features=total \
    "--hardware=$source/configs/hardware" --setting=V100-P1w2-ho-PCIe -q

whole=0
for ((k = 0; k < kills; k++)); do
    rm -rf out
    mkdir out
    (cd out && exec "$dlsim" --config="$source/configs/quickstart.cfg" --trace="$sample" -o r.h5 -q) &
    sleep "0.0$((RANDOM % 40 + 10))"
    kill -9 $! 2>/dev/null || :
    wait $! 2>/dev/null || :
    if [ -e out/r.h5 ]; then
        same run.h5 out/r.h5 || fail "a run that was killed left another file than one that was not"
        whole=$((whole + 1))
    fi
    checks=$((checks + 1))
done
echo "$kills killed, $whole of them had written their file"
echo "$checks checks"
