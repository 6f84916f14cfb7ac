#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bursts and pauses of three workloads, as published and as simulated.

Yang et al., POMACS 2022, section 3."""

import re

import numpy as np

import style
from results import BadInput, markdown
from style import plt

SPAN_S = 3.0
VALUES = re.compile(r"([\d.]+) (\S+), ([\d.]+) s; ([\d.]+) (\S+), ([\d.]+) s")


def wave(cell):
    """Times, values and unit of bursts and pauses by turns, from 'BURST UNIT, s; PAUSE UNIT, s'."""
    m = VALUES.fullmatch(cell)
    if m is None:
        raise BadInput(f"not a burst and a pause: {cell}")
    burst, burst_s, pause, pause_s = (float(m[i]) for i in (1, 3, 4, 6))
    edges, values = [0.0], []
    if pause_s == 0:  # a burst without an end, not bursts side by side
        burst_s = SPAN_S
    while edges[-1] < SPAN_S:
        edges += [edges[-1] + burst_s, edges[-1] + burst_s + pause_s]
        values += [burst, pause]
    return np.array(edges), np.array(values), m[2]


def draw(paths, folder):
    table = next((t for t in markdown(paths[0]) if "fact" in t), None)
    workloads = None if table is None else table[table.published.str.contains(" s; ")]
    if workloads is None or workloads.empty:
        raise BadInput(f"{paths[0]}: no workloads ('dlsim dataset facts')")
    fig, axes = plt.subplots(len(workloads), 2, figsize=(style.PAGE, 1.3 * len(workloads) + 0.3), sharex=True,
                             layout="constrained", squeeze=False)
    for pair, w in zip(axes, workloads.itertuples()):
        # "NAME, DATA SET, batch N, MODE: RESOURCE, burst; pause"
        workload, resource = w.fact.split(": ")
        resource = resource.split(",")[0]
        for ax, cell, colour, what in zip(pair, (w.published, w.here), style.COLOURS, ("published", "simulated")):
            edges, values, unit = wave(cell)
            ax.stairs(values, edges, baseline=0, fill=True, color=colour, alpha=0.35)
            ax.stairs(values, edges, baseline=None, color=colour)
            ax.set(xlim=(0, SPAN_S), ylim=(0, 105 if unit == "%" else 1.1 * values.max()),
                   ylabel=f"{resource} ({unit})")
            ax.set_title(f"{workload} ({what})", fontsize=6.5, loc="left", pad=2)
        style.row(w.fact, w.published, w.here)
    for ax in axes[-1]:
        ax.set_xlabel("time (s)")
    style.save(fig, folder, "driple_series")


if __name__ == "__main__":
    raise SystemExit(style.main(draw, __doc__, "output of 'dlsim dataset facts'"))
