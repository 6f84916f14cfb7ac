# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading of results files (docs/results.md), for figures and reports. Only figures have tables of pandas: to import it is
a third of what a report takes."""

import argparse
import contextlib
import os
import sys
import tempfile

import h5py
import numpy as np


class BadInput(Exception):
    """A file that is not what is needed; the text is for its user."""


def text(value):
    return value.decode("utf-8") if isinstance(value, bytes) else value


def open_hdf5(path, kind, what):
    """An HDF5 file whose attribute `format` is `kind`."""
    if not os.path.exists(path):
        raise BadInput(f"{path}: no such file")
    try:
        f = h5py.File(path, "r")
    except OSError as e:
        raise BadInput(f"{path}: cannot be read as HDF5 ({e})") from None
    if text(f.attrs.get("format", "")) != kind:
        f.close()
        raise BadInput(f"{path}: not {what}")
    return f


def open_results(path):
    return open_hdf5(path, "dlsim-results", "a results file of dlsim")


def arrays(group):
    """A group of equally long datasets as arrays by name; texts decoded."""
    columns = ((k, group[k]) for k in group)  # not items(): that leaves out what cannot be opened
    read = {k: d.asstr()[:] if d.dtype.kind in "SO" else d[:] for k, d in columns if isinstance(d, h5py.Dataset)}
    if len({len(column) for column in read.values()}) > 1:
        raise BadInput(f"{group.file.filename}: {group.name}: columns of different lengths")
    return read


def columns(group):
    """The same as a DataFrame."""
    import pandas as pd

    return pd.DataFrame(arrays(group))


def attribute(group, key, kind=str):
    """An attribute of a run or of its summary: a text, or a finite number of this kind."""
    value = group.attrs.get(key)
    try:
        value = text(value)
    except UnicodeDecodeError:
        pass
    if not isinstance(value, kind) or kind is not str and not np.isfinite(value):
        raise BadInput(f"{group.file.filename}: {group.name}: the attribute '{key}' is {'missing' if value is None else repr(value)}")
    return value


def rows(run, name, fields):
    """A table of a run whose rows have these fields."""
    if name not in run or not set(fields) <= set(run[name].dtype.names or ()):
        raise BadInput(f"{run.file.filename}: {run.name}/{name}: no table with the fields {', '.join(fields)}")
    return run[name][:]


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
    """The jobs of a run that finished, one at least, with jct_s and queue_s."""
    table = columns(run["jobs"])
    done = table[table.state == 3].copy()
    if done.empty:
        raise BadInput(f"{run.file.filename}: {run.name}: no finished job")
    done["jct_s"] = (done.end_us - done.submit_us) / 1e6
    done["queue_s"] = done.pending_us / 1e6
    return done


def averaged(series, column, edges_us):
    """Time average of a piecewise constant column in each interval between two edges; its last row holds on."""
    t = np.asarray(series["t_us"])
    t = np.append(t, max(t[-1], edges_us[-1]))
    area = np.concatenate([[0], np.cumsum(np.asarray(series[column], float) * np.diff(t))])
    return np.diff(np.interp(edges_us, t, area)) / np.diff(edges_us)


def markdown(path):
    """The tables of a text in Markdown, as DataFrames of texts."""
    import pandas as pd

    try:
        with open(path, encoding="utf-8") as f:
            lines = [[c.strip() for c in line.strip().strip("|").split("|")] if line.startswith("|") else None
                     for line in f]
    except UnicodeDecodeError:
        raise BadInput(f"{path}: not a text") from None
    tables, rows = [], []
    for cells in [*lines, None]:
        if cells is not None:
            rows.append(cells)
        elif len(rows) > 2:
            tables.append(pd.DataFrame(rows[2:], columns=rows[0]))
            rows = []
    if not tables:
        raise BadInput(f"{path}: no table")
    return tables


@contextlib.contextmanager
def whole(path):
    """The name of a file that takes the place of `path` when all of it is on the disk, and else goes away."""
    handle, part = tempfile.mkstemp(prefix=f".{os.path.basename(path)}.", dir=os.path.dirname(path) or ".")
    os.close(handle)
    try:
        yield part
        with open(part, "rb") as f:
            os.fsync(f.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(part, 0o666 & ~mask)
        os.replace(part, path)
    except BaseException as e:
        os.unlink(part)
        if isinstance(e, OSError) and not e.filename:
            raise OSError(e.errno, e.strerror, path) from None
        raise


def attempt(who, work):
    """Exit code of work(), which is told in one line if it goes wrong."""
    try:
        work()
        return 0
    except BadInput as e:
        print(f"{who}: {e}", file=sys.stderr)
        return 4
    except KeyError as e:
        print(f"{who}: missing in the file: {e.args[0]}", file=sys.stderr)
        return 4
    except AttributeError as e:  # table.column
        if type(e.obj).__name__ != "DataFrame":
            raise
        print(f"{who}: missing in the file: the column '{e.name}'", file=sys.stderr)
        return 4
    except OSError as e:
        print(f"{who}: {e}", file=sys.stderr)
        return 5
    except MemoryError:
        print(f"{who}: out of memory", file=sys.stderr)
        return 1


def command(work, parser):
    """Parse the command line and attempt work(arguments)."""
    arguments = parser.parse_args()
    return attempt(parser.prog, lambda: work(arguments))


def parser(description):
    name = os.environ.get("DLSIM_COMMAND", os.path.basename(sys.argv[0]))
    return argparse.ArgumentParser(prog=name, description=description)
