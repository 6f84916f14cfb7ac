#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error of inspectors by grouping, convolution, layers and readout.

Yang et al., POMACS 2022, section 5.2: one choice at a time is changed."""

import os

import numpy as np

import style
from driple_common import errors
from style import plt

# Study: title, its value in the base (None: none of them), what the paper finds.
STUDIES = {"grouping": ("grouping, 8 layers", None, "proportional -46 %, uniform -12 % against none"),
           "groups": ("groups", "16", "-"),
           "conv": ("convolution", "gcn", "gcn best of gcn, gin, mpnn, gat"),
           "depth": ("layers (N groups)", "Nover2", "N/2 best"), "pool": ("readout", "set2set", "set2set best")}
WORDS = {"mpnnmean": "mpnn by mean"}


def draw(paths, folder):
    base, results = [], {}
    for path in paths:
        words = os.path.splitext(os.path.basename(path))[0].split("-")
        nrmse = errors(path)["inspector"]["nrmse"]
        nrmse = float("inf") if nrmse is None else nrmse
        if words[0] == "base":
            base.append(nrmse)
        else:
            results.setdefault(words[1], {}).setdefault(words[2], []).append(nrmse)
    if not base or not results:
        raise style.BadInput(f"{paths[0]}: base-*.json and study-*.json are wanted")
    shown = [s for s in STUDIES if s in results]
    for s in shown:
        if STUDIES[s][1]:
            results[s] = {STUDIES[s][1]: base, **results[s]}
    fig, axes = plt.subplots(1, len(shown), figsize=(style.PAGE, 2.4), sharey=True, layout="constrained",
                             squeeze=False, width_ratios=[0.5 + len(results[s]) for s in shown])
    highest = max(max(max(v) for v in results[s].values()) for s in shown)
    top = min(4 * np.mean(base), 1.2 * highest)
    for ax, study in zip(axes[0], shown):
        title, usual, published = STUDIES[study]
        values = results[study]
        mean = [np.mean(v) for v in values.values()]
        ax.bar(np.arange(len(values)), np.minimum(mean, 2 * top), 0.7, color=[style.COLOURS[1 if n == usual else 0] for n in values])
        for x, (v, m) in enumerate(zip(values.values(), mean)):  # on bars that go through the top, below it
            ax.plot([x] * len(v), np.minimum(v, 2 * top), "k_", markersize=5, markeredgewidth=0.7)
            ax.text(x, min(max(v) + 0.01 * top, 0.93 * top), f"{m:.2g}" if m < 1e3 else ">1e3", ha="center", va="bottom", fontsize=6,
                    color="white" if max(v) > 0.92 * top else "black")
        ax.set_title(title)
        ax.set_xticks(np.arange(len(values)), [WORDS.get(n, n).replace("over", "/") for n in values], rotation=40,
                      ha="right", rotation_mode="anchor")
        ax.grid(axis="x", visible=False)
        ax.set_ylim(0, top)
        style.row(f"NRMSE by {title}: mean (lowest to highest of the seeds)", published, ", ".join(
            f"{WORDS.get(n, n)} {np.mean(v):.3g}" + (f" ({min(v):.3g} to {max(v):.3g})" if len(v) > 1 else "")
            for n, v in values.items()))
    axes[0][0].set_ylabel("NRMSE")
    style.save(fig, folder, "driple_studies")


if __name__ == "__main__":
    raise SystemExit(style.main(draw, __doc__, "errors: base-SEED.json, study-STUDY-VALUE-SEED.json"))
