# SPDX-License-Identifier: GPL-3.0-or-later
"""A picture of every job on every GPU, and of how many wait, of one run or a few above each other: what a report
shows, without a browser."""

import os

import numpy as np

import report
import results
import style
from results import BadInput, arrays, averaged

MAX_RUNS = 4
ACROSS, DOWN = 1200, 256  # cells of a run at most
JOBS = style.COLOURS[:6] + ["#8C564B", "#9467BD", "#BCBD22"]
RESTORING = "#222222"


def cells(found, n_lanes, since, until):
    """Colours [lanes, ACROSS, 3]: who is on a GPU at a time; white: nobody."""
    column = ACROSS / (until - since)
    step = -(-n_lanes // DOWN)
    some = found[found.lane % step == 0]
    shade = np.array([[int(c[i:i + 2], 16) for i in (1, 3, 5)] for c in [*JOBS, RESTORING]], np.uint8)
    grid = np.full((-(-n_lanes // step), ACROSS, 3), 255, np.uint8)
    first = np.floor((some.start - since) * column).astype(int)
    last = np.maximum(first + 1, np.round((some.end - since) * column).astype(int))
    kind = np.where(some.rate > 0, some.job % len(JOBS), len(JOBS))
    for lane, a, b, k in zip(some.lane // step, first, last, kind):
        grid[lane, a:b] = shade[k]
    return grid


def draw_run(axes, run, name, since, until, unit):
    gpus, waiting = axes
    known, why = report.stretches(run, until)
    if not known:
        raise BadInput(f"{run.file.filename}: {why}")
    found, n_lanes, _, _ = known
    part = run["summary/parts"][0]
    gpus.imshow(cells(found, n_lanes, since, until), aspect="auto", extent=(since / unit[1], until / unit[1], n_lanes, 0),
                interpolation="nearest")
    gpus.set_title(f"{name}: jobs take {report.duration(part['jct_mean_s'])} on average, "
                   f"{report.duration(part['queue_mean_s'])} of it waiting" if part["completed"] else f"{name}: no job finished", loc="left")
    gpus.set_ylabel("GPU")
    gpus.grid(False)
    if "series" in run:
        series = arrays(run["series/cluster"])
        edges = np.linspace(report.start_of(run) * 1e6, report.end_of(run) * 1e6, report.SERIES_POINTS + 1)
        waiting.fill_between((edges[:-1] + edges[1:]) / 2e6 / unit[1], averaged(series, "pending_jobs", edges),
                             color=style.COLOURS[1], linewidth=0)
    waiting.set_ylabel("waiting")
    waiting.yaxis.set_major_locator(style.plt.MaxNLocator("auto", integer=True))
    waiting.set_xlim(since / unit[1], until / unit[1])


def picture(paths, output, wanted):
    runs = report.gather(paths, wanted)
    if len(runs) > MAX_RUNS:
        raise BadInput(f"{len(runs)} runs are too many for one picture; --run=NAME picks up to {MAX_RUNS}")
    since, until = min(report.start_of(r) for r, _ in runs), max(report.end_of(r) for r, _ in runs)
    unit = ("days", 86400) if until > 3 * 86400 else ("hours", 3600) if until > 3 * 3600 else ("s", 1)
    fig, axes = style.plt.subplots(2 * len(runs), 1, sharex=True, figsize=(style.PAGE, 2.4 * len(runs)), squeeze=False,
                                   gridspec_kw={"height_ratios": [5, 1.3] * len(runs)}, layout="constrained")
    axes = axes[:, 0]
    for i, (run, name) in enumerate(runs):
        draw_run(axes[2 * i:2 * i + 2], run, name, since, until, unit)
    most = max(1, *(ax.get_ylim()[1] for ax in axes[1::2]))  # also where nobody waits
    for ax in axes[1::2]:
        ax.set_ylim(0, most)
    axes[-1].set_xlabel(f"time ({unit[0]}); a colour is a job, white is idle, black is restoring")
    folder, name = os.path.split(output)
    base, ending = os.path.splitext(name)
    if folder and not os.path.isdir(folder):
        raise FileNotFoundError(f"{folder}: no such folder")
    style.ENDINGS = (ending[1:],)
    style.save(fig, folder or ".", base)


if __name__ == "__main__":
    raise SystemExit(results.command(lambda a: picture(a.files, a.output, a.run), report.parser(__doc__)))
