# SPDX-License-Identifier: GPL-3.0-or-later
# Commands that write files, where a call that puts them on the disk fails: write, ftruncate, fsync, linkat,
# rename, close, one after the other. The command says so and leaves nothing behind; or it does without,
# and the file is the one that it always writes. And runs that are killed leave the whole file or none.
. "$DLSIM_SOURCE/tests/support/cli.sh"
. "$source/tests/support/refuse.sh"
refuse_with refuse_io.c
kills=${REFUSED_KILLS:-12} first=${REFUSED_CALLS:-60} others=12 least=2

# same A B: two files of results, which say how long their runs took, tell the same of the jobs.
same() {
    "$dlsim" inspect "$1" --jobs=0 >one.txt &&
        "$dlsim" inspect "$2" --jobs=0 >other.txt && cmp -s one.txt other.txt
}

same_as_whole() {
    diff -r whole out >/dev/null || same whole/r.h5 out/r.h5
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
cp whole/d.h5 .
refuse train --dataset="$in/d.h5" --setting=V100-P1w2-ho-PCIe --arch=hidden=16 --epochs=2 --threads=1 -o w.h5 -q
. "$source/tests/support/refuse_files.sh"
refuse_sweep
refuse_site

# Over a file that is there: it stays as it was, or is the new one, and nothing lies beside it.
cp run.h5 there.h5
same_as_whole() {
    same run.h5 there.h5
}
what_is_left() {
    ls -A out
    find . -maxdepth 1 -name '.there*'
    same run.h5 there.h5 || echo "another there.h5"
}
refuse --config="$source/configs/quickstart.cfg" --trace="$sample" -o "$in/there.h5" --force -q

# Killed at moments all over a run of 40 ms and the writing of its file.
large=$source/traces/samples/philly_like_5000.csv
run="--config=$source/configs/quickstart.cfg --trace=$large -o r.h5 -q"
# shellcheck disable=SC2086 # words
(mkdir large && cd large && "$dlsim" $run) || fail "the large run"
whole=0
for ((k = 0; k < kills; k++)); do
    rm -rf out
    mkdir out
    # shellcheck disable=SC2086 # words
    (cd out && exec "$dlsim" $run) &
    sleep "$(printf '0.%04d' $((k * 600 / kills)))"
    kill -9 $! 2>/dev/null || :
    wait $! 2>/dev/null || :
    test "$(ls -A out)" = "" || test "$(ls -A out)" = r.h5 || fail "a run that was killed left $(ls -A out)"
    if [ -e out/r.h5 ]; then
        same large/r.h5 out/r.h5 || fail "a run that was killed left another file than one that was not"
        whole=$((whole + 1))
    fi
    checks=$((checks + 1))
done
test $whole -lt "$kills" || fail "no run was killed before its file was there"
echo "$kills killed, $whole of them had written their file"
echo "$checks checks"
