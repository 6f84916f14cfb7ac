#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of docs/bench.md from the measured data set: what it holds, inspectors trained on it, simulated series.

    study.py data RUNS.jsonl
    study.py train LABELS.csv GRAPHS FOLDER        families left out in five parts; inspectors beside baselines
    study.py cases LABELS.csv GRAPHS FOLDER        Driple's case studies, families in training and left out
    study.py ablation LABELS.csv GRAPHS FOLDER     groupings and readouts, five seeds each
    study.py simulated LABELS.csv GRAPHS FOLDER    the operator model's series beside the recorded ones
    study.py fitted LABELS.csv GRAPHS FOLDER       the operator model fitted to jobs, an inspector of what it leaves
    study.py relative LABELS.csv GRAPHS FOLDER [W.h5 ...]    relative inspectors as they ship, trained on none of this

Errors are medians of |answer / measured - 1| over the test graphs of all five parts. What is in FOLDER is not made again.
"""
import csv
import json
import math
import os
import resource
import statistics
import subprocess
import sys

import labels

DLSIM = os.environ.get("DLSIM", "dlsim")
FOLDS = 5
SHIPPED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "inspectors", "dlsim.h5")
WHAT = (("step", "iteration_s"), ("busy", "gpu_active"), ("pause of sending", "net_tx_idle"),
        ("burst of sending", "net_tx_active"), ("peak of sending", "net_tx_peak"), ("bytes sent", "sent"))
ARCH = "--arch=depth=fixed n_layers=4 set2set_steps=3 hidden=64 mlp_layers=3"
RECIPE = ("--log-floor=0.003", "--lr=0.003", "--lr-floor=0.02", "--batch=8", "--patience=0", "-q", "--threads=1")
RESOURCES = {"gpu": "processor", "net_tx": "sent", "net_rx": "received"}
METRICS = [f"{r}_{k}" for r in RESOURCES for k in ("idle", "active", "peak")]
PUBLISHED = ("11 %", "17 %", "15 %")  # Yang et al., POMACS 2022: mean of three cases; 9 % of GPU memory
GROUPS = ("--groups=24", "--features=kernels")
VARIANTS = (  # grouping, readout
    ("uniform", "set2set"), ("uniform", "mean"), ("uniform", "max"), ("uniform", "attention"),
    ("proportional", "set2set"), ("none", "set2set"))
SEEDS = 5
REST_SEEDS = 3


def children_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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
          "step of the analysis within 2 %, 5 %", "by chance p > 0.05", "variance that two classes explain: processor, sent",
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
    ys = [math.log(value(r, what)) for r in rows]
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


def imported(graphs, folder, r):
    """The training graph of a job."""
    path = os.path.join(folder, f"{r['network']}@{r['batch']}.h5")
    if not os.path.exists(path):
        dlsim("graph", "import", os.path.join(graphs, r["network"] + ".onnx"), f"--batch={r['batch']}", "--training",
              "--optimiser=sgd", "-o", path)
    return path


def totals(rows, graphs, folder):
    """FLOPs, traffic and parameters of a step, by graph."""
    path, found = os.path.join(folder, "totals.json"), {}
    if os.path.exists(path):
        with open(path) as f:
            return json.load(f)
    for r in rows:
        key = f"{r['network']}@{r['batch']}"
        if key not in found:
            said = json.loads(dlsim("graph", "show", imported(graphs, folder, r), "--json"))
            phases = said["phases"].values()
            found[key] = [sum(p["flops"] for p in phases), sum(p["traffic_bytes"] for p in phases), said["params"],
                          said["nodes"], said["activation_bytes"]]
    with open(path, "w") as f:
        json.dump(found, f)
    return found


def counts(what, setting):
    """A worker alone sends nothing."""
    return setting != "w1" or what in ("iteration_s", "gpu_idle", "gpu_active", "gpu_peak")


def ridged(rows, test, total):
    """{job: {metric: (label, answer)}} of the test graphs."""
    out = {}

    def features(r):
        return [math.log(x + 1) for x in total[f"{r['network']}@{r['batch']}"]]

    for s in {r["setting"] for r in rows}:
        for what in {*METRICS, "iteration_s", "sent"}:
            here = [r for r in rows if r["setting"] == s and value(r, what) > 0]
            known = [r for r in here if (r["network"], int(r["batch"])) not in test]
            if counts(what, s) and len(known) > 1:
                fit = ridge(known, what, features)
                for r in here:
                    if (r["network"], int(r["batch"])) in test:
                        out.setdefault((s, r["network"], int(r["batch"])), {})[what] = (value(r, what), fit(r))
    return out


def answers(rows_csv):
    """{(setting, model, batch): {metric: (label, predicted, nearest)}} with the bytes."""
    found = {}
    for r in read(rows_csv):
        found.setdefault((r["setting"], r["model"], int(r["batch"])), {})[r["metric"]] = tuple(
            float(r[k]) for k in ("label", "predicted", "nearest"))
    for m in found.values():
        m["sent"] = tuple(a * p for a, p in zip(m["net_tx_active"], m["net_tx_peak"]))
    return found


def medians(of, which):
    """Of the errors over the settings that have the label."""
    return [median([abs(m[what][which] / m[what][0] - 1) for key, m in of.items()
                    if counts(what, key[0]) and what in m and m[what][0] > 0]) for _, what in WHAT]


def errors(of, which=1):
    return [percent(e) for e in medians(of, which)]


def with_bytes(of, rows):
    """Bytes are known from the graph: with them the burst follows from the peak, and the pause from the step."""
    known = {(r["setting"], r["network"], int(r["batch"])): r for r in rows}
    out = {}
    for key, m in of.items():
        m = out[key] = dict(m)
        for way, name in (("net_tx", "sent"), ("net_rx", "received")):
            size = float(known[key][name + "_expected"])
            if size > 0:
                step = m["iteration_s"][1]
                burst = min(size / m[way + "_peak"][1], step)
                m[name] = (m["sent"][0], size)
                m[way + "_active"] = (m[way + "_active"][0], burst)
                m[way + "_idle"] = (m[way + "_idle"][0], step - burst)
    return out


def fold_set(of, name, fold, *words):
    """The dataset whose fold-th part is for test."""
    labels_csv, graphs, folder = of
    path = os.path.join(folder, f"{name}{fold}.h5")
    if not os.path.exists(path):
        dlsim("dataset", "build", "-o", path, f"--labels={labels_csv}", f"--graphs={graphs}", "--settings=bench", f"--seed={fold}", *words)
    return path


def train_one(dataset, path, *words, seed=1):
    """What the inspector says of the test graphs, and the processor time of its training."""
    if not os.path.exists(path + ".s"):
        before = children_s()
        dlsim("train", f"--dataset={dataset}", *RECIPE, f"--seed={seed}", *words, "-o", path, "--force")
        with open(path + ".s", "w") as f:
            f.write(str(children_s() - before))
    with open(path + ".s") as f:
        seconds = float(f.read())
    dlsim("evaluate", f"--weights={path}", f"--dataset={dataset}", f"--rows={path}.csv", "--force")
    return answers(path + ".csv"), seconds


def tuned_from_shipped(of, split, settings):
    """Fold by fold: answers, seconds and what is tested."""
    for fold in range(FOLDS):
        dataset = fold_set(of, f"shipped-{split}", fold, f"--weights={SHIPPED}", f"--split={split}")
        found, seconds = {}, 0
        for s in settings:
            got, took = train_one(dataset, f"{of[2]}/tuned-{split}-{s}.{fold}.h5", f"--base={SHIPPED}", "--transfer", f"--setting={s}",
                                  "--epochs=60")
            found.update({k: v for k, v in got.items() if k[0] == s})
            seconds += took
        yield found, seconds, {k[1:] for k in found}


def train(*of):
    labels_csv, graphs, folder = of
    os.makedirs(folder, exist_ok=True)
    rows = read(labels_csv)
    settings = sorted({r["setting"] for r in rows})
    found, spent = {}, {}

    def add(name, got, seconds, setting=None):
        found.setdefault(name, {}).update({k: v for k, v in got.items() if setting in (None, k[0])})
        spent[name] = spent.get(name, 0) + seconds

    together, own = "one inspector of all settings", "one of each setting"
    another, shipped = "tuned from another setting's", "tuned from the shipped one, of simulated labels"
    for fold in range(FOLDS):
        dataset = fold_set(of, "d", fold, *GROUPS)
        add(together, *train_one(dataset, f"{folder}/together.{fold}.h5", "--settings=all", "--together", ARCH, "--epochs=150"))
        for s in settings:
            add(own, *train_one(dataset, f"{folder}/own-{s}.{fold}.h5", f"--setting={s}", ARCH, "--epochs=150"))
        for s in settings:
            base = "w2-ar-200m" if s != "w2-ar-200m" else "p1w2-ps-200m"
            add(another, *train_one(dataset, f"{folder}/another-{s}.{fold}.h5", f"--base={folder}/own-{base}.{fold}.h5", "--transfer",
                                    f"--setting={s}", "--epochs=60"), s)
    fitted, total = {}, totals(rows, graphs, folder)
    for got, seconds, test in tuned_from_shipped(of, "family", settings):
        add(shipped, got, seconds)
        fitted.update(ridged(rows, test, total))
    table("families left out", *(name for name, _ in WHAT), "training, s")
    for name in (together, own, another, shipped):
        row(name, *errors(found[name]), f"{spent[name]:.0f}")
    row("nearest training graph", *errors(found[together], 2), "")
    row("ridge on totals of the graph", *errors(fitted), "")
    row("one of all settings, bytes from the graph", *errors(with_bytes(found[together], rows)), "")
    row("tuned from the shipped one, bytes from the graph", *errors(with_bytes(found[shipped], rows)), "")
    row("spread between repetitions", *(percent(median([float(r[k]) for r in rows if int(r["repetitions"]) > 1 and (
        r["setting"] != "w1" or k in ("step_spread", "busy_spread"))])) for k in (
            "step_spread", "busy_spread", "idle_spread", "burst_spread")), "", "", "")
    print()
    table("setting", *(f"{name}: inspector, ridge" for name, _ in WHAT))
    for s in settings:
        pair = [errors({k: v for k, v in who.items() if k[0] == s}) for who in (found[shipped], fitted)]
        row(s, *(f"{a}, {b}" for a, b in zip(*pair)))


# ---- the paper's form


def cases(*of):
    labels_csv, graphs, folder = of
    os.makedirs(folder, exist_ok=True)
    rows = read(labels_csv)
    settings, total = sorted({r["setting"] for r in rows}), totals(rows, graphs, folder)
    for split, title in (("random", "families in training, networks left out"), ("family", "families left out")):
        inspector, fitted = {}, {}
        for got, _, test in tuned_from_shipped(of, split, settings):
            inspector.update(got)
            fitted.update(ridged(rows, test, total))
        table(title, *(f"{name}: median; mean" for name in RESOURCES.values()))
        row("published, mean of three cases", *PUBLISHED)
        for name, who, which in (("inspector, tuned from the shipped one", inspector, 1),
                                 ("the same, bytes from the graph", with_bytes(inspector, rows), 1),
                                 ("nearest training graph", inspector, 2), ("ridge on totals of the graph", fitted, 1)):
            off = [resource_errors(who, which, r) for r in RESOURCES]
            row(name, *(f"{percent(median(o))}; {percent(statistics.fmean(o))}" for o in off))
        print()
        changes("inspector, ridge", inspector, fitted)
        print()


def resource_errors(of, which, name):
    """As the paper counts: of each job the mean over idle and active time and the amount, as far as they are not 0."""
    off = []
    for key, m in of.items():
        one = [abs(m[f"{name}_{k}"][which] / m[f"{name}_{k}"][0] - 1) for k in ("idle", "active", "peak")
               if counts(f"{name}_{k}", key[0]) and f"{name}_{k}" in m and m[f"{name}_{k}"][0] > 0]
        if one:
            off.append(statistics.fmean(one))
    return off


def changes(names, *who):
    """A change of the job, and whether each resource changes the way that it does."""
    kinds = {"batch doubled": lambda k: (k[0], k[1], 2 * k[2]),
             "a second worker": lambda k: ("w2-ar-1g", *k[1:]) if k[0] == "w1" else None,
             "five times the rate, all-reduce": lambda k: ("w2-ar-1g", *k[1:]) if k[0] == "w2-ar-200m" else None,
             "five times the rate, server": lambda k: ("p1w2-ps-1g", *k[1:]) if k[0] == "p1w2-ps-200m" else None,
             "five times the rate, two servers": lambda k: ("p2w2-ps-1g", *k[1:]) if k[0] == "p2w2-ps-200m" else None,
             "a server in place of all-reduce": lambda k: ("p1w2-ps-200m", *k[1:]) if k[0] == "w2-ar-200m" else None,
             "one more server": lambda k: ("p2" + k[0][2:], *k[1:]) if k[0].startswith("p1") else None}
    table(f"change: right sign by {names}", *(name for name, _ in WHAT))
    for name, to in kinds.items():
        cells = []
        for _, what in WHAT:
            right = [[] for _ in who]
            for key, before in who[0].items():
                after = who[0].get(to(key))
                if not after or not counts(what, key[0]) or not (before[what][0] > 0 and after[what][0] > 0):
                    continue
                real = after[what][0] / before[what][0]
                if abs(real - 1) > 0.1:  # a change, and not the spread between repetitions
                    for signs, of in zip(right, who):
                        signs.append((real > 1) == (of[to(key)][what][1] > of[key][what][1]))
            n = len(right[0])
            cells.append(f"{', '.join(f'{100 * sum(r) / n:.0f}' for r in right)} % of {n}" if n else "-")
        row(name, *cells)


# ---- groupings and readouts


def ablation(*of):
    folder = of[2]
    os.makedirs(folder, exist_ok=True)
    table("grouping, readout", *(f"{name}: mean of {SEEDS} seeds (lowest to highest)" for name, _ in WHAT), "training, s")
    for grouping, pool in VARIANTS:
        found, spent = [{} for _ in range(SEEDS)], 0
        for fold in range(FOLDS):
            dataset = fold_set(of, f"{grouping}-", fold, *GROUPS, f"--grouping={grouping}")
            for seed in range(SEEDS):
                got, seconds = train_one(dataset, f"{folder}/{grouping}-{pool}-{seed}.{fold}.h5", "--settings=all", "--together",
                                         f"{ARCH} pool={pool}", "--epochs=60", seed=seed + 1)
                found[seed].update(got)
                spent += seconds
        off = list(zip(*(medians(f, 1) for f in found)))
        row(f"{grouping}, {pool}", *(f"{percent(statistics.fmean(o))} ({100 * min(o):.1f} to {100 * max(o):.1f})" for o in off),
            f"{spent:.0f}")
        sys.stdout.flush()


# ---- the operator model

MODELS = (("operator model, formula", "formula"), ("operator model, fitted to training jobs", "fitted"))
WORKERS = ("--gpus=2", "--nodes=2")
WORDS = {"w1": (), "w2-ar-1g": (*WORKERS, "--network=eth1", "--buckets"),
         "w2-ar-200m": (*WORKERS, "--network=eth200m", "--buckets"),
         "p1w2-ps-1g": (*WORKERS, "--network=eth1", "--servers=1", "--apart"),
         "p1w2-ps-200m": (*WORKERS, "--network=eth200m", "--servers=1", "--apart"),
         "p2w2-ps-1g": (*WORKERS, "--network=eth1", "--servers=2", "--apart"),
         "p2w2-ps-200m": (*WORKERS, "--network=eth200m", "--servers=2", "--apart")}


def part_of(rows):
    """The part that a family is tested in, as `dataset build` divides them."""
    return {family: i % FOLDS for i, family in enumerate(sorted({r["family"] for r in rows}))}


def fitted_to(rows, graphs, folder, part):
    """Constants from the jobs of all families but that part's; two servers fit nothing."""
    path = os.path.join(folder, f"fitted{part}.cfg")
    if not os.path.exists(path):
        parts, table_csv = part_of(rows), path + ".csv"
        with open(table_csv, "w", newline="") as f:
            out = csv.DictWriter(f, rows[0].keys())
            out.writeheader()
            out.writerows(r for r in rows if parts[r["family"]] != part and not r["setting"].startswith("p2"))
        dlsim("operators", "calibrate", f"--jobs={table_csv}", f"--graphs={graphs}", "--gpu=EPYC-CORE", "-o", path)
    return path


def series_of(r, graph, folder, *words):
    """What the operator model says of a job, its series analysed as recordings are: the processor every 10 ms."""
    series, of = os.path.join(folder, "series.h5"), {}
    for us in (2500, 10000) if r["setting"] != "w1" else (10000,):
        said = dlsim("operators", "profile", f"--graph={graph}", "--gpu=EPYC-CORE", f"--interval-us={us}", f"--samples={1500000 // us}",
                     "--packet=65536", "-o", series, "--force", *WORDS[r["setting"]], *words)
        of.update((x["resource"], x) for x in json.loads(dlsim("perf", "analyze", series, "--json"))["resources"]
                  if us == 2500 or x["resource"] == "gpu")
    step = float(said.split()[1])
    one = {"iteration_s": step}
    for name in RESOURCES if r["setting"] != "w1" else ("gpu",):
        one.update(zip((f"{name}_{k}" for k in ("idle", "active", "peak")), labels.phases(of[name], step)))
    one["gpu_peak"] /= 100  # of one processor
    if r["setting"] != "w1":
        one["sent"] = one["net_tx_active"] * one["net_tx_peak"]
        one.update(bursts(of["net_tx"]))
    return one


def bursts(sent):
    """A burst of sending as the analysis has it, which a step may hold several of."""
    return {"burst": sent["burst_s"], "pause": sent["idle_s"], "bytes": sent["burst_s"] * sent["burst_amount"]}


def with_bursts(rows, labels_csv):
    """Rows with what is recorded of a burst, from the runs beside the labels."""
    best = labels.jobs(os.path.join(os.path.dirname(labels_csv), "runs.jsonl.gz"))
    for r in rows:
        if r["setting"] != "w1":
            r.update(bursts(best[r["network"], int(r["batch"]), r["setting"]][0]["resources"]["net_tx"]))
    return rows


def operator_model(rows, graphs, folder, kind, part=None):
    """Of every job: by the formula, or constants fitted to the jobs of the other families (part: of all but that one's)."""
    kept = os.path.join(folder, f"model-{kind}{'' if part is None else part}.json")
    if os.path.exists(kept):
        with open(kept) as f:
            return {tuple(key): m for key, m in json.load(f)}
    found, parts = {}, part_of(rows)
    for r in rows:
        words = []
        if kind == "fitted":
            words = [f"--constants={fitted_to(rows, graphs, folder, parts[r['family']] if part is None else part)}"]
            if r["setting"] != "w1":
                words.append("--like=jobs-servers" if "-ps-" in r["setting"] else "--like=jobs-allreduce")
        one = series_of(r, imported(graphs, folder, r), folder, *words)
        found[(r["setting"], r["network"], int(r["batch"]))] = {what: (value(r, what), x) for what, x in one.items() if what in r or what == "sent"}
    with open(kept, "w") as f:
        json.dump([[key, m] for key, m in found.items()], f)
    return found


# ---- the fitted operator model, and an inspector of what it leaves


def rest_of(of, rows, part):
    """Inspectors of one part's test graphs whose labels are measured / operator model: {job: {metric: (label, answer)}}.

    The model is fitted to the families that are not for test; the answer is the model's times the geometric mean over seeds.
    """
    labels_csv, graphs, folder = of
    model, table_csv, found, spent = operator_model(rows, graphs, folder, "fitted", part), f"{folder}/rest{part}.csv", {}, 0
    keys = [(r, (r["setting"], r["network"], int(r["batch"]))) for r in rows]

    def ratio(r, m, what):
        label, said = m.get(what, (float(r[what]), 0))
        return min(max(label / said, 0.05), 20) if label > 0 and said > 0 else float(label > 0)

    with open(table_csv, "w", newline="") as f:
        names = ("network", "family", "batch", "setting", "iteration_s", *labels.METRICS)
        out = csv.writer(f)
        out.writerow(names)
        for r, key in keys:
            one = {what: ratio(r, model[key], what) for what in names[4:]}
            one["gpu_mem_active"] = one["iteration_s"]  # what an inspector says of a step is the sum of idle and active time
            out.writerow([*(r[n] for n in names[:4]), *one.values()])
    dataset = fold_set((table_csv, graphs, folder), "rest", part, *GROUPS)
    for seed in range(1, 1 + REST_SEEDS):
        got, seconds = train_one(dataset, f"{folder}/rest-{seed}.{part}.h5", "--settings=all", "--together", ARCH, "--epochs=60", seed=seed)
        spent += seconds
        for key, m in got.items():
            m["iteration_s"] = m["gpu_mem_active"]
            for what, (label, said) in model[key].items():
                if what in m:
                    before = found.setdefault(key, {}).get(what, (label, said))[1]
                    found[key][what] = (label, before * max(m[what][1], 0.05) ** (1 / REST_SEEDS))
    for key, m in found.items():
        if "net_tx_active" in m:
            m["sent"] = (model[key]["sent"][0], m["net_tx_active"][1] * m["net_tx_peak"][1])
    return found, spent


def fitted(*of):
    labels_csv, graphs, folder = of
    os.makedirs(folder, exist_ok=True)
    rows = with_bursts(read(labels_csv), labels_csv)
    total, parts = totals(rows, graphs, folder), part_of(rows)
    model, ridge_, rest, spent = operator_model(rows, graphs, folder, "fitted"), {}, {}, 0
    for part in range(FOLDS):
        ridge_.update(ridged(rows, {(r["network"], int(r["batch"])) for r in rows if parts[r["family"]] == part}, total))
        found, seconds = rest_of(of, rows, part)
        rest.update(found)
        spent += seconds
    both = {key: {what: (m[what][0], math.sqrt(m[what][1] * model[key][what][1])) for what in m if what in model[key]}
            for key, m in rest.items()}
    who = (("operator model, fitted to training jobs", model), ("an inspector of what it leaves, times the model", rest),
           ("their geometric mean", both), ("ridge on totals of the graph", ridge_))
    table("families left out", *(name for name, _ in WHAT), "training, s")
    for name, answers_ in who:
        row(name, *errors(answers_), f"{spent:.0f}" if answers_ is rest else "")
    print()
    table("setting", *(f"{name}: model, inspector, mean, ridge" for name, _ in WHAT))
    for s in sorted({r["setting"] for r in rows}):
        said = [errors({k: v for k, v in answers_.items() if k[0] == s}) for _, answers_ in who]
        row(s, *(", ".join(cell) for cell in zip(*said)))
    print()
    table("families left out", *(f"{name}: median; mean" for name in RESOURCES.values()))
    for name, answers_ in who:
        off = [resource_errors(answers_, 1, r) for r in RESOURCES]
        row(name, *(f"{percent(median(o))}; {percent(statistics.fmean(o))}" for o in off))
    print()
    changes("model, inspector of what it leaves, their mean, ridge", *(answers_ for _, answers_ in who))


def simulated(labels_csv, graphs, folder):
    os.makedirs(folder, exist_ok=True)
    rows, found = with_bursts(read(labels_csv), labels_csv), {}
    columns = (*WHAT, ("length of a burst", "burst"), ("pause before it", "pause"), ("bytes in it", "bytes"))
    table("", "setting", *(f"{name}: simulated / recorded, median; error" for name, _ in columns))
    for name, kind in MODELS:
        found[name] = operator_model(rows, graphs, folder, kind)
        for setting in (*sorted({key[0] for key in found[name]}), "all of them"):
            row(name, setting, *(agreement([m for key, m in found[name].items() if setting in (key[0], "all of them")], what)
                                 for _, what in columns))
    families = sorted({r["family"] for r in rows})
    for which, part in (("looked at", families[::2]), ("not looked at", families[1::2])):
        row(f"{MODELS[-1][0]}: families {which}", "all of them",
            *(agreement([m for key, m in found[MODELS[-1][0]].items() if key[1].rsplit("-", 1)[0] in part], what)
              for _, what in columns))


def relative(labels_csv, graphs, folder, *weights):
    """The known step is the formula's, or the measured one: then shares and multiples of the mean rate are judged alone."""
    os.makedirs(folder, exist_ok=True)
    table("inspector", "step", *(name for name, _ in WHAT[1:]))
    for path in weights or (os.path.join(os.path.dirname(SHIPPED), "relative.h5"),):
        found, given = {}, {}
        for fold in range(FOLDS):
            dataset = fold_set((labels_csv, graphs, folder), f"known-{os.path.basename(path)}-", fold, f"--weights={path}")
            dlsim("evaluate", f"--weights={path}", f"--dataset={dataset}", f"--rows={dataset}.csv", "--force")
            found.update(answers(f"{dataset}.csv"))
        for key, m in found.items():
            by = m["iteration_s"][0] / m["iteration_s"][1]
            given[key] = {w: (x[0], x[1] * (by if w.endswith(("idle", "active", "_s")) else 1 / by if w.endswith("x_peak") else 1))
                          for w, x in m.items()}
        for name, answers_ in (("formula's", found), ("measured", given)):
            row(os.path.basename(path), name, *errors(answers_)[1:])


def agreement(jobs, what):
    ratio = [m[what][1] / m[what][0] for m in jobs if what in m and m[what][0] > 0]
    return f"{median(ratio):.2f}; {percent(median([abs(x - 1) for x in ratio]))}" if ratio else "-"


if __name__ == "__main__":
    {"data": data, "train": train, "cases": cases, "ablation": ablation, "simulated": simulated, "fitted": fitted,
     "relative": relative}[sys.argv[1]](*sys.argv[2:])
