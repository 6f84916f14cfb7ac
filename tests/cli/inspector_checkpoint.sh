#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# predictor/driple/checkpoint_to_h5.py: a checkpoint made here in PyTorch's format comes through, and
# predicts as the weights it was made from; one that would run code is refused.
set -euo pipefail
dlsim=$1
sample=$DLSIM_SOURCE/tests/golden/inspector
convert=$DLSIM_SOURCE/predictor/driple/checkpoint_to_h5.py
python=python3
[ -x /usr/bin/python3 ] && python=/usr/bin/python3
"$python" -c 'import h5py, numpy' 2>/dev/null || { echo "skipped: python3 has no h5py"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
PYTHONPATH=$DLSIM_SOURCE/tests/support "$python" - "$sample/weights.h5" "$dir" <<'PY'
import collections
import sys

import h5py
import numpy as np
from torch_file import Tensor, save

with h5py.File(sys.argv[1], "r") as f:
    base = f["base/tensors"]
    tensors = {name: Tensor(i, base[name][()]) for i, name in enumerate(base)}
save(sys.argv[2] + "/good.pkl", collections.OrderedDict(tensors), tensors.values(), "cuda:0")


class Evil:
    def __reduce__(self):
        return (print, ("this ran",))


save(sys.argv[2] + "/evil.pkl", {"a": Evil()}, [], "cuda:0")
short = Tensor(0, np.zeros((2, 2)))
save(sys.argv[2] + "/short.pkl", {"a": short}, [Tensor(0, np.zeros(3))], "cuda:0")
open(sys.argv[2] + "/text.pkl", "w").write("no archive")
PY
"$python" "$convert" "$dir/good.pkl" "$dir/plain.h5"
"$dlsim" model import "$dir/plain.h5" -o "$dir/w.h5"
ask=("$dlsim" predict "--input=$sample/graphs.h5" -q --precision=f64 --backend=cpu --setting=base)
"${ask[@]}" "--weights=$dir/w.h5" >"$dir/a"
"${ask[@]}" "--weights=$sample/weights.h5" >"$dir/b"
cmp "$dir/a" "$dir/b" || { echo "FAILED: other predictions"; exit 1; }
for bad in evil short text; do
  if "$python" "$convert" "$dir/$bad.pkl" "$dir/bad.h5" >"$dir/log" 2>&1; then
    echo "FAILED: $bad.pkl was accepted"
    exit 1
  fi
  ! grep -q "this ran" "$dir/log" || { echo "FAILED: the checkpoint ran code"; exit 1; }
  grep -q "$bad.pkl: " "$dir/log" || { cat "$dir/log"; echo "FAILED: no clear error"; exit 1; }
done
echo ok
