#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The commands that made predictor/inspectors/dlsim.h5: a dataset of all shipped settings, a base
# inspector, and every other setting tuned from it.
#
#     make.sh [DLSIM [FOLDER [THREADS]]]    the program, where files go, threads
#
# The weights do not depend on the number of threads; they do on the instruction set (here AVX-512).
set -eu
dlsim=$(realpath "$(command -v "${1:-dlsim}")")
out=${2:-.}
threads=${3:-1}
here=$(cd "$(dirname "$0")" && pwd)
rates="--log-floor=0.003 --lr=0.001 --lr-floor=0.05 --seed=1 --threads=$threads"

"$dlsim" dataset build --settings=all --groups=24 --features=total \
    --hardware="$here/../../configs/hardware" -o "$out/dataset.h5"
# shellcheck disable=SC2086
"$dlsim" train --dataset="$out/dataset.h5" --setting=V100-P1w2-ho-PCIe $rates \
    --epochs=250 --patience=120 -o "$out/base.h5" --curves="$out/base_curve.h5"
# shellcheck disable=SC2086
"$dlsim" train --dataset="$out/dataset.h5" --settings=all --base="$out/base.h5" --transfer $rates \
    --epochs=120 --patience=0 -o "$out/dlsim.h5" --curves="$out/curves.h5"
"$dlsim" evaluate --weights="$out/dlsim.h5" --dataset="$out/dataset.h5"
