#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every command that writes a file says so when the disk is full, with exit code 5, and leaves nothing
# behind. A limit on the size of files stands for the disk.
. "$DLSIM_SOURCE/tests/support/cli.sh"
sample_h5=$source/tests/golden/inspector
small="--graphs=60 --samples=100 --groups=8 --features=total --hardware=$source/configs/hardware --setting=V100-P1w2-ho-PCIe"
# shellcheck disable=SC2086
expect 0 dataset build -o set.h5 $small -q
expect 0 --config="$source/configs/quickstart.cfg" --trace="$sample" -o there.h5 -q
mkdir full
export DLSIM_PLOTS=$source/plots

# full BLOCKS WORDS...: BLOCKS of 1,024 bytes fit.
full() {
    local blocks=$1 code
    shift
    (
        ulimit -f "$blocks"
        trap '' XFSZ
        "$dlsim" "$@" 2>&1 && code=0 || code=$?
        echo "exit code $code"
    ) | cat >err.txt
    code=$(sed -n 's/^exit code //p' err.txt)
    test "$code" = 5 || fail "dlsim $*: exit code $code, not 5: $(head -c 2000 err.txt)"
    says err.txt "File too large"
    test -z "$(ls -A full)" || fail "dlsim $* left $(ls -A full)"
}

run="--config=$source/configs/quickstart.cfg --trace=$sample --quiet"
for blocks in 0 1 4; do
    # shellcheck disable=SC2086
    full $blocks run $run -o full/run.h5
    full $blocks graph zoo resnet50 -o full/graph.h5
    full $blocks graph group resnet50 -o full/grouped.h5
    full $blocks model random -o full/m.h5 --arch=hidden=16
    full $blocks export --perfetto there.h5 -o full/r.json
    full $blocks export --csv there.h5 -o full/r.csv
    full $blocks operators profile --model=resnet50 --gpu=V100 --gpus=2 --servers=1 -o full/ops.h5
done
# What takes seconds until it writes.
# shellcheck disable=SC2086
full 1 dataset build -o full/set.h5 $small -q
full 4 train --dataset=set.h5 --arch=hidden=16 --epochs=1 --setting=V100-P1w2-ho-PCIe -o full/w.h5 -q
if [ "${DLSIM_SANITIZE:-0}" = 0 ] && sh "$source/plots/python.sh" h5py numpy plotly matplotlib >/dev/null 2>&1; then
    full 4 report there.h5 -o full/r.html
    full 1 report there.h5 -o full/r.png
fi
for blocks in 0 1; do
    full $blocks trace convert "$sample" -o full/t.csv
    full $blocks trace generate --profile=philly --jobs=100 -o full/t.csv
    full $blocks perf record -q --no-gpu -o full/perf.h5 -- true
    full $blocks predict --input="$sample_h5/graphs.h5" --weights="$sample_h5/weights.h5" -q \
        --backend=cpu -o full/out.h5
done
echo "$checks checks"
