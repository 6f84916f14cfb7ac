# SPDX-License-Identifier: GPL-3.0-or-later
"""Random inspectors and graphs: dlsim predict against the independent numpy implementation.

Usage: inspector_reference.py DLSIM REFERENCE_MODULE [CASES]. Exit status 77 without numpy or h5py.
float64 to 1e-9, float32 to 1e-5 of the largest output (1e-4 where sums are not normalised, so that
the states grow).
"""
import importlib.util
import os
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

AGGREGATORS = ["sum", "mean", "max", "min", "identity", "var", "std", "normalised_mean", "softmax",
               "softmin", "moment3", "moment4", "moment5"]
SCALERS = ["identity", "amplification", "attenuation", "linear", "inverse_linear"]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s\n%s%s" % (" ".join(command), done.stdout, done.stderr))


def linear(w, name, n_in, n_out, rng):
    w[name + "linear.weight"] = rng.uniform(-1, 1, (n_out, n_in)) / np.sqrt(n_in)
    w[name + "linear.bias"] = rng.uniform(-0.2, 0.2, n_out)


def weights(case, rng):
    """Tensors under their published names."""
    w, h, f = {}, case["hidden"], 3
    for layer in range(case["convs"]):
        n_in, p = (f if layer == 0 else h), "conv_layers.%d." % layer
        if case["conv"] == "gcn":
            w[p + "W"], w[p + "b"] = rng.uniform(-1, 1, (n_in, h)) / np.sqrt(h), rng.uniform(-1, 1, h) / 8
        elif case["conv"] == "gin":
            w[p + "epsilon"] = np.array([0.1])
            linear(w, p + "post_transformation.fully_connected.0.", n_in, max(n_in, h), rng)
            linear(w, p + "post_transformation.fully_connected.1.", max(n_in, h), h, rng)
        elif case["conv"] == "gat":
            for k in range(case["heads"]):
                n_out = h // case["heads"]
                w[p + "heads.%d.W" % k] = rng.uniform(-1, 1, (n_in, n_out))
                w[p + "heads.%d.a" % k] = rng.uniform(-1, 1, (2 * n_out, 1))
        else:
            for t in range(4):
                n_t = n_in if layer == 0 else h // 4
                width = n_t * (1 + len(case["aggs"]) * len(case["scals"]))
                linear(w, p + "towers.%d.pretrans.fully_connected.0." % t, 2 * n_t, n_t, rng)
                linear(w, p + "towers.%d.posttrans.fully_connected.0." % t, width, h // 4, rng)
            linear(w, p + "mixing_network.", h, h, rng)
    uniform = lambda *shape: rng.uniform(-1, 1, shape) / np.sqrt(h)
    if case["gru"]:
        w["gru.gru.weight_ih_l0"], w["gru.gru.weight_hh_l0"] = uniform(3 * h, h), uniform(3 * h, h)
        w["gru.gru.bias_ih_l0"], w["gru.gru.bias_hh_l0"] = uniform(3 * h), uniform(3 * h)
    d = f + case["layers"] * h if case["skip"] else h
    lstm = "graph_read_out.set2set.lstm."
    w[lstm + "weight_ih_l0"], w[lstm + "weight_hh_l0"] = uniform(4 * d, 2 * d), uniform(4 * d, d)
    w[lstm + "bias_ih_l0"], w[lstm + "bias_hh_l0"] = uniform(4 * d), uniform(4 * d)
    for k, (n_in, n_out) in enumerate(((2 * d, d), (d, d), (d, 12))):
        linear(w, "graph_read_out.mlp.fully_connected.%d." % k, n_in, n_out, rng)
    return {name: value.astype("f4").astype("f8") for name, value in w.items()}


def draw(rng):
    case = {"conv": rng.choice(["gcn", "gcn", "gin", "gat", "mpnn", "mpnn"]),
            "hidden": int(rng.choice([8, 16, 24, 64])), "convs": 2, "gru": True, "skip": False,
            "heads": int(rng.choice([1, 2, 4])), "aggs": ["sum"], "scals": ["identity"],
            "layers": 0, "self_loop": False}
    if case["conv"] == "mpnn":
        case["aggs"] = list(rng.choice(AGGREGATORS, rng.randint(1, 6), replace=False))
        case["scals"] = list(rng.choice(SCALERS, rng.randint(1, 4), replace=False))
        case["self_loop"] = bool(rng.randint(2))
    shape = rng.randint(4)
    if shape == 0:
        case.update(layers=int(rng.randint(2, 5)), skip=True, gru=bool(rng.randint(2)))
    elif shape == 1:
        case["convs"] = case["layers"] = int(rng.randint(3, 6))
    n = int(rng.randint(5, 24))
    a = np.tril(rng.rand(n, n) < rng.uniform(0.2, 0.7), -1)
    a = (a | a.T).astype(float)
    for i in range(n):  # degree 2 at least: below, the published moments are rounding noise
        for j in ((i + 1) % n, (i + 2) % n):
            a[i, j] = a[j, i] = 1
    return case, a, rng.rand(n, 3)


def expected(ref, case, w, a, x):
    layer = {"gcn": ref.gcn, "gin": ref.gin, "gat": ref.gat,
             "mpnn": lambda w, p, x, a: ref.mpnn(w, p, x, a, case["aggs"], case["scals"],
                                                 case["self_loop"], p != "conv_layers.0.")}
    depth = {"L": case["layers"]} if case["layers"] else {"L": max(1, int(np.log2(len(a))))}
    return ref.model(w, layer[case["conv"]], x, a, usegru=case["gru"], skip=case["skip"],
                     fixed=case["convs"] == 2, **depth)[2]


def architecture(case):
    depth = "depth=fixed n_layers=%d" % case["layers"] if case["layers"] else "depth=log2N"
    text = "reference=1 self_loop=%d avg_d_lin=3 avg_d_log=1.3 %s" % (case["self_loop"], depth)
    if case["conv"] == "mpnn":
        text += " aggregators=%s scalers=%s" % (",".join(case["aggs"]), ",".join(case["scals"]))
    return text


def main():
    dlsim, module = sys.argv[1:3]
    cases = int(sys.argv[3]) if len(sys.argv) > 3 else 60
    os.environ.setdefault("DRIPLE_GOLDEN", ".")
    spec = importlib.util.spec_from_file_location("reference", module)
    ref = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ref)
    worst = {"f64": 0.0, "f32": 0.0}
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        for seed in range(cases):
            rng = np.random.RandomState(seed)
            case, a, x = draw(rng)
            w = weights(case, rng)
            with h5py.File(path("plain.h5"), "w") as f:
                for name, value in w.items():
                    f[name] = value
            with h5py.File(path("graph.h5"), "w") as f:
                f["g/adj"], f["g/x"] = a[None], x[None]
            want = expected(ref, case, w, a, x)
            run(dlsim, "model", "import", path("plain.h5"), "--force", "-o", path("w.h5"),
                "--arch=" + architecture(case))
            for precision in worst:
                run(dlsim, "predict", "--weights=" + path("w.h5"), "--input=" + path("graph.h5"),
                    "--backend=cpu", "--threads=1", "-q", "--force", "--precision=" + precision, "-o",
                    path("out.h5"))
                with h5py.File(path("out.h5"), "r") as f:
                    error = abs(f["g/output"][0] - want).max() / abs(want).max()
                bound = 1e-9 if precision == "f64" else 1e-5 if case["conv"] == "gcn" else 1e-4
                if not error <= bound:
                    sys.exit("seed %d, %s: off by %.3g\n%s" % (seed, precision, error, case))
                worst[precision] = max(worst[precision], error)
    print("%d cases, worst relative error: %s" % (cases, worst))


if __name__ == "__main__":
    main()
