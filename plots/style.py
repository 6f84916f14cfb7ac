# SPDX-License-Identifier: GPL-3.0-or-later
"""What all figures share: look, reading of results, writing of pictures and of rows for docs/figures.md."""

import argparse
import os
import sys

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402

# Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999"]
COLUMN = 3.4  # inches: one column of a two-column page
PAGE = 7.0

matplotlib.rcParams.update({
    "figure.dpi": 100,
    "savefig.dpi": 150,
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.linewidth": 0.4,
    "grid.color": "#dddddd",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": matplotlib.cycler(color=COLOURS),
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "svg.hashsalt": "dlsim",  # the same figure gives the same bytes
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
})


class BadInput(Exception):
    """A file that is not what the figure needs; the text is for its user."""


def text(value):
    return value.decode("utf-8") if isinstance(value, bytes) else value


def open_results(path):
    try:
        f = h5py.File(path, "r")
    except OSError as e:
        raise BadInput(f"{path}: cannot be read as HDF5 ({e})") from None
    if text(f.attrs.get("format", "")) != "dlsim-results":
        raise BadInput(f"{path}: not a results file of dlsim")
    return f


def columns(group):
    """A group of equally long datasets as a DataFrame; texts decoded."""
    return pd.DataFrame({k: d.asstr()[:] if d.dtype.kind in "SO" else d[:] for k, d in group.items()
                         if isinstance(d, h5py.Dataset)})


def points(f):
    """The table of points of a merged sweep, finished points only."""
    if "points" not in f:
        raise BadInput(f"{f.filename}: not a merged sweep (no table of points)")
    table = columns(f["points"])
    done = table[table.state == "finished"]
    if done.empty:
        raise BadInput(f"{f.filename}: no finished point")
    return done.reset_index(drop=True)


def jobs(run):
    """The jobs of a run that finished, with jct_s and queue_s."""
    table = columns(run["jobs"])
    done = table[table.state == 3].copy()
    if done.empty:
        raise BadInput(f"{run.name}: no finished job")
    done["jct_s"] = (done.end_us - done.submit_us) / 1e6
    done["queue_s"] = done.pending_us / 1e6
    return done


def cdf(ax, values, **kw):
    """Cumulative distribution as a step line through at most 1,000 quantiles."""
    q = np.linspace(0, 1, min(len(values), 1000))
    ax.plot(np.quantile(values, q), q, **kw)


def save(fig, folder, name):
    """Write name.pdf, .svg and .png without dates, so that equal figures are equal files."""
    os.makedirs(folder, exist_ok=True)
    for ending, metadata in (("pdf", {"CreationDate": None, "ModDate": None}), ("svg", {"Date": None}),
                             ("png", {"Software": None})):
        fig.savefig(os.path.join(folder, f"{name}.{ending}"), bbox_inches="tight", metadata=metadata)
    plt.close(fig)


def row(what, published, ours):
    """A line of the table that docs/figures.md holds."""
    print(f"| {what} | {published} | {ours} |")


def main(draw, description, inputs="results of the figure's sweep"):
    """Command line of every figure: FILE... -o FOLDER. draw(paths, folder)."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("files", nargs="+", metavar="FILE", help=inputs)
    parser.add_argument("-o", "--output", default=".", metavar="FOLDER", help="where the pictures go (.)")
    args = parser.parse_args()
    try:
        draw(args.files, args.output)
    except (BadInput, OSError, KeyError) as e:
        what = f"missing {e}" if isinstance(e, KeyError) else e
        print(f"{os.path.basename(sys.argv[0])}: {what}", file=sys.stderr)
        return 1
    return 0
