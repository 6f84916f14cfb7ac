# SPDX-License-Identifier: GPL-3.0-or-later
"""Studies: runs that differ in a few keys, as a tidy table."""

from __future__ import annotations

import functools
import os
import sys

from . import _dlsim
from ._inputs import cluster_arguments, is_path, lines, packed, plain, trace_path
from ._policy import Compiled, is_policy
from ._run import Run, _Bar, read, run
from ._sources import is_local, modules, sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterator, Mapping, Sequence

    from ._inputs import Path


def _name(value: Any) -> Any:
    """What a value is called in the table."""
    value = plain(value)
    return getattr(value, "__name__", None) or (value if isinstance(value, (str, int, float, bool)) else repr(value))


def _files(path: Path, found: dict[str, str]) -> dict[str, str]:
    """{path: hash} of a file and, if it is a configuration, of those that it names."""
    import hashlib

    path = os.path.realpath(path)
    if os.path.isdir(path):
        for at, folders, names in os.walk(path):
            folders[:] = sorted(one for one in folders if one[0] != ".")
            for name in sorted(one for one in names if one[0] != "."):
                with open(os.path.join(at, name), "rb") as file:
                    found[os.path.join(at, name)] = name + hashlib.sha256(file.read()).hexdigest()
        return found
    with open(path, "rb") as file:
        content = file.read()
    found[path] = hashlib.sha256(content).hexdigest()
    return _named(content, os.path.dirname(path), found)


_FOLDERS = (b"table", b"elastic", b"hardware")  # keys that take them


def _named(content: bytes, folder: str, found: dict[str, str]) -> dict[str, str]:
    """The same of the files that a configuration in a folder names."""
    import re

    if b"schema_version" in content and b"\0" not in content:
        for key, name in re.findall(rb'(?:(\w+)\s*=\s*)?"(?:replay:)?([^"\n]+)"', content):
            other = os.path.join(folder, os.fsdecode(name))
            there = os.path.isfile(other) or os.path.isdir(other) and key in _FOLDERS
            if there and os.path.realpath(other) not in found:
                _files(other, found)
    return found


def _code(code: Any, package: str, seen: dict[int, Any]) -> Any:
    """What a function's code is, which globals it names, and which modules it imports."""
    import dis

    within = [_code(one, package, seen) for one in code.co_consts if hasattr(one, "co_code")]
    constants = [_identity(one, seen) for one in code.co_consts if not hasattr(one, "co_code")]
    steps = list(dis.get_instructions(code))
    names = {at.argval for at in steps if at.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    imports: set[str] = set()
    for level, taken, at in zip(steps, steps[1:], steps[2:]):
        if at.opname == "IMPORT_NAME":
            imports |= set(modules(int(level.argval or 0), at.argval, taken.argval or (), package))
    said = [code.co_code.hex(), code.co_names, code.co_varnames, constants, [one[0] for one in within]]
    return said, names.union(*(one[1] for one in within)), imports.union(*(one[2] for one in within))


def _sources(names: Any) -> list[str]:
    """Hashes of local modules and of those that they import; the script that is run is known by what is used of it."""
    return sorted(sources(name for name in names if name not in ("__main__", "__mp_main__")).values())


def _function(of: Any, seen: dict[int, Any]) -> Any:
    """Its code, that of its module and of those that it imports, and what it names: values, functions, classes, modules."""
    import types

    code, names, imports = _code(of.__code__, of.__globals__.get("__package__") or "", seen)
    values = {name: of.__globals__[name] for name in sorted(names & of.__globals__.keys())}
    cells = [cell.cell_contents for cell in of.__closure__ or () if cell != types.CellType()]
    own = [of.__defaults__, of.__kwdefaults__, getattr(of, "__self__", None)]
    return [code, _sources({of.__module__ or "", *imports}), *(_identity(one, seen) for one in (values, cells, *own))]


def _is_own(value: Any) -> bool:
    """A policy, and no array or table, which can be rounded."""
    return is_policy(value) and not hasattr(value, "shape")


def _is_library(of: Any) -> bool:
    """Whether a class or function is Python's or an installed package's: it is known by its name."""
    file = getattr(sys.modules.get(of.__module__ or ""), "__file__", None)
    return file is not None and not is_local(os.path.realpath(file))


def _class(of: type, seen: dict[int, Any]) -> Any:
    """What a class written in Python says itself."""
    if not of.__flags__ & 1 << 9 or not _is_own(of) and _is_library(of):
        return repr(of)
    if id(of) in seen:
        return ["as", seen[id(of)][0]]
    seen[id(of)] = len(seen), of
    said = {name: one for name, one in list(vars(of).items()) if name[:2] != "__" or callable(one)}
    return [of.__name__, _sources([of.__module__]), [[name, _identity(one, seen)] for name, one in said.items()]]


def _state(value: Any) -> Any:
    """What pickle would keep of an object; its attributes, where it would keep none."""
    if isinstance(value, property):
        return value.fget, value.fset, value.fdel
    if isinstance(value, (classmethod, staticmethod)):
        return value.__func__
    try:
        state = value.__reduce_ex__(4)
    except Exception:  # a lock, a file
        return getattr(value, "__dict__", None)
    return state if isinstance(state, str) else (*state[:3], *(list(one or ()) for one in state[3:5]))


def _identity(value: Any, seen: dict[int, Any] | None = None) -> Any:
    """What a value is, for the name of a point's file: a file by what it holds, a table by its rows, a policy by the
    code of its classes and functions and by the values that they have."""
    import hashlib
    import types

    if type(value) in (type(None), bool, int, float, complex, bytes, type(...)):
        return repr(value)
    if isinstance(value, types.ModuleType):
        return [value.__name__, _sources([value.__name__])]
    seen = {} if seen is None else seen
    if isinstance(value, type):
        return [_class(one, seen) for one in value.__mro__]
    policy, series = _is_own(value), hasattr(value, "to_dict") and not hasattr(value, "columns")
    if not policy and not series and (hasattr(value, "to_dict") or hasattr(value, "to_pydict") or
                                      getattr(getattr(value, "dtype", None), "names", None)):
        return hashlib.sha256(b"".join(lines(value))).hexdigest()
    if not policy and not series and hasattr(value, "tolist"):
        return _identity(plain(value), seen)
    if is_path(value) and not policy:
        return sorted(_files(value, {}).values()) if os.path.isfile(value) else os.fspath(value)
    if id(value) in seen:
        return ["as", seen[id(value)][0]]
    seen[id(value)] = len(seen), value  # which lives until all has been looked at: no other has its id
    if isinstance(value, _dlsim.Trace):
        return hashlib.sha256(packed(value)[1][0]).hexdigest()
    if type(value) is dict:
        return [[_identity(key, seen), _identity(one, seen)] for key, one in value.items()]
    if type(value) in (list, tuple):
        return [_identity(one, seen) for one in value]
    if isinstance(value, (set, frozenset)):
        return sorted(repr(_identity(one, {})) for one in value)
    function = getattr(value, "py_func", value)  # of Numba
    if isinstance(function, (types.FunctionType, types.MethodType)):
        return f"{function.__module__}.{function.__qualname__}" if _is_library(function) else _function(function, seen)
    if hasattr(value, "__wrapped__") and not isinstance(value, type):
        return [repr(type(value)), _identity(value.__wrapped__, seen)]
    if isinstance(value, Compiled):
        return ["compiled", _identity(value.policy, seen)]
    return [_identity(type(value), seen), _identity(_state(value), seen)]


def _argument(name: str, value: Any) -> Any:
    if name == "cluster":
        value = cluster_arguments(value)
        files = _named(value.get("text", "").encode(), "", {})  # a file names its own
        value = {**value, **({"files": sorted(files.values())} if files else {})}
    elif name == "trace" and is_path(value):
        value = trace_path(value)
    elif isinstance(value, str) and value.startswith("replay:") and os.path.isfile(value[7:]):
        value = ["replay", *_files(value[7:], {}).values()]
    elif is_path(value) and os.path.isdir(value) and name.replace("__", ".").rpartition(".")[2].encode() in _FOLDERS:
        value = sorted(_files(value, {}).values())
    return _identity(value)


@functools.lru_cache
def _program() -> list[str]:
    """The library, of which two builds may have one version."""
    import hashlib

    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        paths = {line.rstrip("\n").partition("/")[2] for line in file}
    hashes = []
    for path in sorted(path for path in paths if os.path.basename(path).startswith("libdlsim") and os.path.isfile("/" + path)):
        with open("/" + path, "rb") as library:
            hashes.append(hashlib.sha256(library.read()).hexdigest())
    return [_dlsim.version(), *hashes]


def _point(path: str, arguments: dict[str, Any]) -> str:
    """Runs one point, in whatever process; what is written is whole or not there. Returns an error's text, or ""."""
    try:
        read(path)
        return ""
    except _dlsim.InputError:  # not there, or torn
        pass
    import warnings

    try:
        with warnings.catch_warnings():  # of each point again: counts are in its summary
            warnings.simplefilter("ignore")
            run(**arguments).write(path)
    except Exception as error:  # the other points go on; the table says what went wrong with this one
        return f"{type(error).__name__}: {error}"
    return ""


class Study:
    """The points of a study: rows, a list of dicts with the varied keys, the numbers of the summary and `error`."""

    def __init__(self, keys: list[str], rows: list[dict[str, Any]], paths: list[str]) -> None:
        self.keys, self.rows, self.paths = keys, rows, paths

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def to_pandas(self) -> Any:
        """A DataFrame, a row a point."""
        import pandas

        return pandas.DataFrame(self.rows)

    def runs(self) -> list[Run | None]:
        """The Run of each point that has one, read from its file."""
        return [read(path) if not row["error"] else None for path, row in zip(self.paths, self.rows)]

    def __repr__(self) -> str:
        shown = [*self.keys, "jct_mean_s", "queue_mean_s", "makespan_s", "utilisation"]
        shown = [name for name in shown if any(name in row for row in self.rows)]
        shown += ["error"] if any(row["error"] for row in self.rows) else []
        lines = [shown] + [
            [f"{v:.6g}" if isinstance(v, float) else str(v).partition("\n")[0] for v in (row.get(name, "") for name in shown)]
            for row in self.rows
        ]
        widths = [max(len(line[i]) for line in lines) for i in range(len(shown))]
        return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in lines)


def study(arguments: Mapping[str, Any], vary: Mapping[str, Sequence[Any]], folder: Path, executor: Any = None,
          progress: Callable[[int, int], None] | bool | None = None) -> Study:
    """Run every combination of the values in `vary` and return the Study.

    arguments: those of run(), a dict: {"cluster": "quickstart", "trace": "philly_like_5000"}.
    vary: {name: values}: "scheduler", "placement", "predictor", "trace", "cluster" or keys of the configuration
    ("run.seed"). folder: where each point's results file is kept; points that are there are not run again. A point is
    known by its arguments: files by their content and that of the files a configuration names, tables by their rows,
    policies by the code of their classes and of what they call and by the values that it uses, with the source of their
    modules and of the local modules that these import, also inside functions.
    executor: any of concurrent.futures or of its kind, on one machine or many that share the folder; None: a
    process per processor. progress: called as (done, points); True: a line on standard error.
    """
    import hashlib
    import itertools
    import json

    for name, values in vary.items():
        if isinstance(values, str):
            raise TypeError(f"{name}: a list of values is varied, not {values!r}")
    vary = {name: list(values) for name, values in vary.items()}
    bar = _Bar("points") if progress is True else None
    os.makedirs(folder, exist_ok=True)
    names = list(vary)
    points, paths = [], []
    for cluster in vary.get("cluster", [arguments.get("cluster", "")]):
        cluster_arguments(cluster)  # wrong here rather than in each
    for values in itertools.product(*vary.values()):
        one = {**arguments, **dict(zip(names, values))}
        what = json.dumps([_program(), sorted((name, _argument(name, value)) for name, value in one.items())])
        points.append((dict(zip(names, map(_name, values))), one))
        paths.append(os.path.join(os.fspath(folder), hashlib.sha256(what.encode()).hexdigest()[:20] + ".h5"))
    try:
        errors = _run_all(paths, points, executor, bar or progress)
    finally:
        if bar:
            bar.end()
    rows = []
    for (named, _), path, error in zip(points, paths, errors):
        rows.append({**named, **({} if error else read(path).numbers), "error": error})
    return Study(names, rows, paths)


def _run_all(paths: list[str], points: list[Any], executor: Any, progress: Any) -> list[str]:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    own = None
    if executor is None:
        missing = sum(not os.path.exists(path) for path in paths)
        workers = max(1, min(len(os.sched_getaffinity(0)), missing))
        executor = own = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    try:
        futures = [executor.submit(_point, path, one) for path, (_, one) in zip(paths, points)]
        errors = []
        for future in futures:
            errors.append(future.result())
            if progress:
                progress(len(errors), len(futures))
        return errors
    finally:
        if own:
            own.shutdown(cancel_futures=True)
