#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Job completion time under Tiresias and the policies it was compared with.

Distribution; average, median and 95th percentile as factors over Tiresias-L (Gu et al., NSDI 2019,
section 5)."""

import numpy as np

import style
from style import plt
from tiresias_common import NAMES, look, runs

# Trace-driven simulation of the paper: JCT of others / JCT of Tiresias-L (average, median, p95).
PUBLISHED = {"fifo": "2.41 / 30.85 / 1.25", "gandiva": "2.00 (average)", "srtf": "0.69 (average)"}


def figures(jct):
    return np.array([np.mean(jct), np.median(jct), np.percentile(jct, 95)])


def draw(paths, folder):
    jct = {policy: style.jobs(run).jct_s.to_numpy() for policy, run in runs(paths[0])}
    ours = figures(jct["dlas-gpu"])
    others = [p for p in jct if p != "dlas-gpu"]

    fig, (left, right) = plt.subplots(1, 2, figsize=(style.PAGE, 2.4), layout="constrained")
    for policy, values in jct.items():
        style.cdf(left, np.maximum(values, 1), **look(policy))
    left.set(xscale="log", xlabel="job completion time (s)", ylabel="part of jobs", ylim=(0, 1))
    left.legend(loc="upper left")

    x = np.arange(len(others))
    for i, what in enumerate(("average", "median", "95th percentile")):
        factor = [figures(jct[p])[i] / ours[i] for p in others]
        bars = right.bar(x + 0.27 * (i - 1), factor, 0.25, label=what)
        right.bar_label(bars, fmt="%.2g", fontsize=6, padding=1)
    right.axhline(1, color="black", linewidth=0.8)
    right.set(yscale="log", ylabel="JCT / JCT of Tiresias-L", xticks=x)
    right.set_xticklabels([NAMES.get(p, p) for p in others])
    right.grid(axis="x", visible=False)
    right.margins(y=0.15)
    right.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    style.save(fig, folder, "tiresias_jct")
    for p in others:
        style.row(f"JCT of {NAMES.get(p, p)} / Tiresias-L: average / median / p95", PUBLISHED.get(p, "-"),
                  " / ".join(f"{v:.2f}" for v in figures(jct[p]) / ours))


if __name__ == "__main__":
    raise SystemExit(style.main(draw, __doc__))
