# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters and traces from what Python has: files, names of shipped ones, dicts, tables."""

from __future__ import annotations

import copyreg
import itertools
import math
import os

from . import _dlsim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterator

    Path = str | os.PathLike[str]
    Cluster = Path | dict[str, Any]

_HERE = os.path.dirname(os.path.abspath(__file__))


def data_folder() -> str:
    """Where configs/, traces/samples/ and predictor/inspectors/ lie: in the package, or in the source
    around a build folder."""
    folder = os.path.join(_HERE, "share", "dlsim")
    up = _HERE
    for _ in range(5):
        if os.path.isdir(os.path.join(folder, "configs")):
            return folder
        up = os.path.dirname(up)
        folder = up
    raise FileNotFoundError("the data of dlsim is not installed beside the package")


def _shipped(what: str, ending: str) -> dict[str, str]:
    folder = os.path.join(data_folder(), what)
    return {
        name[: -len(ending)]: os.path.join(folder, name)
        for name in sorted(os.listdir(folder))
        if name.endswith(ending)
    }


def shipped() -> dict[str, dict[str, str]]:
    """Names and paths of what comes with the package: {"clusters": {...}, "traces": {...}}."""
    return {"clusters": _shipped("configs", ".cfg"), "traces": _shipped("traces/samples", ".csv")}


def is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def plain(value: Any) -> Any:
    """A value as Python has it: NumPy's numbers and arrays as numbers and lists."""
    return value.tolist() if hasattr(value, "tolist") else value


def _text(value: Any) -> str:
    """A value in the configuration's language (docs/config.md)."""
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value}L" if abs(value) >= 1 << 31 else str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"a configuration has no number {value}")
        return repr(value)
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, dict):
        return "{ " + " ".join(_members(value)) + " }"
    if isinstance(value, (list, tuple)):
        return "( " + ", ".join(map(_text, value)) + " )"
    raise TypeError(f"a configuration has no values of type {type(value).__name__}")


def _members(group: dict[str, Any]) -> Iterator[str]:
    for key, value in group.items():
        if not (isinstance(key, str) and key.isascii() and key.isidentifier()):
            raise ValueError(f"a group has no key {key!r}: groups are dicts in dicts, keys with a dot arguments")
        yield f"{key} = {_text(value)};"


def cluster_arguments(cluster: Cluster) -> dict[str, str]:
    """How a set-up gets it: {"file": path} or {"text": text}."""
    if isinstance(cluster, dict):
        whole = cluster if "cluster" in cluster else {"cluster": cluster}
        whole = {"schema_version": 1, **whole}
        return {"text": "\n".join(_members(whole))}
    if not is_path(cluster):
        raise TypeError(f"a cluster is a file, a name, a text or a dict, not {type(cluster).__name__}")
    name = os.fspath(cluster)
    if "\n" in name or ";" in name:
        return {"text": name}
    if not os.path.exists(name) and os.path.basename(name) == name:
        name = _shipped("configs", ".cfg").get(name, name)
    return {"file": name}


def _columns(table: Any) -> dict[str, list[Any]]:
    """{name: list} of a dict, a DataFrame, a list of dicts or a structured array of NumPy."""
    if not getattr(getattr(table, "columns", None), "is_unique", True):
        raise ValueError("two columns of the trace have one name")  # pandas drops one
    if hasattr(table, "iloc"):  # pandas, whose to_dict() looks at each value
        table = {name: table[name] for name in table.columns}
    elif hasattr(table, "to_dict"):
        table = table.to_dict(as_series=False)  # polars
    elif hasattr(table, "to_pydict"):
        table = table.to_pydict()  # pyarrow
    elif fields := getattr(getattr(table, "dtype", None), "names", None):
        table = {name: table[name] for name in fields}
    if isinstance(table, (list, tuple)):
        if not all(isinstance(row, dict) for row in table):
            raise TypeError("a trace that is a list has a dict for each job")
        names = dict.fromkeys(name for row in table for name in row)
        table = {name: [row.get(name) for row in table] for name in names}
    if not isinstance(table, dict):
        raise TypeError(f"a trace is a file, a name or a table, not {type(table).__name__}")
    columns = {name: _values(name, column) for name, column in table.items()}
    if len({len(column) for column in columns.values()}) > 1:
        raise ValueError("the columns of a trace are of different lengths")
    return columns


def _values(name: Any, column: Any) -> list[Any]:
    """The values of a column as Python has them."""
    no_list = (str, bytes, dict, set, frozenset)  # a dict, of pandas' to_dict(), would be its index; a set has no order
    if getattr(column, "ndim", 1) != 1 or isinstance(column, no_list) or not hasattr(column, "__iter__"):
        raise TypeError(f"the column {name!r} of a trace is a list of values, one for each job, not {column!r:.60}")
    kind = getattr(getattr(column, "dtype", None), "kind", "")
    if kind == "m":  # of NumPy and pandas, whose nanoseconds would be plain numbers
        return column.astype("timedelta64[us]").astype(object).tolist()
    return column.tolist() if hasattr(column, "tolist") and kind != "M" else list(column)  # None where it is masked


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'  # a line that begins with # would be a comment


def _cell(value: Any) -> str:
    if type(value) is int:  # most are one of these
        return str(value)
    if type(value) is str:
        return _quoted(value)
    if value is None or type(value).__name__ == "NAType" or value != value:  # pandas.NA; NaN is not itself
        return ""
    kind = getattr(getattr(value, "dtype", None), "kind", "M")
    if kind != "M":  # of NumPy; its dates and nanoseconds would be plain numbers
        value = (value.astype("timedelta64[us]") if kind == "m" else value).item()
    if hasattr(value, "total_seconds"):
        value = value.total_seconds()
    if isinstance(value, float) and math.isfinite(value):  # numbers of jobs in a column that has gaps are whole
        return repr(int(value)) if value.is_integer() else f"{value:.6f}".rstrip("0")
    if isinstance(value, int):
        return str(value)
    return _quoted(value.decode("utf-8") if isinstance(value, bytes) else str(value))  # bytes as HDF5 gives names of jobs


def lines(table: Any) -> Iterator[bytes]:
    """A table in the native format: quoted, but for numbers."""
    columns = _columns(table)
    for row in itertools.chain([columns], zip(*columns.values())):
        yield (",".join(map(_cell, row)) + "\n").encode("utf-8")


def trace_path(trace: Path) -> Path:
    name = os.fspath(trace)
    if not os.path.exists(name) and os.path.basename(name) == name:
        return _shipped("traces/samples", ".csv").get(name, name)
    return name


def load_trace(trace: Any, format: str | None = None, max_jobs: int = 0) -> _dlsim.Trace:
    """The jobs of a file, of a shipped sample by its name, or of a table: a dict of columns, a list of dicts,
    a DataFrame, a structured array, with the columns of the native format (docs/traces.md): num_gpu, submit_time (s),
    duration (s), model_name, ..."""
    if isinstance(trace, _dlsim.Trace):
        return trace
    if is_path(trace):
        return _dlsim.Trace(trace_path(trace), format, max_jobs)
    return table_trace(trace, lambda name, text: _dlsim.Trace(name, format or "native", max_jobs, text))


def table_trace(table: Any, load: Callable[[str, bytes], _dlsim.Trace]) -> _dlsim.Trace:
    """The jobs of a table; load(name, text) reads its text. Errors name its rows in place of the text's lines."""
    import re

    rows = list(lines(table))
    try:
        return load("table", b"".join(rows))
    except _dlsim.Error as error:
        found = re.match(r"table:(\d+)(:\d+)?: ", str(error))
        if found:
            ends = itertools.accumulate(row.count(b"\n") for row in rows)
            row = next((i for i, end in enumerate(ends) if end >= int(found[1])), 0)
            error.where = f"table: data row {row}" if row else "table"
            error.args = (f"{error.where}: {str(error)[found.end():]}",)
        raise


def packed(trace: _dlsim.Trace) -> tuple[Any, ...]:
    """A trace for pickle, with the native CSV: processes of a study get their traces by it."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.csv")
        trace.save(path)
        with open(path, "rb") as file:
            return _unpacked, (file.read(),)


def _unpacked(csv: bytes) -> _dlsim.Trace:
    return _dlsim.Trace("table", "native", 0, csv)


copyreg.pickle(_dlsim.Trace, packed)


def generate(profile: str = "philly", **options: Any) -> _dlsim.Trace:
    """A synthetic trace: dlsim trace generate --profile=... with its options (jobs, gpus, load, queueing, seed)."""
    import subprocess
    import tempfile

    from ._run import program

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.csv")
        words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        done = subprocess.run([program(), "trace", "generate", f"--profile={profile}", *words, "-q", "-o", path],
                              capture_output=True, text=True)
        if done.returncode:
            raise _dlsim.InputError(done.stderr.strip())
        return _dlsim.Trace(path, "native", 0)
