#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What recordings say of a run beside what the framework's own profiler says of the same run.

    dlsim perf bench all=DIR profiler
    profiler.py DIR/runs.jsonl[.gz]

Step: found in the recording by following steps, and by autocorrelation alone. Bytes: counted by the links, beside
the tensors that were exchanged, by the shapes in the profiler's list. Errors are |recording / profiler - 1|.
"""
import sys

import labels
from study import median, percent, row, table


def errors(runs, of, true):
    return [abs(of(r) / true(r) - 1) for r in runs if true(r) > 0]


def within(off, limit):
    return percent(sum(o <= limit for o in off) / len(off))


def main():
    by = {}
    for key, runs in labels.jobs(sys.argv[1]).items():
        seen = [r for r in runs if "profiler" in r]
        by.setdefault(key[2], []).extend(seen)
        if key[2] != "w1":  # whose recordings show no step
            by.setdefault("all of them", []).extend(seen)
    by["all of them"] = by.pop("all of them", [])
    table("setting", "runs", "step: median error; within 2 %, 5 %", "by autocorrelation alone", "bytes sent: median error; within 2 %",
          "bytes received", "framework's clock: greatest error of a step", "other load")
    for setting, runs in by.items():
        if not runs:
            continue
        step = lambda r: r["profiler"]["step_s"]
        cells = []
        for off in (errors(runs, lambda r: r["found_s"], step), errors(runs, lambda r: r["period_s"], step)):
            cells.append(f"{percent(median(off))}; {within(off, 0.02)}, {within(off, 0.05)}")
        for way in ("sent", "received"):
            off = errors(runs, lambda r: r["counted"][way], lambda r: r["profiler"][way])
            cells.append(f"{percent(median(off))}; {within(off, 0.02)}" if off else "-")
        row(setting, len(runs), *cells, f"{100 * max(errors(runs, lambda r: r['step_s'], step)):.3f} %",
            f"{median([r['other_load'] for r in runs]):.2f}")


if __name__ == "__main__":
    main()
