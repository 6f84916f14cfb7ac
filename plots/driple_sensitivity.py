#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How bursts and pauses depend on the workload and on the setting.

Yang et al., POMACS 2022, section 3: 14 settings, labels simulated here."""

import numpy as np
import pandas as pd
from matplotlib.cbook import boxplot_stats
from matplotlib.collections import PolyCollection

import style
from results import open_hdf5, text
from style import plt

# Columns of a label (docs/dataset-files.md).
METRICS = {"GPU pause (s)": 3, "GPU burst (s)": 4, "GPU burst (%)": 5,
           "received, pause (s)": 6, "received, burst (s)": 7, "received, burst (GB/s)": 8}
SCALE = {"GPU burst (%)": 100, "received, burst (GB/s)": 1e-9}
SETTING = "V100-P1w2-ho-PCIe"
MODEL = "resnet56"  # of the published study; else the model with most graphs


def labels(f):
    """A row per (setting, graph): model, family, setting, metrics."""
    model, family = ([text(t) for t in f[f"graphs/{c}"][:]] for c in ("model", "family"))
    rows = []
    for name in (text(t) for t in f["setting_names"][:]):
        group = f[f"settings/{name}"]
        for graph, label in zip(group["graph"][:], group["label"][:]):
            rows.append([name, model[graph], family[graph], *(label[c] for c in METRICS.values())])
    table = pd.DataFrame(rows, columns=["setting", "model", "family", *METRICS])
    for metric, factor in SCALE.items():
        table[metric] *= factor
    return table


def boxes(axes, groups, colour):
    """A column per metric, a line per group: median, quartiles, and the last values within 1.5 of the box's length.

    All boxes of a column are drawn at once, since an artist for each line of each takes most of the figure's time."""
    y, thin = np.arange(1, len(groups) + 1), {"color": "black", "linewidth": 0.5}
    for ax, metric in zip(axes, METRICS):
        values = [t[metric].to_numpy(float) for _, t in groups]
        ends = [[b[k] for b in boxplot_stats(values)] for k in ("whislo", "q1", "med", "q3", "whishi")]
        low, first, middle, third, high = map(np.array, ends)
        if "(s)" in metric and min(v.min() for v in values) > 0:
            ax.set_xscale("log")
        corners = np.stack([np.stack(c, -1) for c in ((first, y - 0.3), (third, y - 0.3), (third, y + 0.3),
                                                      (first, y + 0.3))], 1)
        ax.add_collection(PolyCollection(corners, facecolor=colour, edgecolor="black", alpha=0.5, linewidth=0.5))
        ax.hlines([*y, *y], [*low, *third], [*first, *high], **thin)
        ax.vlines([*low, *high], [*y - 0.15, *y - 0.15], [*y + 0.15, *y + 0.15], **thin)
        ax.vlines(middle, y - 0.3, y + 0.3, color="black", linewidth=1)
        ax.set_ylim(0.5, len(groups) + 0.5)
        ax.set_yticks(y, [n for n, _ in groups], fontsize=6)
        ax.tick_params(axis="x", labelsize=6)
        ax.grid(axis="y", visible=False)


def spread(table, by, metric):
    """Mean over the groups of the standard deviation over the mean."""
    g = table.groupby(by)[metric]
    return (g.std() / g.mean()).mean()


def draw(paths, folder):
    with open_hdf5(paths[0], "dlsim-dataset", "a dataset of dlsim") as f:
        table = labels(f)
    settings = list(dict.fromkeys(table.setting))
    setting = SETTING if SETTING in settings else settings[0]
    models = table.model.value_counts()
    model = next((m for m in models.index if m.startswith(MODEL)), models.index[0])
    fig, axes = plt.subplots(2, len(METRICS), figsize=(style.PAGE, 4.6), sharey="row", layout="constrained")
    boxes(axes[0], list(table[table.setting == setting].groupby("family")), style.COLOURS[0])
    boxes(axes[1], [(s, table[(table.setting == s) & (table.model == model)]) for s in settings], style.COLOURS[1])
    for row in axes:
        row[0].invert_yaxis()  # shared by the row
    for ax, metric in zip(axes[0], METRICS):
        ax.set_title(metric.replace(", ", "\n").replace("GPU ", "GPU\n"), pad=3)
    axes[0][0].set_ylabel(f"families of models\nin {setting}")
    axes[1][0].set_ylabel(f"{model} in each setting")
    style.save(fig, folder, "driple_sensitivity")
    for metric, of_workload, of_setting in (("GPU burst (%)", "most", "-"), ("GPU burst (s)", "-", "changes"),
                                            ("GPU pause (s)", "-", "changes"),
                                            ("received, burst (GB/s)", "most", "-")):
        style.row(f"{metric}: spread over mean among workloads; among settings", f"{of_workload}; {of_setting}",
                  f"{spread(table, 'setting', metric):.2f}; {spread(table, 'model', metric):.2f}")


if __name__ == "__main__":
    raise SystemExit(style.main(draw, __doc__, "a dataset"))
