#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# How the files beside this script were made: bash make.sh DLSIM PYTHON
# (PYTHON with numpy and h5py). All of it is dlsim's own output; expected.h5 is float64, and the method
# that gives it is checked against independent ones by tests/differential/inspector_reference.py and
# tests/golden/test_inspector.c.
set -euo pipefail
dlsim=$1
python=$2
cd "$(dirname "$0")"
rm -f weights.h5 expected.h5
"$dlsim" model random -o weights.h5 --arch="hidden=16" --gain=64 --seed=20 --settings=3
"$python" - <<'PY'
import h5py
import numpy as np

rng = np.random.RandomState(20)


def graph(n, p):
    a = np.tril(rng.rand(n, n) < p, -1)
    return (a | a.T).astype("u1"), rng.rand(n, 3)


with h5py.File("graphs.h5", "w", track_order=True) as f:
    for name, b, n, p in (("small", 3, 6, 0.4), ("middle", 2, 30, 0.15), ("isolated", 1, 12, 0.05)):
        pairs = [graph(n, p) for _ in range(b)]
        g = f.create_group(name)
        g["adj"] = np.stack([a for a, _ in pairs])
        g["x"] = np.stack([x for _, x in pairs])
    a, x = graph(9, 0.5)
    f["single/adj"], f["single/x"] = a, x
PY
"$dlsim" predict --weights=weights.h5 --input=graphs.h5 --precision=f64 -q -o expected.h5
