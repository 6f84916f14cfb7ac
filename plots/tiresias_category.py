#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Average JCT by size and length of jobs, relative to FIFO.

Gu et al., NSDI 2019, section 5.2."""

import numpy as np

import style
from style import plt
from tiresias_common import NAMES, runs

SHORT_S = 800
SMALL_GPUS = 4
CATEGORIES = (("small, short", True, True), ("small, long", True, False), ("large, short", False, True),
              ("large, long", False, False))


def by_category(jobs):
    small, short = jobs.gpus <= SMALL_GPUS, jobs.duration_us < SHORT_S * 1e6
    return np.array([jobs.jct_s[(small == a) & (short == b)].mean() for _, a, b in CATEGORIES])


def draw(paths, folder):
    mean = {policy: by_category(style.jobs(run)) for policy, run in runs(paths[0])}
    if "fifo" not in mean:
        raise style.BadInput(f"{paths[0]}: no run of fifo to compare with")
    others = [p for p in mean if p != "fifo"]
    fig, ax = plt.subplots(figsize=(style.PAGE, 2.2), layout="constrained")
    x = np.arange(len(CATEGORIES))
    width = 0.8 / len(others)
    for i, policy in enumerate(others):
        gain = mean["fifo"] / mean[policy]
        bars = ax.bar(x + width * (i - (len(others) - 1) / 2), gain, 0.92 * width, label=NAMES.get(policy, policy))
        ax.bar_label(bars, fmt="%.3g", fontsize=6, padding=1)
        style.row(f"JCT of FIFO / {NAMES.get(policy, policy)}: " + "; ".join(c[0] for c in CATEGORIES),
                  "small and short jobs gain most" if policy == "dlas-gpu" else "-",
                  "; ".join(f"{g:.2f}" for g in gain))
    ax.axhline(1, color="black", linewidth=0.8)
    ax.set(yscale="log", ylabel="average JCT, FIFO / policy", xticks=x)
    ax.set_xticklabels([c[0] for c in CATEGORIES])
    ax.grid(axis="x", visible=False)
    ax.margins(y=0.15)
    ax.legend(ncols=len(others), loc="lower center", bbox_to_anchor=(0.5, 1.0))
    style.save(fig, folder, "tiresias_category")


if __name__ == "__main__":
    raise SystemExit(style.main(draw, __doc__))
