#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What PROMOTEKNOB does for jobs that starve under Tiresias-L.

Gu et al., NSDI 2019, section 5.3, on a cluster with room and on one without."""

import style
from style import plt


def longest_wait(run):
    """The longest time that a job was without GPUs after it had had some, in seconds."""
    held = style.columns(run["allocations"]).groupby(["job", "start_us"]).end_us.max().reset_index()
    return ((held.groupby("job").start_us.shift(-1) - held.end_us).max()) / 1e6


def draw(paths, folder):
    with style.open_results(paths[0]) as f:
        table = style.points(f)
        table["wait_s"] = [longest_wait(f[f"runs/{run}"]) for run in table.run]
    table = table.rename(columns={"cluster.nodes[0].count": "nodes", "scheduler.restore_cost": "restore_s",
                                  "scheduler.promote_knob": "knob"})
    last = 2 * table.knob.max()
    table["at"] = table.knob.where(table.knob > 0, last)  # 0 means never: drawn at the end
    panels = {"average JCT (h)": table.jct_mean_s / 3600, "longest JCT (days)": table.jct_max_s / 86400,
              "longest wait for\nGPUs again (days)": table.wait_s / 86400}
    fig, axes = plt.subplots(1, len(panels), figsize=(style.PAGE, 2.2), layout="constrained")
    colours = dict(zip(table.nodes.unique(), style.COLOURS))
    for (nodes, cost), t in table.groupby(["nodes", "restore_s"], sort=False):
        t = t.sort_values("at")
        used = 100 * t.utilisation.iloc[-1]
        label = f"{8 * nodes:g} GPUs, {used:.0f} % used, {cost:g} s a resume"
        for ax, values in zip(axes, panels.values()):
            ax.plot(t["at"], values[t.index], "-" if cost > 0 else ":", color=colours[nodes], marker="o", markersize=3,
                    label=label)
        one, never = t.iloc[0], t.iloc[-1]
        style.row(f"Tiresias-L, {label}, PROMOTEKNOB {one.knob:g} against never: average JCT, longest JCT, longest wait",
                  "longer, shorter, -", f"{one.jct_mean_s / never.jct_mean_s:.3f}, "
                  f"{one.jct_max_s / never.jct_max_s:.3f}, {one.wait_s / never.wait_s:.3f}")
    knobs = sorted(table["at"].unique())
    for ax, title in zip(axes, panels):
        ax.set(xscale="log", xlabel="PROMOTEKNOB", ylabel=title, ylim=(0, None))
        ax.set_xticks(knobs, [f"{k:g}" if k < last else "never" for k in knobs])
        ax.minorticks_off()
    fig.legend(*axes[0].get_legend_handles_labels(), loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    style.save(fig, folder, "tiresias_promote")


if __name__ == "__main__":
    raise SystemExit(style.main(draw, __doc__))
