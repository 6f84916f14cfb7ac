#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Queueing delay by policy.

Average, median and 95th percentile (Gu et al., NSDI 2019, section 5.2)."""

import numpy as np

import style
from style import plt
from tiresias_common import NAMES, look, runs

# Seconds on the paper's 60-GPU testbed: average, median, p95.
PUBLISHED = {"fifo": "8146 / 7464 / 15327", "srtf": "593 / 32 / 3133", "gittins": "1005 / 39 / 7933",
             "dlas-gpu": "963 / 13 / 7755"}


def draw(paths, folder):
    fig, ax = plt.subplots(figsize=(style.COLUMN, 2.4), layout="constrained")
    for policy, run in runs(paths[0]):
        wait = style.jobs(run).queue_s.to_numpy()
        style.cdf(ax, np.maximum(wait, 1), **look(policy))
        style.row(f"queueing delay of {NAMES.get(policy, policy)} (s): average / median / p95",
                  PUBLISHED.get(policy, "-"),
                  f"{wait.mean():.0f} / {np.median(wait):.0f} / {np.percentile(wait, 95):.0f}")
    ax.set(xscale="log", xlabel="time waiting (s, at least 1)", ylabel="part of jobs", ylim=(0, 1.01))
    ax.legend(loc="lower right")
    style.save(fig, folder, "tiresias_queue")


if __name__ == "__main__":
    raise SystemExit(style.main(draw, __doc__))
