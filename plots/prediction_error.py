#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error of predictions against what placing by them gains.

The placement policy driple with an oracle whose answers carry a log-normal error, and with real predictors."""

import numpy as np

import style
from placement_common import gains
from style import interval, plt


def draw(paths, folder):
    table = gains(paths[0])
    others = {n: table.gain[table.placement == n].mean() for n in ("consolidated", "first-fit") if
              (table.placement == n).any()}
    table = table[table.placement == "driple"].copy()
    table["sigma"] = np.where(table.source == "noisy", table.sigma, "0").astype(float)
    noisy = table[table.source.isin(["oracle", "noisy"])]
    if noisy.empty:
        raise style.BadInput(f"{paths[0]}: no run of driple with the predictors oracle or noisy")
    curve = noisy.groupby("sigma").gain.agg(["mean", interval])
    fig, ax = plt.subplots(figsize=(style.COLUMN * 1.5, 2.6), layout="constrained")
    ax.errorbar(curve.index, curve["mean"], yerr=curve.interval, marker="o", markersize=3, capsize=2,
                label="driple, error of this size")
    real = table[~table.source.isin(["oracle", "noisy"])]
    for i, (source, t) in enumerate(real.groupby("source", sort=False)):
        source = "inspector" if source == "driple" else source
        ax.axhline(t.gain.mean(), color=style.COLOURS[i + 1], linestyle="--", label=f"driple, {source}")
        style.row(f"average JCT, random / driple with {source}", "-", f"{t.gain.mean():.2f} +- {interval(t.gain):.2f}")
    for i, (name, gain) in enumerate(others.items()):
        ax.axhline(gain, color="#777777", linestyle=":" if i else "-.", label=f"{name} (asks nobody)")
    ax.axhline(1, color="black", linewidth=0.8)
    ax.set(xlabel="standard deviation of the logarithm of the error", ylabel="average JCT, random / policy")
    ax.set_ylim(min(0.95, 0.98 * table.gain.min()), None)
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    style.save(fig, folder, "prediction_error")
    for sigma, c in curve.iterrows():
        style.row(f"average JCT, random / driple, error {sigma:g}", "-", f"{c['mean']:.2f} +- {c.interval:.2f}")


if __name__ == "__main__":
    raise SystemExit(style.main(draw, __doc__))
