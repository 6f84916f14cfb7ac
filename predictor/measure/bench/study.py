#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of docs/bench.md from the measured data set: what it holds, inspectors trained on it, simulated series.

    study.py data RUNS.jsonl
    study.py train LABELS.csv GRAPHS FOLDER        families left out in five parts; inspectors beside baselines
    study.py simulated LABELS.csv GRAPHS FOLDER    the operator model's series beside the recorded ones

Errors are medians of |answer / measured - 1| over the test graphs of all five parts.
"""
import csv
import json
import math
import os
import statistics
import subprocess
import sys
import time

import labels

DLSIM = os.environ.get("DLSIM", "dlsim")
FOLDS = 5
SHIPPED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "inspectors", "dlsim.h5")
SHARES = (0.25, 0.5)  # of the training graphs
WHAT = (("step", "iteration_s"), ("busy", "gpu_active"), ("pause of sending", "net_tx_idle"),
        ("burst of sending", "net_tx_active"), ("peak of sending", "net_tx_peak"), ("bytes sent", "sent"))
ARCH = "--arch=depth=fixed n_layers=4 set2set_steps=3 hidden=64 mlp_layers=3"
RECIPE = ("--log-floor=0.003", "--lr=0.003", "--lr-floor=0.02", "--batch=8", "--patience=0", "--seed=1", "-q", "--threads=2")


def dlsim(*words):
    done = subprocess.run([DLSIM, *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"dlsim {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def median(values):
    return statistics.median(values) if values else float("nan")


def percent(x):
    return "-" if math.isnan(x) else f"{100 * x:.1f} %"


def row(*cells):
    print("| " + " | ".join(str(c) for c in cells) + " |")


def table(*head):
    row(*head)
    print("|" + "---|" * len(head))


# ---- what the data set holds


def data(path):
    jobs, by = labels.jobs(path), {}
    for key, runs in jobs.items():
        by.setdefault(key[2], []).append(runs)
    table("setting", "jobs", "repetitions", "step, ms (5 %, median, 95 %)", "sent / tensors - 1 (median, 90 %)", "within 2 %",
          "step by autocorrelation within 2 %, 5 %", "by chance p > 0.05", "variance that two classes explain: processor, sent",
          "other load")
    for setting, jobs_ in by.items():
        best = [runs[0] for runs in jobs_]
        steps = sorted(1e3 * r["step_s"] for r in best)
        off = sorted(abs(r["counted"]["sent"] / r["expected"]["sent"] - 1) for r in best if r["expected"]["sent"])
        found = [abs(r["found_s"] / r["step_s"] - 1) for r in best]
        n = len(best)
        row(setting, n, sum(map(len, jobs_)), f"{steps[n // 20]:.0f}, {median(steps):.0f}, {steps[-1 - n // 20]:.0f}",
            f"{percent(median(off))}, {percent(off[int(0.9 * len(off))])}" if off else "-",
            percent(sum(o <= 0.02 for o in off) / len(off)) if off else "-",
            f"{percent(sum(f <= 0.02 for f in found) / n)}, {percent(sum(f <= 0.05 for f in found) / n)}",
            percent(sum(r["chance"] > 0.05 for r in best) / n),
            f"{median([r['resources']['cpu']['explained'] for r in best]):.2f}, "
            + (f"{median([r['resources']['net_tx']['explained'] for r in best]):.2f}" if off else "-"),
            f"{median([r['other_load'] for r in best]):.2f}")
    print()
    table("spread between repetitions, median", "step", "busy", "burst of sending", "pause of sending", "bytes sent")
    for setting, jobs_ in by.items():
        twice = [runs for runs in jobs_ if len(runs) > 1]
        if not twice:
            continue
        cells = []
        for of in (lambda r: r["step_s"], lambda r: labels.label(r)[4], lambda r: labels.label(r)[10],
                   lambda r: labels.label(r)[9], lambda r: r["counted"]["sent"]):
            cells.append(percent(median([labels.spread([of(r) for r in runs]) for runs in twice])))
        if setting == "w1":
            cells[2:] = ["-"] * 3
        row(setting, *cells)


# ---- inspectors and baselines


def read(path):
    with open(path) as f:
        return list(csv.DictReader(f))


def ridge(rows, what, features):
    """Logarithms by totals of the graph: least squares with a penalty of 0.1 on standardised features."""
    xs = [features(r) for r in rows]
    n = len(xs[0])
    mean = [statistics.fmean(x[k] for x in xs) for k in range(n)]
    dev = [statistics.pstdev([x[k] for x in xs]) or 1 for k in range(n)]
    zs = [[1] + [(v - m) / d for v, m, d in zip(x, mean, dev)] for x in xs]
    ys = [math.log(max(value(r, what), 1e-9)) for r in rows]
    size = n + 1
    a = [[sum(z[i] * z[j] for z in zs) + (0.1 if i == j and i else 0) for j in range(size)] for i in range(size)]
    b = [sum(z[i] * y for z, y in zip(zs, ys)) for i in range(size)]
    for i in range(size):  # Gauss without pivots: positive definite
        for k in range(i + 1, size):
            f = a[k][i] / a[i][i]
            a[k] = [x - f * y for x, y in zip(a[k], a[i])]
            b[k] -= f * b[i]
    w = [0.0] * size
    for i in reversed(range(size)):
        w[i] = (b[i] - sum(a[i][k] * w[k] for k in range(i + 1, size))) / a[i][i]
    return lambda r: math.exp(w[0] + sum(c * (v - m) / d for c, v, m, d in zip(w[1:], features(r), mean, dev)))


def value(r, what):
    return float(r["net_tx_active"]) * float(r["net_tx_peak"]) if what == "sent" else float(r[what])


def totals(rows, graphs, folder):
    """FLOPs, traffic and parameters of a step, by graph."""
    path, found = os.path.join(folder, "totals.json"), {}
    if os.path.exists(path):
        with open(path) as f:
            return json.load(f)
    for r in rows:
        key = f"{r['network']}@{r['batch']}"
        if key not in found:
            h5 = os.path.join(folder, key + ".h5")
            dlsim("graph", "import", os.path.join(graphs, r["network"] + ".onnx"), f"--batch={r['batch']}", "--training",
                  "--optimiser=sgd", "-o", h5)
            said = json.loads(dlsim("graph", "show", h5, "--json"))
            phases = said["phases"].values()
            found[key] = [sum(p["flops"] for p in phases), sum(p["traffic_bytes"] for p in phases), said["params"],
                          said["nodes"], said["activation_bytes"]]
    with open(path, "w") as f:
        json.dump(found, f)
    return found


def answers(rows_csv):
    """{(setting, model, batch): {metric: (label, predicted, nearest)}} with the bytes."""
    found = {}
    for r in read(rows_csv):
        found.setdefault((r["setting"], r["model"], int(r["batch"])), {})[r["metric"]] = tuple(
            float(r[k]) for k in ("label", "predicted", "nearest"))
    for m in found.values():
        m["sent"] = tuple(a * p for a, p in zip(m["net_tx_active"], m["net_tx_peak"]))
    return found


def errors(of, which):
    """Medians over the settings that have the label."""
    cells = []
    for _, what in WHAT:
        off = [abs(m[what][which] / m[what][0] - 1) for key, m in of.items()
               if m[what][0] > 0 and (key[0] != "w1" or what in ("iteration_s", "gpu_active"))]
        cells.append(percent(median(off)))
    return cells


def with_bytes(of, rows):
    """What is sent is known from the graph: with it the burst follows from the peak, and the pause from the step."""
    size = {(r["setting"], r["network"], int(r["batch"])): float(r["sent_expected"]) for r in rows}
    out = {}
    for key, m in of.items():
        m = out[key] = dict(m)
        if size[key] > 0:
            step, peak = m["iteration_s"][1], m["net_tx_peak"][1]
            burst = min(size[key] / peak, step)
            m["sent"] = (m["sent"][0], size[key])
            m["net_tx_active"] = (m["net_tx_active"][0], burst)
            m["net_tx_idle"] = (m["net_tx_idle"][0], step - burst)
    return out


def train_one(folder, fold, name, *words, dataset="d"):
    path = os.path.join(folder, f"{name}.{fold}.h5")
    began = time.monotonic()
    if not os.path.exists(path):
        dlsim("train", f"--dataset={folder}/{dataset}{fold}.h5", *RECIPE, *words, "-o", path)
    took = time.monotonic() - began
    out = os.path.join(folder, f"{name}.{fold}.csv")
    dlsim("evaluate", f"--weights={path}", f"--dataset={folder}/{dataset}{fold}.h5", f"--rows={out}")
    return answers(out), took


def train(labels_csv, graphs, folder):
    os.makedirs(folder, exist_ok=True)
    rows = read(labels_csv)
    settings = sorted({r["setting"] for r in rows})
    total = totals(rows, graphs, folder)
    together, own, tuned, shipped, ridged, shared, spent = {}, {}, {}, {}, {}, {}, {}
    for fold in range(FOLDS):
        dlsim("dataset", "build", "-o", f"{folder}/d{fold}.h5", f"--labels={labels_csv}", f"--graphs={graphs}", "--settings=bench",
              "--groups=24", "--features=kernels", f"--seed={fold}")
        got, took = train_one(folder, fold, "together", "--settings=all", "--together", ARCH, "--epochs=150")
        together.update(got)
        spent["together"] = spent.get("together", 0) + took
        for s in settings:
            got, took = train_one(folder, fold, f"own-{s}", f"--setting={s}", ARCH, "--epochs=150")
            own.update(got)
            spent["own"] = spent.get("own", 0) + took
        for s in settings:
            base = "w2-ar-200m" if s != "w2-ar-200m" else "p1w2-ps-200m"
            got, took = train_one(folder, fold, f"tuned-{s}", f"--base={folder}/own-{base}.{fold}.h5", "--transfer",
                                  f"--setting={s}", "--epochs=60")
            tuned.update({k: v for k, v in got.items() if k[0] == s})
            spent["tuned"] = spent.get("tuned", 0) + took
        dlsim("dataset", "build", "-o", f"{folder}/w{fold}.h5", f"--labels={labels_csv}", f"--graphs={graphs}", "--settings=bench",
              f"--weights={SHIPPED}", f"--seed={fold}")
        for s in settings:
            got, took = train_one(folder, fold, f"shipped-{s}", f"--base={SHIPPED}", "--transfer", f"--setting={s}", "--epochs=60",
                                  dataset="w")
            shipped.update({k: v for k, v in got.items() if k[0] == s})
            spent["shipped"] = spent.get("shipped", 0) + took
        for share in SHARES:
            got, took = train_one(folder, fold, f"share{share}", "--settings=all", "--together", ARCH, "--epochs=150",
                                  f"--share={share}")
            shared.setdefault(share, {}).update(got)
            spent[share] = spent.get(share, 0) + took
        test = {(k[1], k[2]) for k in got}

        def features(r):
            return [math.log(x + 1) for x in total[f"{r['network']}@{r['batch']}"]]

        for s in settings:
            mine = [r for r in rows if r["setting"] == s]
            known = [r for r in mine if (r["network"], int(r["batch"])) not in test]
            asked = [r for r in mine if (r["network"], int(r["batch"])) in test]
            fits = {what: ridge(known, what, features) for _, what in WHAT}
            for r in asked:
                ridged[(s, r["network"], int(r["batch"]))] = {
                    what: (value(r, what), fits[what](r)) for _, what in WHAT}
    noise = [percent(median([float(r[k]) for r in rows if int(r["repetitions"]) > 1 and (r["setting"] != "w1" or k in (
        "step_spread", "busy_spread"))])) for k in ("step_spread", "busy_spread", "idle_spread", "burst_spread")]
    table("families left out", *(name for name, _ in WHAT), "training, s")
    for name, of, which in (("one inspector of all settings", together, 1), ("one of each setting", own, 1),
                            ("tuned from another setting's", tuned, 1), ("tuned from the shipped one, of simulated labels", shipped, 1),
                            ("nearest training graph", together, 2),
                            ("ridge on totals of the graph", ridged, 1)):
        key = {"one inspector of all settings": "together", "one of each setting": "own",
               "tuned from another setting's": "tuned", "tuned from the shipped one, of simulated labels": "shipped"}.get(name)
        row(name, *errors(of, which), f"{spent[key]:.0f}" if key else "")
    row("one of all settings, bytes from the graph", *errors(with_bytes(together, rows), 1), "")
    row("tuned from the shipped one, bytes from the graph", *errors(with_bytes(shipped, rows), 1), "")
    for share in SHARES:
        row(f"one of all settings, {100 * share:.0f} % of the graphs", *errors(shared[share], 1), f"{spent[share]:.0f}")
    row("spread between repetitions", *noise, "", "", "")
    print()
    by_setting(shipped, ridged, settings)
    print()
    changes(shipped, ridged)


def by_setting(inspector, ridged, settings):
    table("setting", *(f"{name}: inspector, ridge" for name, _ in WHAT))
    for s in settings:
        pair = [errors({k: v for k, v in of.items() if k[0] == s}, 1) for of in (inspector, ridged)]
        row(s, *(f"{a}, {b}" for a, b in zip(*pair)))


def changes(inspector, ridged):
    """The paper's form: a change of the job, and whether each resource changes the way that it does."""
    kinds = {"batch doubled": lambda k: (k[0], k[1], 2 * k[2]),
             "five times the rate, all-reduce": lambda k: ("w2-ar-1g", *k[1:]) if k[0] == "w2-ar-200m" else None,
             "five times the rate, server": lambda k: ("p1w2-ps-1g", *k[1:]) if k[0] == "p1w2-ps-200m" else None,
             "a server in place of all-reduce": lambda k: ("p1w2-ps-200m", *k[1:]) if k[0] == "w2-ar-200m" else None}
    table("change", "jobs", *(f"{name}: right sign, inspector; ridge" for name, _ in WHAT))
    for name, to in kinds.items():
        cells, n = [], 0
        for _, what in WHAT:
            sure = []
            for of in (inspector, ridged):
                right = []
                for key, before in of.items():
                    after = of.get(to(key)) if to(key) else None
                    if not after or before[what][0] <= 0 or after[what][0] <= 0:
                        continue
                    if key[0] == "w1" and what not in ("iteration_s", "gpu_active"):
                        continue
                    real, said = after[what][0] / before[what][0], after[what][1] / max(before[what][1], 1e-12)
                    if abs(real - 1) > 0.1:  # a change, and not the spread between repetitions
                        right.append((real > 1) == (said > 1))
                sure.append(f"{percent(sum(right) / len(right))} of {len(right)}" if right else "-")
            cells.append("; ".join(sure))
            n = sum(1 for k in inspector if to(k) and to(k) in inspector)
        row(name, n, *cells)


# ---- the operator model


def simulated(labels_csv, graphs, folder):
    os.makedirs(folder, exist_ok=True)
    rows = read(labels_csv)
    totals(rows, graphs, folder)
    words = {"w1": (), "w2-ar-1g": ("--gpus=2", "--nodes=2", "--network=eth1"),
             "w2-ar-200m": ("--gpus=2", "--nodes=2", "--network=eth200m"),
             "p1w2-ps-1g": ("--gpus=2", "--nodes=2", "--network=eth1", "--servers=1"),
             "p1w2-ps-200m": ("--gpus=2", "--nodes=2", "--network=eth200m", "--servers=1")}
    times = os.path.join(folder, "operators.h5")
    found = {}
    for r in rows:
        h5 = os.path.join(folder, f"{r['network']}@{r['batch']}.h5")
        if not os.path.exists(h5):
            dlsim("graph", "import", os.path.join(graphs, r["network"] + ".onnx"), f"--batch={r['batch']}", "--training",
                  "--optimiser=sgd", "-o", h5)
        for name, more in (("formula", ()), ("measured operations", (f"--operators={times}",))):
            if more and not os.path.exists(times):
                continue
            series = os.path.join(folder, "series.h5")
            dlsim("operators", "profile", f"--graph={h5}", "--gpu=EPYC-CORE", "--interval-us=2500", "--samples=600", "-o", series,
                  *words[r["setting"]], *more)
            said = json.loads(dlsim("perf", "analyze", series, "--json"))
            of = {x["resource"]: x for x in said["resources"]}
            step = said["step"]["seconds"] or said["seconds"]
            phases = {k: labels.phases(of[k], step) for k in ("gpu", "net_tx") if k in of}
            one = {"iteration_s": step, "gpu_active": phases["gpu"][1]}
            if r["setting"] != "w1":
                one.update(net_tx_idle=phases["net_tx"][0], net_tx_active=phases["net_tx"][1], net_tx_peak=phases["net_tx"][2])
                one["sent"] = one["net_tx_active"] * one["net_tx_peak"]
            found.setdefault((name, r["setting"]), []).append((r, one))
    table("operator model", "setting", *(f"{name}: simulated / recorded, median; error" for name, _ in WHAT))
    for (name, setting), pairs in sorted(found.items()):
        cells = []
        for _, what in WHAT:
            ratio = [one[what] / value(r, what) for r, one in pairs if what in one and value(r, what) > 0]
            cells.append(f"{median(ratio):.2f}; {percent(median([abs(x - 1) for x in ratio]))}" if ratio else "-")
        row(name, setting, *cells)


if __name__ == "__main__":
    {"data": data, "train": train, "simulated": simulated}[sys.argv[1]](*sys.argv[2:])
