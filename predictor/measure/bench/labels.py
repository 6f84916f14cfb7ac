#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The runs of `dlsim perf bench all=DIR` as a table of labels for `dlsim dataset build --labels`.

    labels.py DIR/runs.jsonl[.gz] > labels.csv

Of the repetitions of a job the one with the shortest step is taken, since others on the machine can only make
a step longer; *_spread is (greatest - least) / least over the repetitions.
"""
import gzip
import json
import sys

RESOURCES = ("gpu_mem", "gpu", "net_rx", "net_tx")
METRICS = [f"{r}_{k}" for r in RESOURCES for k in ("idle", "active", "peak")]


def phases(resource, step_s):
    """Idle and active time of a step, which they come to, and the amount while active, as in simulated labels.

    The resource is in use throughout if the lower class is above half of the upper one, or has less than a
    twentieth of the time: what others on the machine take.
    """
    idle, burst = resource["n_idle"] * resource["idle_s"], resource["n_burst"] * resource["burst_s"]
    if resource["pattern"] == "I":
        return step_s, 0.0, 0.0
    if resource["pattern"] == "B" or 2 * resource["idle_amount"] > resource["burst_amount"] or idle < 0.05 * (idle + burst):
        return 0.0, step_s, resource["mean"]
    return step_s * idle / (idle + burst), step_s * burst / (idle + burst), resource["burst_amount"]


def label(run):
    """The 12 metrics in the dataset's units, the processor in the place of the GPU, and no memory."""
    nothing = {"pattern": "I", "n_idle": 0, "idle_s": 0, "n_burst": 0, "burst_s": 0}
    of = [phases(run["resources"]["cpu"], run["step_s"])]
    for name, way in (("net_rx", "received"), ("net_tx", "sent")):  # without an exchange there is the kernel's own talk
        of.append(phases(run["resources"][name] if run["expected"][way] else nothing, run["step_s"]))
    return [0.0, 0.0, 0.0] + [x for triple in of for x in triple]


def spread(values):
    return (max(values) - min(values)) / min(values) if min(values) > 0 else 0.0


def jobs(path):
    """{(network, batch, setting): [run, ...]}, the shortest step first."""
    found = {}
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as f:
        for number, line in enumerate(f, 1):
            try:
                run = json.loads(line)
            except ValueError:
                print(f"labels.py: {path}:{number}: cut off, left out", file=sys.stderr)
                continue
            found.setdefault((run["network"], run["batch"], run["setting"]), []).append(run)
    return {key: sorted(runs, key=lambda r: r["step_s"]) for key, runs in found.items()}


def main():
    others = ("parameters", "found_s", "chance", "other_load", "steps")
    spreads = {"step": lambda r: r["step_s"], "busy": lambda r: label(r)[4],
               "burst": lambda r: label(r)[10], "idle": lambda r: label(r)[9],
               "sent": lambda r: r["counted"]["sent"]}
    print(",".join(["network", "family", "batch", "setting", "iteration_s", *METRICS, "sent", "received", "sent_expected",
                    "received_expected", *others, "repetitions", *(f"{s}_spread" for s in spreads)]))
    for (network, batch, setting), runs in sorted(jobs(sys.argv[1]).items()):
        run = runs[0]
        cells = [run["step_s"], *label(run), run["counted"]["sent"], run["counted"]["received"],
                 run["expected"]["sent"], run["expected"]["received"], *(run[k] for k in others), len(runs),
                 *(spread([of(r) for r in runs]) for of in spreads.values())]
        print(",".join([network, network.rsplit("-", 1)[0], str(batch), setting, *(f"{c:.6g}" for c in cells)]))


if __name__ == "__main__":
    main()
