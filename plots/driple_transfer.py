#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error of inspectors and epochs of training by setting, with and without transfer.

Yang et al., POMACS 2022, section 5: from scratch, or tuned from the inspector of V100-P1w2-ho-PCIe."""

import os

import numpy as np

import style
from driple_common import curve, errors
from style import plt


def until_equal(scratch, transfer):
    """Epochs of scratch until its best validation loss over those of transfer until one as low; 0: it never has."""
    reached = transfer <= scratch[-1]
    return (1 + np.argmax(scratch <= scratch[-1])) / (1 + np.argmax(reached)) if reached.any() else 0.0


def draw(paths, folder):
    result = {}
    for path in paths:
        how, setting = os.path.splitext(os.path.basename(path))[0].split("-", 1)
        entry = errors(path)
        result.setdefault(setting, {})[how] = (entry["inspector"]["nrmse"], curve(path), entry["mean"]["nrmse"],
                                               entry["noise_floor"]["nrmse"])
    both = {s: r for s, r in result.items() if {"scratch", "transfer"} <= set(r)}
    if not both:
        raise style.BadInput(f"{paths[0]}: no setting with and without transfer")
    names = list(both)
    nrmse = {how: [both[s][how][0] for s in names] for how in ("scratch", "transfer")}
    equal = np.array([until_equal(both[s]["scratch"][1], both[s]["transfer"][1]) for s in names])
    x = np.arange(len(names))

    fig, (top, bottom) = plt.subplots(2, 1, figsize=(style.PAGE, 3.6), sharex=True, layout="constrained")
    for i, (how, label) in enumerate((("scratch", "from scratch"), ("transfer", "transferred"))):
        top.bar(x + 0.38 * (i - 0.5), nrmse[how], 0.36, label=label)
    top.plot(x, [both[s]["scratch"][2] for s in names], "k_", markersize=14, label="mean of the training graphs")
    top.plot(x, [both[s]["scratch"][3] for s in names], "_", color="#888888", markersize=14, label="noise of the labels")
    top.set(ylabel="NRMSE", ylim=(0, None))
    top.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    bars = bottom.bar(x, np.maximum(equal, 0.5), 0.5, color=style.COLOURS[2])
    bottom.bar_label(bars, [f"{r:.3g}" if r > 0 else "never" for r in equal], fontsize=6, padding=1)
    bottom.axhline(1, color="black", linewidth=0.8)
    bottom.set(ylabel="epochs to scratch's best\nvalidation loss,\nscratch / transfer", yscale="log",
               ylim=(0.5, 3 * max(equal.max(), 1)))
    bottom.set_xticks(x, names, rotation=35, ha="right", rotation_mode="anchor")
    for ax in (top, bottom):
        ax.grid(axis="x", visible=False)
    style.save(fig, folder, "driple_transfer")
    style.row(f"NRMSE, mean of {len(names)} settings: from scratch; transferred", "similar or lower",
              f"{np.mean(nrmse['scratch']):.3f}; {np.mean(nrmse['transfer']):.3f}")
    some = equal[equal > 0]
    style.row("epochs until the best validation loss of scratch, scratch over transferred, median of the settings that "
              "reach it", "7.3 (time)", f"{np.median(some) if some.size else 0:.3g} ({some.size} of {equal.size})")


if __name__ == "__main__":
    raise SystemExit(style.main(draw, __doc__, "errors: scratch-SETTING.json, transfer-SETTING.json"))
