#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What three workloads use over time, with bursts and pauses, as published and as simulated.

Yang et al., POMACS 2022, section 3."""

import os

import numpy as np

import style
from driple_common import load
from results import open_hdf5, text
from style import plt

SPAN_S = 1.5
# Panels: column of the recording, resource in what was found in it, unit, how much of the file's one is that.
RESOURCES = [("gpu0.util_percent", "gpu", "GPU", "%", 1), ("gpu0.mem_util_percent", "gpu_mem", "GPU memory", "%", 1),
             ("net.job.rx_bytes", "net_rx", "received", "MB/s", 1e-6), ("net.job.tx_bytes", "net_tx", "sent", "MB/s", 1e-6)]
# Workload: name, resource that the paper shows, its burst and pause (amount, seconds).
WORKLOADS = {"seq2seq_medium": ("NMT medium, Europarl, batch 32, asynchronous", "net_rx", (374.3, 0.33), (4.5, 0.70)),
             "densenet40_k12": ("DenseNet-40 k12, CIFAR-10, batch 512, synchronous", "gpu", (98.8, 0.19), (84.6, 0.21)),
             "inception3": ("Inception v3, ImageNet, batch 128, asynchronous", "gpu_mem", (54.4, 0.64), (16.8, 0.28))}


def series(path):
    """Time and value between readings, by column: levels as they are, counters as rates."""
    with open_hdf5(path, "dlsim-perf", "a recording") as f:
        names = [text(n) for n in f["columns"][:]]
        t, value, counter = f["time_ns"][:] * 1e-9, f["value"][:], f["kind"][:] == 1
        command = text(f.attrs["command"])
    rate = np.diff(value, axis=0) / np.diff(t)[:, None]
    return command, t, dict(zip(names, np.where(counter, rate, value[1:]).T))


def phases(cell):
    """'burst; pause' as the tables have it."""
    unit, *parts = cell
    return "; ".join(f"{amount:.1f} {unit}, {s:.2f} s" for amount, s in parts)


def draw(paths, folder):
    fig, axes = plt.subplots(len(RESOURCES), len(paths), figsize=(style.PAGE, 4.6), sharex=True, layout="constrained",
                             squeeze=False)
    lines = []
    for column, path in zip(axes.T, paths):
        command, t, value = series(path)
        name, shown, burst, pause = WORKLOADS.get(command.split("@")[0].split(" ")[0], (command, None, None, None))
        found = {r["resource"]: r for r in load(os.path.splitext(path)[0] + ".json", "dlsim perf analyze --json")["resources"]}
        for i, (ax, (key, resource, label, unit, scale)) in enumerate(zip(column, RESOURCES)):
            x, r = value[key] * scale, found[resource]
            ax.stairs(x, t, baseline=None, color=style.COLOURS[i], linewidth=0.8)
            bursts = (value[key] > r["threshold"]) & (r["pattern"] == "BIB") | (r["pattern"] == "B")
            top = 105 if unit == "%" else 1.1 * max(x.max(), 1)
            ax.stairs(np.where(bursts, top, 0), t, fill=True, color=style.COLOURS[i], alpha=0.15, linewidth=0)
            ax.set(xlim=(0, SPAN_S), ylim=(0, top))
            if resource == shown:
                lines = [ax.axhline(amount, color="black", linestyle=line, linewidth=0.9, label=f"published {what}")
                         for (amount, _), line, what in ((burst, "--", "burst"), (pause, ":", "pause"))]
                style.row(f"{name}: {label}, burst; pause", phases((unit, burst, pause)),
                          phases((unit, (scale * r["burst_amount"], r["burst_s"]), (scale * r["idle_amount"], r["idle_s"]))))
            if ax in axes[:, 0]:
                ax.set_ylabel(f"{label} ({unit})")
        column[0].set_title(name.replace(", ", "\n", 1), fontsize=7)
        column[-1].set_xlabel("time (s)")
    if lines:
        fig.legend(handles=lines, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    fig.align_ylabels(axes[:, 0])
    style.save(fig, folder, "driple_series")


if __name__ == "__main__":
    raise SystemExit(style.main(draw, __doc__, "recordings, with what 'dlsim perf analyze --json' finds beside them"))
