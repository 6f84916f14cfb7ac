#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The three case studies and what is asked about them: the shipped inspector against the simulated truth.

Yang et al., POMACS 2022, section 5."""

import numpy as np

import style
from driple_common import load
from results import BadInput
from style import plt

# Percentage error that the paper has on average over its three cases.
RESOURCES = {"gpu_": ("GPU", 11), "gpu_mem_": ("GPU memory", 9), "net_tx_": ("sent", 17), "net_rx_": ("received", 15)}
METRICS = ("idle", "active", "peak")
# What the paper asks: question, metric shown, what it finds.
ASKED = {"on RTX2080TI": ("gpu_active", "gpu_idle", "longer burst, shorter pause"),
         "one more parameter server": ("net_tx_peak", "net_tx_idle", "higher burst, shorter pause"),
         "twice the batch": ("gpu_active", "gpu_idle", "-")}
WORDS = {"gpu_active": "GPU burst", "gpu_idle": "GPU pause", "net_tx_peak": "sending, height",
         "net_tx_idle": "sending, pause"}


def answers(path):
    """(model, {question: metrics})"""
    found = load(path, "dlsim predict --whatif --json")
    try:
        return found["model"], {a["what"]: a for a in found["answers"]}
    except (KeyError, TypeError):
        raise BadInput(f"{path}: not the output of 'dlsim predict --whatif --json'") from None


def percent(predicted, truth, resource):
    """Mean percentage error of a resource's metrics, of those that are not 0."""
    errors = [abs(predicted[resource + m] / truth[resource + m] - 1) for m in METRICS if truth[resource + m] > 0]
    return 100 * np.mean(errors)


def draw(paths, folder):
    pairs = [(answers(p), answers(p.replace("-driple.json", "-operator.json"))) for p in paths]
    *cases, server = pairs
    error = {model: [percent(p["as asked"], t["as asked"], r) for r in RESOURCES] for (model, p), (_, t) in cases}

    fig = plt.figure(figsize=(style.PAGE, 4.2), layout="constrained")
    grid = fig.add_gridspec(2, len(ASKED))
    axes = [fig.add_subplot(grid[0, :]), *(fig.add_subplot(grid[1, i]) for i in range(len(ASKED)))]
    x = np.arange(len(RESOURCES))
    for i, (model, values) in enumerate(error.items()):
        axes[0].bar(x + 0.26 * (i - 1), values, 0.24, label=model)
    for at, (_, published) in zip(x, RESOURCES.values()):
        axes[0].plot([at - 0.4, at + 0.4], [published] * 2, "k--", linewidth=1,
                     label="published, mean of the cases" if at == 0 else None)
    axes[0].set(ylabel="error of metrics (%)")
    axes[0].set_xticks(x, [name for name, _ in RESOURCES.values()])
    axes[0].legend()
    for i, (name, published) in enumerate(RESOURCES.values()):
        ours = [values[i] for values in error.values()]
        style.row(f"percentage error of {name}, mean of three cases", published,
                  f"{np.mean(ours):.0f} ({', '.join(f'{v:.0f}' for v in ours)})")
    for ax, (what, (*metrics, published)) in zip(axes[1:], ASKED.items()):
        (model, predicted), (_, truth) = server if what == "one more parameter server" else cases[0]
        change = {who: [100 * (a[what][m] / a["as asked"][m] - 1) for m in metrics]
                  for who, a in (("inspector", predicted), ("simulated", truth))}
        for k, (who, values) in enumerate(change.items()):
            ax.bar(np.arange(2) + 0.38 * (k - 0.5), values, 0.36, color=style.COLOURS[(4, 5)[k]], label=who)
        ax.axhline(0, color="black", linewidth=0.8)
        ax.set_title(f"{model}, {what}")
        ax.set_xticks(np.arange(2), [WORDS[m] for m in metrics])
        style.row(f"{model}, {what}: {' and '.join(WORDS[m] for m in metrics)}, inspector; simulated",
                  published, "; ".join(", ".join(f"{v:+.0f} %" for v in values) for values in change.values()))
    axes[1].set_ylabel("change (%)")
    axes[2].legend(loc="upper right")
    for ax in axes:
        ax.grid(axis="x", visible=False)
    style.save(fig, folder, "driple_cases")


if __name__ == "__main__":
    raise SystemExit(style.main(draw, __doc__, "answers of the inspector; those of the operator model lie beside them"))
