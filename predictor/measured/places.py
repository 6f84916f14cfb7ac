#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a source is from measured steps, place by place, where a table of one GPU type is the truth (docs/placement-study.md).

Usage: places.py [--dlsim=PROGRAM] [--source=operator] [--set=KEY=VALUE]... CONFIG MODEL:BATCH...

CONFIG has one kind of node and perf.model = "table"; BATCH is of one GPU. Prints the measured and the predicted step of
each model on 1 to 16 GPUs, in as few nodes as hold them, in twice as many, and one GPU a node, and the mean of
|predicted / measured - 1| of each model.
"""
import argparse
import csv
import os
import subprocess
import sys
import tempfile

GPUS = [1, 2, 4, 8, 16]
NODE = 4  # GPUs of a node


def places():
    """(GPUs, nodes), no place twice."""
    for gpus in GPUS:
        fewest = -(-gpus // NODE)
        yield from ((gpus, nodes) for nodes in sorted({fewest, min(gpus, 2 * fewest), gpus}))


def run(a, *words):
    result = subprocess.run([a.dlsim, *words], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(result.stderr)
    return result.stdout


def steps(a, source, folder):
    """{(model, GPUs, nodes): step}: jobs that have the cluster to themselves, its nodes as wide as the place asks for."""
    found = {}
    trace, results = os.path.join(folder, "jobs.csv"), os.path.join(folder, "run.h5")
    for width in sorted({gpus // nodes for gpus, nodes in places()}):
        jobs = [(model, int(batch), gpus, nodes) for model, batch in (m.rsplit(":", 1) for m in a.models)
                for gpus, nodes in places() if gpus // nodes == width]
        with open(trace, "w") as file:
            file.write("job_id,num_gpu,submit_time,duration,model,batch_size\n")
            for i, (model, batch, gpus, _) in enumerate(jobs):
                file.write(f"{i},{gpus},{1000000 * i},1000,{model},{batch * gpus}\n")
        run(a, "run", f"--config={a.config}", f"--trace={trace}", "--placement=consolidated", f"--predictor={source}",
            "--set", "trace.assign=", "--set", f"cluster.nodes[0].gpus={width}", "--set", f"cluster.nodes[0].count={max(GPUS)}",
            *(word for s in a.set for word in ("--set", s)), "--force", "-q", "-o", results)
        for row in csv.DictReader(run(a, "export", "--csv", "--table=starts", "-q", results).splitlines()):
            model, _, gpus, nodes = jobs[int(row["job"])]
            assert int(row["n_nodes"]) == nodes
            found[model, gpus, nodes] = float(row["predicted_iteration_s"])
    return found


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][7:])
    parser.add_argument("--dlsim", default="dlsim")
    parser.add_argument("--source", default="operator")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("config")
    parser.add_argument("models", nargs="+")
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measured, predicted = steps(a, "oracle", folder), steps(a, a.source, folder)
    print("| model | GPUs, nodes | measured s | predicted s | ratio |\n|---|---|---|---|---|")
    errors = {}
    for (model, gpus, nodes), step in measured.items():
        said = predicted[model, gpus, nodes]
        print(f"| {model} | {gpus}, {nodes} | {step:.4f} | {said:.4f} | {said / step:.2f} |")
        errors.setdefault(model, []).append(abs(said / step - 1))
    for model, of in errors.items():
        print(f"{model}: {100 * sum(of) / len(of):.0f} % off in the mean of {len(of)} places")


if __name__ == "__main__":
    main()
