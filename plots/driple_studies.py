#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error of inspectors by grouping, convolution, layers and readout.

Yang et al., POMACS 2022, section 5.2: one choice at a time is changed."""

import os

import numpy as np

import style
from driple_common import errors
from style import plt

# Study: title, what the base has, what the paper finds.
STUDIES = {"grouping": ("groups", "16", "grouping better than none"),
           "conv": ("convolution", "gcn", "gcn best of gcn, gin, mpnn, gat"),
           "depth": ("layers (N groups)", "Nover2", "N/2 best"), "pool": ("readout", "set2set", "set2set best")}


def draw(paths, folder):
    base, results = None, {}
    for path in paths:
        words = os.path.splitext(os.path.basename(path))[0].split("-")
        nrmse = errors(path)["inspector"]["nrmse"]
        if words[0] == "base":
            base = nrmse
        else:
            results.setdefault(words[1], {})[words[2]] = nrmse
    if base is None or not results:
        raise style.BadInput(f"{paths[0]}: base.json and study-*.json are wanted")
    shown = [s for s in STUDIES if s in results]
    fig, axes = plt.subplots(1, len(shown), figsize=(style.PAGE, 2.2), sharey=True, layout="constrained",
                             squeeze=False, width_ratios=[1 + len(results[s]) for s in shown])
    top = min(4 * base, 1.2 * max(max(results[s].values()) for s in shown))
    for ax, study in zip(axes[0], shown):
        title, usual, published = STUDIES[study]
        values = {usual: base, **results[study]}
        ax.bar(np.arange(len(values)), values.values(), 0.7,
               color=[style.COLOURS[1 if n == usual else 0] for n in values])
        for x, v in enumerate(values.values()):  # on bars that go through the top, below it
            ax.text(x, min(v, 0.94 * top), f"{v:.3g}", ha="center", va="bottom", fontsize=6,
                    color="white" if v > 0.94 * top else "black")
        ax.set_title(title)
        ax.set_xticks(np.arange(len(values)), [n.replace("over", "/") for n in values], rotation=40, ha="right",
                      rotation_mode="anchor")
        ax.grid(axis="x", visible=False)
        ax.set_ylim(0, top)
        style.row(f"NRMSE by {title}", published, ", ".join(f"{n} {v:.3f}" for n, v in values.items()))
    axes[0][0].set_ylabel("NRMSE")
    style.save(fig, folder, "driple_studies")


if __name__ == "__main__":
    raise SystemExit(style.main(draw, __doc__, "errors: base.json, study-*.json"))
