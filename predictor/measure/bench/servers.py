#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""One more server: jobs that ran behind one and behind two within hours of each other, and the way that the operator model says.

    servers.py RUNS.jsonl[.gz] LABELS.csv GRAPHS FOLDER

Labels are the shortest of a job's repetitions, on whatever day; here one run stands beside another of the same day. FOLDER is
study.py's.
"""
import sys

import labels
from study import WHAT, median, operator_model, read, row, table, value, with_bursts

HOURS = 3
CHANGE = 0.1


def metrics(run):
    of = dict(zip(labels.METRICS, labels.label(run)), iteration_s=run["step_s"])
    return {what: value(of, what) for _, what in WHAT}


def main(runs, labels_csv, graphs, folder):
    model = operator_model(with_bursts(read(labels_csv), labels_csv), graphs, folder, "fitted")
    jobs, right, ratio = labels.jobs(runs), {}, {}
    for (network, batch, setting), two in jobs.items():
        before = "p1" + setting[2:]
        near = [r for r in jobs.get((network, batch, before), []) if abs(r["time"] - two[0]["time"]) < 3600 * HOURS]
        if not setting.startswith("p2") or not near:
            continue
        one, other = metrics(near[0]), metrics(two[0])
        says = [{what: model[s, network, batch][what][1] for _, what in WHAT} for s in (before, setting)]
        for _, what in WHAT:
            if one[what] > 0 and other[what] > 0:
                real = other[what] / one[what]
                ratio.setdefault((setting, what), []).append(real)
                if abs(real - 1) > CHANGE:
                    right.setdefault((setting, what), []).append((real > 1) == (says[1][what] > says[0][what]))
    table("one more server, the same day: two / one, median; right sign", *(name for name, _ in WHAT))
    for setting in sorted({s for s, _ in ratio}):
        row(setting, *(f"{median(ratio[setting, what]):.2f}; {100 * sum(r) / len(r):.0f} % of {len(r)}" if r else "-"
                       for _, what in WHAT for r in [right.get((setting, what), [])]))


if __name__ == "__main__":
    main(*sys.argv[1:])
