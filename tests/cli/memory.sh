# SPDX-License-Identifier: GPL-3.0-or-later
# Every command without the memory it asks for: the allocation of number n fails, for the first n and for
# some of all others. The command then ends with a message and an exit code of its own, and leaves no
# file behind; or it does without, and says and writes what it always does.
. "$DLSIM_SOURCE/tests/support/cli.sh"
shim=$work/refuse.so
${CC:-cc} -O1 -shared -fPIC -o "$shim" "$source/tests/support/refuse_malloc.c" 2>cc.txt ||
    { echo "skipped: no C compiler"; exit 77; }
if grep -q __asan_init "$dlsim"; then
    echo "skipped: a sanitizer has the allocator"
    exit 77
fi
# Where HDF5 lies in a program that contains it: its functions, which follow each other.
REFUSE_NOT=$(nm "$dlsim" | sort | awk 'tolower($2) == "t" && $3 ~ /^H5/ { if (!n++) first = $1; last = NR } { at[NR] = $1 }
    END { if (n) print first, at[last + 1] }')
test -z "$REFUSE_NOT" || export REFUSE_NOT
hw=--hardware=$source/configs/hardware
first=24 others=12

# try WORDS...: the command in a folder of its own, so that what it leaves there is seen.
try() {
    rm -rf out
    mkdir out
    code=0
    (cd out && LD_PRELOAD=$shim exec "$dlsim" "$@") >out.txt 2>err.txt </dev/null || code=$?
}

refuse() {
    REFUSE_COUNT=$work/count try "$@"
    test $code -eq 0 || fail "dlsim $*: exit code $code: $(cat err.txt)"
    local all n step refused
    all=$(cat count)
    test "$all" -gt 5 || fail "dlsim $*: $all allocations"
    rm -rf whole
    mv out whole
    mv out.txt whole.txt
    refused=0
    step=$(((all - first) / others + 1))
    for ((n = 0; n < all; n += n < first ? 1 : step)); do
        REFUSE_AT=$n try "$@"
        if [ $code -eq 0 ]; then
            diff -r whole out >/dev/null && cmp -s whole.txt out.txt ||
                fail "dlsim $*: without allocation $n of $all all is said to be well, but it differs"
        else
            refused=$((refused + 1))
            test $code -le 6 || fail "dlsim $*: without allocation $n of $all exit code $code"
            test -s err.txt || fail "dlsim $*: without allocation $n of $all no message"
            test -z "$(ls -A out)" || fail "dlsim $*: without allocation $n of $all $(ls -A out) is left"
        fi
        checks=$((checks + 1))
    done
    test $refused -gt 5 || fail "dlsim $*: $refused of $all refusals matter"
}

expect 0 --config="$source/configs/quickstart.cfg" --trace="$sample" -o run.h5 -q
expect 0 graph zoo resnet50 -o zoo.h5
expect 0 dataset build -o d.h5 --graphs=34 --samples=20 --groups=4 --features=total "$hw" \
    --setting=V100-P1w2-ho-PCIe -q
expect 0 perf record -o perf.h5 --no-gpu --interval=5ms -- sleep 0.3
expect 0 model random -o model.h5 --arch=hidden=16
in=$work
refuse --config="$source/configs/quickstart.cfg" --trace="$sample" -o r.h5 -q
refuse inspect "$in/run.h5" --jobs
refuse compare "$in/run.h5" "$in/run.h5"
refuse export --perfetto "$in/run.h5" -o r.json
refuse config --check "$source/configs/quickstart.cfg"
refuse sweep plan "$source/configs/quickstart_sweep.cfg"
refuse trace stats "$sample"
refuse trace convert "$sample" -o t.csv
refuse graph zoo resnet50 -o g.h5
refuse graph import "$source/tests/golden/graphdef/cnn.pb" -o g.h5
refuse graph show "$in/zoo.h5"
refuse model show "$in/model.h5"
refuse dataset show "$in/d.h5"
refuse dataset build -o d.h5 --graphs=34 --samples=20 --groups=4 --features=total "$hw" \
    --setting=V100-P1w2-ho-PCIe -q
refuse perf analyze "$in/perf.h5"
refuse predict --whatif --model=vgg16 --batch=32 --gpu=V100 --workers=2 --source=operator
refuse evaluate --measured --sources=operator
refuse train --dataset="$in/d.h5" --setting=V100-P1w2-ho-PCIe --arch=hidden=16 --epochs=2 --threads=1 \
    -o w.h5 -q
echo "$checks checks"
