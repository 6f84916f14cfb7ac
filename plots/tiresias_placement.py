#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs of 8 GPUs, consolidated or on random GPUs, by model.

Four jobs of one model at a time (Gu et al., NSDI 2019, section 2.2)."""

import numpy as np
import pandas as pd

import style
from style import plt

SENSITIVE = ("vgg19", "vgg16", "vgg11", "alexnet")


def draw(paths, folder):
    frames = []
    with style.open_results(paths[0]) as f:
        for p in style.points(f).itertuples():
            run = f[f"runs/{p.run}"]
            done = style.jobs(run)
            models = [style.text(t) for t in run["dicts/model"][:]]
            done["model"] = [models[c] for c in done.model]
            done["placement"] = style.text(run.attrs["placement"])
            frames.append(done[["model", "placement", "jct_s"]])
    mean = pd.concat(frames).groupby(["model", "placement"]).jct_s.mean().unstack()
    if "consolidated" not in mean:
        raise style.BadInput(f"{paths[0]}: no run of consolidated to compare with")
    slow = mean.div(mean.consolidated, axis=0).drop(columns="consolidated")
    slow = slow.sort_values("random", ascending=False)

    fig, ax = plt.subplots(figsize=(style.PAGE, 2.2), layout="constrained")
    x = np.arange(len(slow))
    width = 0.8 / slow.shape[1]
    for i, placement in enumerate(slow.columns):
        bars = ax.bar(x + width * (i - (slow.shape[1] - 1) / 2), slow[placement], 0.92 * width,
                      label="Tiresias' rule" if placement == "tiresias" else placement)
        ax.bar_label(bars, fmt="%.2f", fontsize=6, padding=1)
    ax.axhline(1, color="black", linewidth=0.8)
    ax.set(ylabel="run time / consolidated", xticks=x, ylim=(0, None))
    ax.set_xticklabels(slow.index)
    ax.grid(axis="x", visible=False)
    ax.margins(y=0.12)
    ax.legend(loc="upper right")
    style.save(fig, folder, "tiresias_placement")
    for model, factor in slow.random.items():
        style.row(f"{model} on random GPUs: run time / consolidated", "slower" if model in SENSITIVE else "as fast",
                  f"{factor:.2f}")


if __name__ == "__main__":
    raise SystemExit(style.main(draw, __doc__))
