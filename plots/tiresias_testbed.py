#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tiresias's testbed as its paper describes it: schedulers and placements, by the number of machines.

Gu et al., NSDI 2019, section 5.2: 480 jobs with parameter servers on 15 machines of 4 P100; means over 20 seeds of
the mix with 95 % intervals (Student's t)."""

import style
from style import interval, plt
from tiresias_common import NAMES

BUSY = 8  # machines with which YARN-CS on random GPUs comes nearest to the published mean delay, 8,146 s
PARTS = ("mean", "median", "p95")
TIRESIAS, YARN = "dlas-gpu/tiresias", "fifo/random"
# YARN-CS, SRTF / Tiresias
FACTORS = {YARN: "5.5 / 116.7 / 4.8", "fifo/consolidated": "5.5 / 116.7 / 4.8", "srtf/tiresias": "1.00 / 1.56 / 1.21"}
DELAYS = {YARN: "8146 / 7464 / 15327", "fifo/consolidated": "8146 / 7464 / 15327", "srtf/tiresias": "593 / 32 / 3133",
          "gittins/tiresias": "1005 / 39 / 7933", TIRESIAS: "963 / 13 / 7755"}
PLACED = {"tiresias": "", "random": ", random GPUs", "consolidated": ", all consolidated"}


def name(design):
    policy, placement = design.split("/")
    return NAMES.get(policy, policy) + PLACED[placement]


def read(path):
    """The points by design and machines, and what each is over Tiresias-L on the same jobs and machines."""
    with style.open_results(path) as f:
        table = style.points(f)
    table["design"] = table["scheduler.name"] + "/" + table["placement.name"]
    table = table.rename(columns={"cluster.nodes[0].count": "machines"}).set_index(["design", "machines", "seed"]).sort_index()
    if TIRESIAS not in table.index.levels[0]:
        raise style.BadInput(f"{path}: no run of {TIRESIAS}")
    for column in ["jct_" + p + "_s" for p in PARTS] + ["makespan_s"]:
        table["over_" + column] = table[column] / table.loc[TIRESIAS][column].reindex(table.index.droplevel(0)).to_numpy()
    return table


def shown(values, digits):
    return f"{values.mean():.{digits}f} +- {interval(values):.{digits}f}"


def both(table, design, columns, digits):
    """A row's numbers on all machines; on as many as are as busy as the published testbed."""
    return "; ".join(" / ".join(shown(table.loc[design, m][c], digits) for c in columns)
                     for m in (table.index.levels[1].max(), BUSY))


def tell(table):
    for design in table.index.unique("design"):
        if design != TIRESIAS:
            style.row(f"JCT of {name(design)} / Tiresias-L: average / median / p95", FACTORS.get(design, "-"),
                      both(table, design, [f"over_jct_{p}_s" for p in PARTS], 2))
    for design in DELAYS:
        style.row(f"queueing delay of {name(design)} (s): average / median / p95", DELAYS[design],
                  both(table, design, [f"queue_{p}_s" for p in PARTS], 0))
    style.row(f"makespan of {name(YARN)} / Tiresias-L", "slightly longer", both(table, YARN, ["over_makespan_s"], 2))
    style.row("preemptions under Tiresias", "221", both(table, TIRESIAS, ["preemptions"], 0))


def draw(paths, folder):
    table = read(paths[0])
    fig, (left, right) = plt.subplots(1, 2, figsize=(style.PAGE, 2.5), layout="constrained")
    for ax, column, designs in (
            (left, "queue_mean_s", list(DELAYS)),
            (right, "over_jct_mean_s", [YARN, "fifo/consolidated", "srtf/tiresias", "dlas-gpu/random", "dlas-gpu/consolidated"])):
        for i, design in enumerate(designs):
            of = table.loc[design][column].groupby("machines")
            ax.errorbar(of.mean().index, of.mean(), yerr=of.apply(interval), marker="os^vD"[i], markersize=3, capsize=2,
                        label=name(design))
        ax.set(yscale="log", xlabel="machines of 4 P100")
        ax.invert_xaxis()
    for design in (YARN, "srtf/tiresias", TIRESIAS):
        left.axhline(float(DELAYS[design].split(" / ")[0]), color="black", linewidth=0.6, linestyle=":")
    right.axhline(5.5, color="black", linewidth=0.6, linestyle=":")
    left.set_ylabel("mean queueing delay (s)")
    right.set_yticks([0.5, 1, 2, 5], ["0.5", "1", "2", "5"])
    right.minorticks_off()
    right.set_ylim(0.6, 8)
    right.set_ylabel("mean JCT / that of Tiresias-L")
    for ax in (left, right):
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=5.5)
    style.save(fig, folder, "tiresias_testbed")
    tell(table)


if __name__ == "__main__":
    raise SystemExit(style.main(draw, __doc__))
