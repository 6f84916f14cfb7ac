#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a simulation costs, against jobs and against GPUs.

Wall time of the event loop, the fastest of three runs."""

import style
from style import plt
from tiresias_common import NAMES


def draw(paths, folder):
    with style.open_results(paths[0]) as f:
        table = style.points(f)
    table = table.rename(columns={"scheduler.name": "policy"})
    best = table.groupby(["policy", "jobs", "total_gpus"], sort=False).agg(
        wall_s=("wall_s", "min"), events=("events", "first"), looked=("positions_per_event", "first")).reset_index()
    varied = best.groupby("total_gpus").jobs.nunique()
    gpus = varied.idxmax()  # the cluster on which the number of jobs is varied
    fig, axes = plt.subplots(1, 3, figsize=(style.PAGE, 2.2), layout="constrained")
    for i, (policy, t) in enumerate(best.groupby("policy", sort=False)):
        look = {"marker": "osv^"[i], "markersize": 3, "label": NAMES.get(policy, policy)}
        by_jobs = t[t.total_gpus == gpus].sort_values("jobs")
        by_gpus = t[t.jobs == t.jobs.max()].sort_values("total_gpus")
        axes[0].plot(by_jobs.jobs, 1e6 * by_jobs.wall_s / by_jobs.events, **look)
        axes[1].plot(by_gpus.total_gpus, 1e6 * by_gpus.wall_s / by_gpus.events, **look)
        axes[2].plot(by_gpus.total_gpus, by_gpus.looked, **look)
        last = by_gpus.iloc[-1]
        style.row(f"{NAMES.get(policy, policy)}: us an event, {by_jobs.jobs.iloc[-1]:,} jobs on {gpus:,} GPUs; on "
                  f"{last.total_gpus:,.0f}", "-",
                  f"{1e6 * by_jobs.wall_s.iloc[-1] / by_jobs.events.iloc[-1]:.2f}; {1e6 * last.wall_s / last.events:.2f}")
    axes[0].set(xlim=(0, None), ylim=(0, None), xlabel=f"jobs ({gpus:,} GPUs)", ylabel="us an event")
    axes[1].set(xscale="log", ylim=(0, None), xlabel=f"GPUs ({best.jobs.max():,} jobs)", ylabel="us an event")
    axes[2].set(xscale="log", ylim=(0, None), xlabel=f"GPUs ({best.jobs.max():,} jobs)", ylabel="positions an event")
    axes[1].legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    style.save(fig, folder, "cost")


if __name__ == "__main__":
    raise SystemExit(style.main(draw, __doc__))
