#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Predicted against measured time of a training step, by source.

Every source of predictions asked about every published step to which nothing was fitted (docs/measured.md)."""

import numpy as np

import style
from results import BadInput, open_hdf5, text
from style import plt

NAMES = {"driple": "inspector"}


def read(path):
    with open_hdf5(path, "dlsim-measured", "a file of 'dlsim evaluate --measured -o'") as f:
        names = text(f.attrs["sources"]).split(",")
        rows = {k: d[:] for k, d in f["steps"].items() if d.ndim == 1}
        return names, rows["measured_s"], rows["fitted"] > 0, f["steps/predicted_s"][:]


def draw(paths, folder):
    names, measured, fitted, predicted = read(paths[0])
    judged = ~fitted
    if not judged.any():
        raise BadInput(f"{paths[0]}: no row that fitted nothing")
    fig, axes = plt.subplots(1, len(names), figsize=(style.PAGE, 2.3), layout="constrained", sharex=True, sharey=True,
                             squeeze=False)
    ends = 1e3 * np.array([measured.min() / 1.5, measured.max() * 1.5])
    for i, (name, ax) in enumerate(zip(names, axes[0])):
        there = judged & np.isfinite(predicted[:, i])
        x, y = 1e3 * measured[there], 1e3 * predicted[there, i]
        ax.scatter(x, y, s=6, color=style.COLOURS[i], linewidth=0)
        ax.plot(ends, ends, color="black", linewidth=0.8)
        ax.fill_between(ends, 0.8 * ends, 1.2 * ends, color="#bbbbbb", alpha=0.4, linewidth=0)
        ax.set(xscale="log", yscale="log", xlim=ends, ylim=ends, xlabel="measured (ms)",
               title=f"{NAMES.get(name, name)}, {there.sum()} of {judged.sum()}")
        error = np.abs(y / x - 1)
        value = f"{100 * np.median(error):.1f} %, {100 * np.quantile(error, 0.9):.1f} %" if len(x) else "-"
        style.row(f"error of a step by {NAMES.get(name, name)}, median and 90th percentile ({len(x)} answered)", "-", value)
    axes[0][0].set_ylabel("predicted (ms)")
    style.save(fig, folder, "measured")


if __name__ == "__main__":
    raise SystemExit(style.main(draw, __doc__, "file of 'dlsim evaluate --measured -o'"))
