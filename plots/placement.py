#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What placement is worth: JCT by placement policy, with perfect predictions.

Four generations of GPUs on 100, 40 and 1 Gb/s (configs/placement-study.cfg)."""

import numpy as np

import style
from placement_common import gains
from style import interval, plt


def draw(paths, folder):
    table = gains(paths[0])
    table = table[table.source == "oracle"]
    names = list(dict.fromkeys(table.placement))
    value = [table.gain[table.placement == n].to_numpy() for n in names]
    mean, half = [v.mean() for v in value], [interval(v) for v in value]
    fig, ax = plt.subplots(figsize=(style.PAGE, 2.2), layout="constrained")
    x = np.arange(len(names))
    colours = [style.COLOURS[1 if n.startswith("driple") else 0] for n in names]
    ax.bar(x, mean, 0.6, yerr=half, color=colours, capsize=2, error_kw={"linewidth": 0.8})
    for at, m, h in zip(x, mean, half):
        ax.text(at, m + h + 0.03, f"{m:.2f}", ha="center", va="bottom", fontsize=7)
    ax.axhline(1, color="black", linewidth=0.8)
    ax.set(ylabel="average JCT,\nrandom / policy", ylim=(0, 1.15 * (np.array(mean) + half).max()))
    ax.set_xticks(x, names)
    ax.grid(axis="x", visible=False)
    style.save(fig, folder, "placement")
    for n, m, h in zip(names, mean, half):
        style.row(f"average JCT, random / {n}", "-", f"{m:.2f} +- {h:.2f}")


if __name__ == "__main__":
    raise SystemExit(style.main(draw, __doc__))
