#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The commands that made predictor/inspectors/dlsim.h5, a dataset of all shipped settings with random
# models for training, and one inspector of all the settings; and relative.h5, the same for every third
# setting and those of one GPU, with labels of the operator model that knows sizes and outputs relative to it.
#
#     make.sh [DLSIM [FOLDER [THREADS]]]    the program, where files go, threads
#
# The weights do not depend on the number of threads; they do on the instruction set (here AVX-512).
set -eu
dlsim=$(realpath "$(command -v "${1:-dlsim}")")
out=${2:-.}
threads=${3:-1}
here=$(cd "$(dirname "$0")" && pwd)
hardware=$here/../../configs/hardware

"$dlsim" dataset build --settings=all --groups=8 --features=kernels --random-models=5000 \
    --samples=512 --hardware="$hardware" -o "$out/dataset.h5" --force
"$dlsim" train --dataset="$out/dataset.h5" --settings=all --together --hardware="$hardware" \
    --arch="depth=fixed n_layers=4 set2set_steps=3 hidden=96 mlp_layers=4" --log-floor=0.003 \
    --lr=0.003 --lr-floor=0.02 --batch=8 --epochs=150 --patience=0 --seed=1 --threads="$threads" \
    -o "$out/dlsim.h5" --curves="$out/curves.h5" --force
"$dlsim" evaluate --weights="$out/dlsim.h5" --dataset="$out/dataset.h5" --hardware="$hardware"

third=$(sed -n 's/.*name = "\([^"]*\)".*/\1/p' "$hardware"/../settings/paper.cfg "$hardware"/../settings/clusters.cfg |
    awk 'NR % 3 == 1 || /-w1$/ { print "--setting=" $0 }')
# shellcheck disable=SC2086
"$dlsim" dataset build --settings=all $third --groups=8 --features=kernels --random-models=2000 --sized \
    --samples=512 --hardware="$hardware" -o "$out/third.h5" --force
"$dlsim" train --dataset="$out/third.h5" --settings=all --together --hardware="$hardware" --relative \
    --arch="depth=fixed n_layers=4 set2set_steps=3 hidden=64 mlp_layers=4" --lr=0.003 --lr-floor=0.02 \
    --batch=8 --epochs=60 --patience=0 --seed=1 --threads="$threads" -o "$out/relative.h5" --force
"$dlsim" evaluate --weights="$out/relative.h5" --dataset="$out/third.h5" --hardware="$hardware"
