#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Three jobs on two GPUs: why both size and length count.

Gu et al., NSDI 2019, section 3.1."""

import style
from style import plt

UNIT_US = 1000 * 1e6
# Average JCT in units, as published.
PUBLISHED = {"SRSF": "9.3", "2D-Gittins": "10.0", "2D-LAS": "11.7"}
NAMES = {"srtf": "SRTF", "srsf": "SRSF", "gittins": "2D-Gittins", "dlas-gpu": "2D-LAS"}


def timeline(ax, run):
    rows = style.columns(run["allocations"])
    names = [style.text(t) for t in run["jobs/id"][:]]
    for r in rows.itertuples():
        for gpu in range(2):
            if r.gpu_mask >> gpu & 1:
                start, length = r.start_us / UNIT_US, (r.end_us - r.start_us) / UNIT_US
                ax.broken_barh([(start, length)], (gpu + 0.06, 0.88), color=style.COLOURS[r.job], linewidth=0)
                if length >= 0.9:
                    ax.text(start + length / 2, gpu + 0.5, names[r.job], ha="center", va="center",
                            color="white", fontsize=6)


def draw(paths, folder):
    with style.open_results(paths[0]) as f:
        table = style.points(f)
        fig, axes = plt.subplots(len(table), 1, figsize=(style.PAGE, 0.62 * len(table) + 0.3), sharex=True,
                                 layout="constrained")
        ours = {}
        for ax, p in zip(axes, table.itertuples()):
            run = f[f"runs/{p.run}"]
            timeline(ax, run)
            name = NAMES.get(style.text(run.attrs["scheduler"]), style.text(run.attrs["scheduler"]))
            jct = style.jobs(run).jct_s.mean() * 1e6 / UNIT_US
            label = name
            if name == "2D-LAS":
                limit = float(str(table["scheduler.queue_limits"][p.Index]).split(",")[0]) * 1e6 / UNIT_US
                label = f"{name}, queues {limit:g} wide"
            ours.setdefault(name, []).append((label, jct))
            ax.set(ylim=(0, 2), yticks=[0.5, 1.5])
            ax.set_yticklabels(["GPU 0", "GPU 1"])
            ax.set_title(f"{label}: average JCT {jct:.2f}", loc="left", pad=2)
            ax.grid(axis="y", visible=False)
        axes[-1].set(xlabel="time (units)", xlim=(0, 16))
        style.save(fig, folder, "tiresias_example")
    for name, entries in ours.items():
        for label, jct in entries:
            style.row(f"average JCT under {label} (units)", PUBLISHED.get(name, "-"), f"{jct:.2f}")


if __name__ == "__main__":
    raise SystemExit(style.main(draw, __doc__))
