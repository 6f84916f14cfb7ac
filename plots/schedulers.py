#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every scheduler on three kinds of traces, a heterogeneous and a homogeneous cluster.

Of configs/studies/schedulers.cfg: means over three windows of each trace with 95 % intervals (Student's t)."""

import re

import numpy as np

import style
from results import BadInput, columns, open_results, points
from style import interval, plt

BASE = "gavel-isolated"  # equal shares of time: what finish-time fairness is measured against
CLUSTERS = {"A100": "heterogeneous", "V100-32GB": "homogeneous"}


def completion(f, run):
    """Completion times of a run's jobs in order, NAN where a job has none."""
    jobs = columns(f["runs"][run]["jobs"])
    return np.where(jobs.state == 3, (jobs.end_us - jobs.submit_us) / 1e6, np.nan)


def against(own, base):
    """Mean and 99th percentile over those of equal shares, of the jobs that end under both; the worst ratio of a job, and
    the part of the jobs that take more than a tenth longer."""
    both = ~np.isnan(own) & ~np.isnan(base) if base is not None else None
    if both is None or not both.any():
        return [np.nan] * 4
    rho = own[both] / base[both]
    return [own[both].mean() / base[both].mean(), np.quantile(own[both], 0.99) / np.quantile(base[both], 0.99), rho.max(),
            (rho > 1.1).mean()]


def read(path):
    """The points, with cluster, trace and window, against equal shares of time."""
    with open_results(path) as f:
        table = points(f)
        table = table.rename(columns={"scheduler.name": "scheduler"})
        table["cluster"] = [CLUSTERS.get(c, c) for c in table["cluster.nodes[0].gpu_type"]]
        name = table["trace.path"].map(lambda p: re.search(r"([a-z]+)-(\d+)\.csv$", p))
        table["trace"], table["window"] = [m[1] for m in name], [int(m[2]) for m in name]
        base = {(r.cluster, r.trace, r.window): completion(f, r.run) for r in table.itertuples() if r.scheduler == BASE}
        found = []
        for r in table.itertuples():
            found.append(against(completion(f, r.run), base.get((r.cluster, r.trace, r.window))))
        table[["jct_ratio", "p99_ratio", "worst", "unfair"]] = found
    return table


def ratio(table, column):
    """Each run's figure over that of gavel-isolated on the same window and cluster."""
    key = ["cluster", "trace", "window"]
    base = table[table.scheduler == BASE].set_index(key)[column]
    return table[column].to_numpy() / base.reindex(table.set_index(key).index).to_numpy()


def shown(values, digits=2):
    return f"{values.mean(skipna=False):.{digits}f} +- {interval(values):.{digits}f}"


def tell(table):
    for cluster in dict.fromkeys(table.cluster):
        rows = table[table.cluster == cluster].groupby("scheduler").jct_ratio.mean().sort_values()
        for s in rows.index:
            of = table[(table.cluster == cluster) & (table.scheduler == s)]
            left = int((of.infeasible + of.declined + of.unfinished).sum())
            style.row(f"{cluster}, {s}", f"{left} not run" if left else "-",
                      f"{shown(of.jct_ratio)}; {shown(of.p99_ratio)}; {shown(of.makespan_ratio)}; {shown(of.worst, 1)}; "
                      f"{100 * of.unfair.mean(skipna=False):.0f} %; {shown(of.gpu_ratio)}")


def draw(paths, folder):
    table = read(paths[0])
    if BASE not in set(table.scheduler):
        raise BadInput(f"{paths[0]}: no run of {BASE}")
    table["gpu_ratio"] = ratio(table, "held_gpu_s")
    table["makespan_ratio"] = ratio(table, "makespan_s")
    order = table.groupby("scheduler").jct_ratio.mean().sort_values(ascending=False)
    schedulers = list(order.index)
    fig, axes = plt.subplots(1, 2, figsize=(style.PAGE, 0.14 * len(schedulers) + 0.9), layout="constrained", sharey=True)
    for ax, cluster in zip(axes, dict.fromkeys(table.cluster)):
        for k, trace in enumerate(dict.fromkeys(table.trace)):
            for i, s in enumerate(schedulers):
                of = table[(table.cluster == cluster) & (table.scheduler == s) & (table.trace == trace)]
                if len(of):
                    mean, half = of.jct_ratio.mean(skipna=False), interval(of.jct_ratio)
                    ax.errorbar(mean, i + 0.22 * (k - 1), xerr=[[min(half, 0.95 * mean)], [half]], fmt="o", markersize=2.5,
                                linewidth=0.7, color=style.COLOURS[k], label=trace if i == 0 else None)
        ax.set(title=cluster, xlabel=f"mean completion time / that of {BASE}", xscale="log", xlim=(0.2, 20))
        ax.set_xticks([0.2, 0.5, 1, 2, 5, 10, 20], ["0.2", "0.5", "1", "2", "5", "10", "20"])
        ax.minorticks_off()
        ax.axvline(1, color="black", linewidth=0.6)
    axes[0].set_yticks(range(len(schedulers)), schedulers)
    axes[1].legend(loc="upper right")
    tell(table)
    style.save(fig, folder, "schedulers")


if __name__ == "__main__":
    raise SystemExit(style.main(draw, __doc__))
