#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Predicted against measured time of a training step, by model and GPU.

The question of DeletePop (He et al., ICA3PP 2023), asked of the operator model and its 368 published
measurements."""

import numpy as np
import pandas as pd

import style
from results import BadInput, markdown
from style import plt

FAMILIES = {"resnet": "ResNet", "vgg": "VGG", "alexnet": "AlexNet", "inception": "Inception", "bert": "BERT"}


def points(path):
    table = next((t for t in markdown(path) if "measured ms" in t), None)
    if table is None:
        raise BadInput(f"{path}: no table of points ('dlsim operators validate --points')")
    for column in ("measured ms", "predicted ms"):
        table[column] = table[column].astype(float)
    table["error"] = (table["predicted ms"] / table["measured ms"] - 1).abs()
    table["family"] = [next((v for k, v in FAMILIES.items() if m.startswith(k)), "others") for m in table.model]
    return table


def draw(paths, folder):
    table = points(paths[0])
    judged = table[table.role == "judge"]
    fig, (left, right) = plt.subplots(1, 2, figsize=(style.PAGE, 3.0), layout="constrained", width_ratios=(1, 1.15))
    for i, (family, t) in enumerate(sorted(judged.groupby("family"))):
        left.scatter(t["measured ms"], t["predicted ms"], s=9, label=family, color=style.COLOURS[i], linewidth=0)
    ends = np.array([table["measured ms"].min() / 1.3, table["measured ms"].max() * 1.3])
    left.plot(ends, ends, color="black", linewidth=0.8)
    left.fill_between(ends, 0.9 * ends, 1.1 * ends, color="#bbbbbb", alpha=0.4, linewidth=0, label="within 10 %")
    left.set(xscale="log", yscale="log", xlabel="measured (ms)", ylabel="predicted (ms)", xlim=ends, ylim=ends)
    left.legend(loc="upper left", handletextpad=0.3)

    grid = 100 * judged.pivot_table(index="family", columns="GPU", values="error", aggfunc="mean")
    image = right.imshow(grid, cmap="YlOrRd", vmin=0, vmax=30, aspect="auto")
    for (y, x), v in np.ndenumerate(grid.to_numpy()):
        if np.isfinite(v):
            right.text(x, y, f"{v:.0f}", ha="center", va="center", fontsize=7, color="white" if v > 18 else "black")
    right.set(xticks=np.arange(grid.shape[1]), yticks=np.arange(grid.shape[0]))
    right.set_xticklabels(grid.columns, rotation=40, ha="right", rotation_mode="anchor")
    right.set_yticklabels(grid.index)
    right.grid(visible=False)
    fig.colorbar(image, ax=right, label="mean error of judged points (%)", extend="max")
    style.save(fig, folder, "deletepop")

    single = judged.GPUs.astype(int) == 1
    for what, t in (("one GPU", judged[single]), ("several GPUs", judged[~single]), ("all", judged)):
        style.row(f"accuracy of step times, {what} (1 - mean error of {len(t)} judged points)", "up to 90 %",
                  f"{100 * (1 - t.error.mean()):.1f} %")


if __name__ == "__main__":
    raise SystemExit(style.main(draw, __doc__, "output of 'dlsim operators validate --points'"))
