#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replays against published simulators and against hardware, run by run and job by job.

What the configuration plots/fidelity.cfg lists, replayed by fidelity_runs.py."""

import numpy as np
import pandas as pd

import style
from fidelity_runs import COLUMNS
from results import BadInput
from style import plt

EQUAL_S = 1e-3  # of a completion time; 32-bit seconds in some of the published files


def read(path):
    try:
        table = pd.read_csv(path, dtype={"job": str, "run": str})
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as e:
        raise BadInput(f"{path}: not a table ({e})") from None
    if tuple(table.columns) != COLUMNS:
        raise BadInput(f"{path}: not a table of fidelity_runs.py")
    return table


def errors(published, own):
    return np.abs(own / published - 1)


def against(run, column):
    """Of what `column` has: errors of the mean completion time, of the makespan, and of each job."""
    both = run[run.published_s.notna() & run[column].notna()]
    if both.empty:
        return {"jct": np.nan, "makespan": np.nan, "median": np.nan, "decile": np.nan}
    far = errors(both.published_s, both[column])[both.published_s > 0]
    last = [(run.submit_s + run[c]).max() - run.submit_s.min() for c in (column, "published_s")]
    return {"jct": run[column].mean() / run.published_s.mean() - 1, "makespan": last[0] / last[1] - 1,
            "median": far.median(), "decile": far.quantile(0.9)}


def figures(run):
    """Of one run: jobs, those that are equal (in not having an end, too), errors here and of the authors' simulator."""
    equal = (run.published_s - run.here_s).abs() <= EQUAL_S
    neither = run.published_s.isna() & run.here_s.isna()
    theirs = {f"their_{k}": v for k, v in against(run, "simulator_s").items()}
    return {**dict(run.iloc[0][["system", "against", "policy"]]), "jobs": len(run), "equal": (equal | neither).sum(),
            **against(run, "here_s"), **theirs}


def percent(value):
    return f"{100 * value:+.1f} %"


def tell(runs):
    """The rows: policies of a simulator that are equal, those that are not, runs of hardware."""
    for (system, kind), of in runs.groupby(["system", "against"], sort=False):
        if kind == "hardware":
            for _, run in of.iterrows():
                style.row(f"{system}, {run.policy}: average JCT; makespan; per job median, p90",
                          f"{percent(run.their_jct)}; {percent(run.their_makespan)}; "
                          f"{100 * run.their_median:.1f} %, {100 * run.their_decile:.1f} %",
                          f"{percent(run.jct)}; {percent(run.makespan)}; {100 * run['median']:.1f} %, {100 * run.decile:.1f} %")
            continue
        whole = of.groupby("policy", sort=False).apply(lambda p: (p.jobs == p.equal).all())
        same = of[of.policy.map(whole)]
        if len(same):
            style.row(f"{system}, {', '.join(sorted(set(same.policy)))}: jobs equal", f"{same.jobs.sum()} in {len(same)} runs",
                      f"{same.equal.sum()}")
        for policy, some in of[~of.policy.map(whole)].groupby("policy", sort=False):
            style.row(f"{system}, {policy}: jobs equal; average JCT and per job p90 of the worst run",
                      f"{some.jobs.sum()} in {len(some)} runs",
                      f"{some.equal.sum()}; {100 * some.jct[some.jct.abs().idxmax()]:+.2f} %; {100 * some.decile.max():.1f} %")


def draw_simulators(ax, runs):
    systems = list(dict.fromkeys(runs.system))
    for i, system in enumerate(systems):
        of = runs[runs.system == system]
        spread = np.linspace(-0.3, 0.3, len(of)) if len(of) > 1 else np.zeros(1)
        ax.scatter(100 * of.jct, i + spread, s=7, color=style.COLOURS[i % len(style.COLOURS)], linewidth=0)
    ax.set_yticks(range(len(systems)), [f"{s} ({(runs.system == s).sum()})" for s in systems])
    ax.set_xscale("symlog", linthresh=0.1)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.set(xlabel="average JCT of a run against the published one (%)", title="simulator against simulator",
           ylim=(-0.6, max(1, len(systems)) - 0.4))
    ax.axvline(0, color="black", linewidth=0.6)


def draw_hardware(ax, table):
    runs = table[table.against == "hardware"]
    for i, ((system, policy), of) in enumerate(runs.groupby(["system", "policy"], sort=False)):
        colour = style.COLOURS[i % len(style.COLOURS)]
        for column, line in (("here_s", "-"), ("simulator_s", ":")):
            far = errors(of.published_s, of[column]).dropna()
            if len(far):
                style.cdf(ax, 100 * far, color=colour, linestyle=line,
                          label=f"{system.split(',')[0]}, {policy}" if line == "-" else None)
    ax.set(xlabel="error of a job's completion time (%)", ylabel="jobs",
           title="against hardware; dotted: the authors' simulator", xscale="log", xlim=(0.1, 300), ylim=(0, 1))
    if len(runs):
        ax.legend(fontsize=6, loc="upper center", bbox_to_anchor=(0.45, -0.2), ncols=2)
    ax.xaxis.set_major_formatter("{x:g}")


def draw(paths, folder):
    table = read(paths[0])
    runs = pd.DataFrame([figures(of) for _, of in table.groupby(["run", "policy", "against"], sort=False)])
    fig, axes = plt.subplots(1, 2, figsize=(style.PAGE, 2.6), layout="constrained")
    draw_simulators(axes[0], runs[runs.against == "simulator"])
    draw_hardware(axes[1], table)
    tell(runs)
    style.save(fig, folder, "fidelity")


if __name__ == "__main__":
    raise SystemExit(style.main(draw, __doc__, "table of fidelity_runs.py"))
