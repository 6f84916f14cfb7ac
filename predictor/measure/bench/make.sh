#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The commands that made predictor/measure/data, and the tables of docs/bench.md; as root.
#
#     make.sh [DLSIM [FOLDER]]
#
# Measuring takes about two and a half hours, goes on where it was cut, and shows how long it will be.
set -eu
DLSIM=$(realpath "$(command -v "${1:-dlsim}")")
export DLSIM
out=${2:-.}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"

"$DLSIM" perf bench "all=$out/all" repeat=3 seconds=1
"$DLSIM" perf bench "export=$out/networks"
python3 "$here/contend.py" "$out/pairs"
python3 "$here/labels.py" "$out/all/runs.jsonl" >"$out/labels.csv"
"$DLSIM" dataset build -o "$out/dataset.h5" --labels="$out/labels.csv" --graphs="$out/networks" --settings=bench \
    --groups=24 --features=kernels --seed=0 --force
python3 "$here/study.py" data "$out/all/runs.jsonl"
for what in train cases ablation simulated fitted; do
    python3 "$here/study.py" $what "$out/labels.csv" "$out/networks" "$out/study"
done
python3 "$here/learning.py" "$out/labels.csv" "$out/networks" "$out/study"
python3 "$here/contend.py" "$out/pairs" --report
