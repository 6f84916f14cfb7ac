# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters and traces from what Python has: files, names of shipped ones, dicts, tables."""

from __future__ import annotations

import os

from . import _dlsim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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


def _text(value: Any) -> str:
    """A value in the configuration's language (docs/config.md)."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, dict):
        return "{ " + " ".join(f"{key} = {_text(one)};" for key, one in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        groups = any(isinstance(one, dict) for one in value)
        inside = ", ".join(_text(one) for one in value)
        return f"( {inside} )" if groups else f"[ {inside} ]"
    raise TypeError(f"a configuration has no values of type {type(value).__name__}")


def cluster_arguments(cluster: Cluster) -> dict[str, str]:
    """How a set-up gets it: {"file": path} or {"text": text}."""
    if isinstance(cluster, dict):
        whole = cluster if "cluster" in cluster else {"cluster": cluster}
        whole = {"schema_version": 1, **whole}
        return {"text": "\n".join(f"{key} = {_text(value)};" for key, value in whole.items())}
    if not isinstance(cluster, (str, os.PathLike)):
        raise TypeError(f"a cluster is a file, a name, a text or a dict, not {type(cluster).__name__}")
    name = os.fspath(cluster)
    if "\n" in name or ";" in name:
        return {"text": name}
    if not os.path.exists(name) and os.path.basename(name) == name:
        name = _shipped("configs", ".cfg").get(name, name)
    return {"file": name}


def _columns(table: Any) -> dict[str, list[Any]]:
    """{name: list} of a dict, a DataFrame or a list of dicts."""
    if hasattr(table, "to_dict") and not isinstance(table, dict):
        try:
            table = table.to_dict("list")  # pandas
        except TypeError:
            table = table.to_dict(as_series=False)  # polars
    elif hasattr(table, "to_pydict"):
        table = table.to_pydict()  # pyarrow
    if isinstance(table, (list, tuple)):
        names = dict.fromkeys(name for row in table for name in row)
        table = {name: [row.get(name) for row in table] for name in names}
    if not isinstance(table, dict):
        raise TypeError(f"a trace is a file, a name or a table, not {type(table).__name__}")
    columns = {name: list(column) for name, column in table.items()}
    if len({len(column) for column in columns.values()}) > 1:
        raise ValueError("the columns of a trace are of different lengths")
    return columns


def _cell(value: Any) -> Any:
    if value is None or value != value:  # NaN is not itself
        return ""
    if isinstance(value, bytes):  # names of jobs as HDF5 gives them
        return value.decode("utf-8")
    if isinstance(value, float):  # also of NumPy; numbers of jobs in a column that has gaps are whole
        return repr(int(value)) if value.is_integer() else f"{value:.6f}"
    return value


def load_trace(trace: Any, format: str | None = None, max_jobs: int = 0) -> _dlsim.Trace:
    """The jobs of a file, of a shipped sample by its name, or of a table: a dict of columns, a list of dicts,
    a DataFrame, with the columns of the native format (docs/traces.md): num_gpu, submit_time (s),
    duration (s), model_name, ..."""
    if isinstance(trace, _dlsim.Trace):
        return trace
    if isinstance(trace, (str, os.PathLike)):
        name = os.fspath(trace)
        if not os.path.exists(name) and os.path.basename(name) == name:
            name = _shipped("traces/samples", ".csv").get(name, name)
        return _dlsim.Trace(name, format, max_jobs)
    import csv
    import tempfile

    columns = _columns(trace)
    with tempfile.NamedTemporaryFile("w", suffix=".csv", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows([_cell(value) for value in row] for row in zip(*columns.values()))
        file.flush()
        try:
            return _dlsim.Trace(file.name, format or "native", max_jobs)
        except _dlsim.Error as error:
            error.args = (str(error).replace(file.name, "table, line"),)
            raise


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
