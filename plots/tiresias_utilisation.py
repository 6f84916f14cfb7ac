#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUs in use and jobs waiting over time, by policy.

Gu et al., NSDI 2019, section 5.2."""

import numpy as np

import style
from results import averaged
from style import plt
from tiresias_common import NAMES, look, runs


def draw(paths, folder):
    fig, (top, bottom) = plt.subplots(2, 1, figsize=(style.PAGE, 3.2), sharex=True, layout="constrained")
    for policy, run in runs(paths[0]):
        series = style.columns(run["series/cluster"])
        edges = np.linspace(series.t_us.iloc[0], series.t_us.iloc[-1], 241)
        days = (edges[:-1] + edges[1:]) / 2 / 86.4e9
        busy = averaged(series, "busy_gpus", edges) / run.attrs["total_gpus"]
        name = NAMES.get(policy, policy)
        top.plot(days, 100 * busy, **look(policy))
        bottom.plot(days, averaged(series, "pending_jobs", edges), **look(policy))
        style.row(f"GPUs in use under {name}, mean over the run; makespan", "similar for all policies",
                  f"{100 * busy.mean():.1f} %; {np.ptp(edges) / 86.4e9:.2f} days")
    top.set(ylabel="GPUs in use (%)", ylim=(0, 105))
    bottom.set(ylabel="jobs waiting", xlabel="time (days)", ylim=(0, None))
    top.legend(ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    style.save(fig, folder, "tiresias_utilisation")


if __name__ == "__main__":
    raise SystemExit(style.main(draw, __doc__))
