#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the graph is worth: the same small recipe with no graph, 1 to 32 groups and other columns.

Prints a table (Markdown) of errors on validation and test graphs, mean and deviation over seeds:
of the step (percentage error), of all metrics (NRMSE), of the link's peak (NRMSE). "none" is an MLP
on the whole network's totals: one group, one layer without a GRU.

labels: simulated  8 settings of the shipped clusters, the operator model with one efficiency a family
        sized      the same, by the operator model that knows sizes
        measured   jobs that really ran on a processor (predictor/measure/data); a seed leaves out
                   another fifth of the families
"""
import argparse
import collections
import csv
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile

SETTINGS = ["K80-w1", "V100-w1", "A100-w1", "V100-w2-ar-nvlink2", "2080Ti-w4-ar-pcie3", "V100-w8-ar-eth10",
            "A100-w8-ar-eth100", "P100-p2w8-ps-eth10"]
HERE = os.path.dirname(os.path.realpath(__file__))
GRAPH = "depth=fixed n_layers=4 set2set_steps=3 hidden=64 mlp_layers=4"
FLAT = "depth=fixed n_layers=1 gru=0 pool=mean hidden=64 mlp_layers=4"


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


def build(a, features, groups, seed, folder):
    path = f"{folder}/{features}-{groups}-{seed if a.labels == 'measured' else 0}.h5"
    if os.path.exists(path):
        return path
    words = [a.dlsim, "dataset", "build", "-q", "-o", path, f"--groups={groups}", f"--features={features}"]
    if a.labels == "measured":
        data = os.path.join(HERE, "../measure/data")
        words += [f"--labels={data}/labels.csv", f"--graphs={data}/networks", "--settings=bench",
                  f"--seed={seed}"]
    else:
        words += ["--settings=clusters", f"--graphs={a.graphs}", f"--random-models={a.random_models}",
                  "--samples=512"]
        words += [f"--setting={name}" for name in SETTINGS] + ["--sized"] * (a.labels == "sized")
    run(*words)
    return path


def mean(values):
    return sum(values) / len(values)


def errors(a, weights, dataset, *more):
    """(validation, test) of step %, step NRMSE, NRMSE, peak NRMSE; averages over settings; the baselines' step."""
    out = []
    for split in ("val", "test"):
        every = json.loads(run(a.dlsim, "evaluate", f"--weights={weights}", f"--dataset={dataset}",
                               f"--split={split}", "--json", "--threads=1", *more))["settings"]
        ours = [s["inspector"] for s in every]
        linked = [s["net_rx_peak"]["by_range"] for s in ours if s["net_rx_peak"]["counted"]]
        baselines = {k: mean([s[k]["percent"] for s in every]) for k in every[0] if k.endswith("_iteration")}
        out.append(([mean([s["iteration"]["percent"] for s in ours]),
                     100 * mean([s["iteration"]["by_range"] for s in ours]),
                     100 * mean([s["nrmse"] for s in ours]), 100 * mean(linked)], baselines))
    return out


def in_order(a, weights, dataset, folder):
    """Per cent of pairs of settings of a validation job whose steps are predicted in the labels' order."""
    path = f"{folder}/rows.csv"
    run(a.dlsim, "evaluate", f"--weights={weights}", f"--dataset={dataset}", "--split=val", f"--rows={path}", "--force")
    steps, seen = {}, collections.Counter()
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["metric"] == "iteration_s":
                job = row["model"], row["batch"]
                seen[job, row["setting"]] += 1
                steps.setdefault(job, []).append((float(row["label"]), float(row["predicted"])))
    twice = {job for (job, _), n in seen.items() if n > 1}  # another precision or optimiser
    right = [(x[0] < y[0]) == (x[1] < y[1]) for job, rows in steps.items() if job not in twice
             for x, y in itertools.combinations(rows, 2)]
    return 100 * mean(right) if right else 0


def train(a, arch, dataset, seed, folder):
    path = f"{folder}/w.h5"
    run(a.dlsim, "train", f"--dataset={dataset}", "--settings=all", "--together", f"--arch={arch}",
        "--log-floor=0.003", "--lr=0.003", "--lr-floor=0.02", "--batch=8", f"--epochs={a.epochs}",
        "--patience=0", f"--seed={seed}", "--threads=1", "-q", "--force", "-o", path, *["--relative"] * a.relative,
        *[f"--pairs={a.pairs}"] * (a.pairs > 0))
    return path


def cells(rows):
    return " | ".join(f"{mean(c):.1f} +- {statistics.stdev(c) if len(c) > 1 else 0:.1f}" for c in zip(*rows))


def variants(a):
    yield "none", "kernels", 1, FLAT
    for features in a.features.split(","):
        for groups in (int(n) for n in a.groups.split(",")):
            yield str(groups), features, groups, GRAPH


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--dlsim", default="dlsim")
    p.add_argument("--labels", choices=("simulated", "sized", "measured"), default="simulated")
    p.add_argument("--relative", action="store_true", help="outputs relative to the operator model (dlsim train)")
    p.add_argument("--pairs", type=float, default=0, help="weight of the loss over pairs of settings (dlsim train)")
    p.add_argument("--features", default="driple,kernels,own")
    p.add_argument("--groups", default="1,4,8,16,32")
    p.add_argument("--seeds", type=int, default=5)
    p.add_argument("--epochs", type=int, default=25)
    p.add_argument("--graphs", type=int, default=320)
    p.add_argument("--random-models", type=int, default=400)
    a = p.parse_args()
    print("| groups | columns | validation: step % | step NRMSE % | all NRMSE % | peak NRMSE % | pairs in order % "
          "| test: step % | step NRMSE % | all NRMSE % | peak NRMSE % |\n" + "|---" * 11 + "|")
    with tempfile.TemporaryDirectory() as folder:
        for name, features, groups, arch in variants(a):
            rows = []
            for seed in range(1, a.seeds + 1):
                dataset = build(a, features, groups, seed, folder)
                weights = train(a, arch, dataset, seed, folder)
                (val, _), (test, _) = errors(a, weights, dataset)
                rows.append(val + [in_order(a, weights, dataset, folder)] + test)
            print(f"| {name} | {features} | {cells(rows)} |", flush=True)
        if a.labels != "simulated" or a.relative:
            return
        dataset = build(a, "kernels", 1, 1, folder)
        learned = f"{folder}/justus.h5"
        run(a.dlsim, "train", "--baseline", "justus", f"--dataset={dataset}", f"--epochs={a.epochs}", "-q",
            "--force", "-o", learned)
        weights = train(a, FLAT, dataset, 1, folder)
        (_, val), (_, test) = errors(a, weights, dataset, f"--learned={learned}")
        print(f"| every kernel | justus | {val['justus_iteration']:.1f} | | | | "
              f"| {test['justus_iteration']:.1f} | | | |")


if __name__ == "__main__":
    sys.exit(main())
