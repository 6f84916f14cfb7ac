# SPDX-License-Identifier: GPL-3.0-or-later
"""What all figures share: look, writing of pictures and of rows for docs/figures.md."""

import os

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

import results  # noqa: E402
from results import BadInput, columns, jobs, open_results, points, text  # noqa: E402, F401

# Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999"]
COLUMN = 3.4  # inches: one column of a two-column page
PAGE = 7.0
ENDINGS = ("pdf", "svg", "png")

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


def cdf(ax, values, **kw):
    """Cumulative distribution as a step line through at most 1,000 quantiles."""
    q = np.linspace(0, 1, min(len(values), 1000))
    ax.plot(np.quantile(values, q), q, **kw)


def save(fig, folder, name):
    """Write the picture without dates, so that equal figures are equal files."""
    metadata = {"pdf": {"CreationDate": None, "ModDate": None}, "svg": {"Date": None}, "png": {"Software": None}}
    os.makedirs(folder, exist_ok=True)
    # Laid out and measured once: saving would do both for every file, and the layout not quite the same.
    fig.get_layout_engine().execute(fig)
    fig.set_layout_engine(None)
    box = fig.get_tightbbox().padded(matplotlib.rcParams["savefig.pad_inches"])
    for ending in ENDINGS:
        with results.whole(os.path.join(folder, f"{name}.{ending}")) as part:
            fig.savefig(part, format=ending, bbox_inches=box, metadata=metadata[ending])
    plt.close(fig)


T95 = {2: 12.71, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}


def student(n):
    """The 97.5 % quantile of Student's t of n > 1 values; beyond ten by its expansion in 1 / (n - 1) (Abramowitz and
    Stegun, 26.7.5), to 0.003."""
    z = 1.959964
    return T95.get(n) or z + (z**3 + z) / 4 / (n - 1) + (5 * z**5 + 16 * z**3 + 3 * z) / 96 / (n - 1)**2


def interval(values):
    """Half of a 95 % confidence interval of the mean, from Student's t; 0 of a single value."""
    n = len(values)
    return student(n) * np.std(np.asarray(values), ddof=1) / np.sqrt(n) if n > 1 else 0.0


def row(what, published, ours):
    """A line of the table that docs/figures.md holds."""
    print(f"| {what} | {published} | {ours} |")


def main(draw, description, inputs="results of the figure's sweep"):
    """Command line of every figure: FILE... -o FOLDER. draw(paths, folder)."""
    parser = results.parser(description)
    parser.add_argument("files", nargs="+", metavar="FILE", help=inputs)
    parser.add_argument("-o", "--output", default=".", metavar="FOLDER", help="where the pictures go (.)")
    return results.command(lambda a: draw(a.files, a.output), parser)
