# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulations and what came of them."""

from __future__ import annotations

import os
import sys
import threading

from . import _dlsim
from ._inputs import cluster_arguments, is_path, plain, table_trace, trace_path
from ._policy import as_policy

TYPE_CHECKING = False  # that of typing, which an import need not bring
if TYPE_CHECKING:
    from typing import Any, Callable, Iterator, Sequence

    from ._inputs import Cluster, Path

    Progress = Callable[[float, int, int], None] | bool | None

_TABLES = {"jobs": 0, "allocations": 1, "series": 2, "starts": 3, "world": 4}
_NEVER = 2**63 - 1


def _us(until: float | None) -> int:
    """A time in s as microseconds; None and infinity: never."""
    if until is None:
        return _NEVER
    if not hasattr(until, "__float__") or until != until:
        raise TypeError(f"until is a time in seconds, not {until!r}")
    return _NEVER if until * 1e6 > _NEVER else round(until * 1e6)


class TimeLimit(Exception):
    """A call of a policy took longer than policy_time_limit."""


class Table:
    """Columns of one length by name. pandas, Polars, DuckDB and pyarrow take it without copying numbers:
    polars.DataFrame(run.jobs), pyarrow.table(run.jobs); to_pandas() and to_dict() need nothing of Arrow."""

    def __init__(self, name: str, columns: Sequence[_dlsim.Column]) -> None:
        self.name, self.columns = name, {column.name: column for column in columns}

    def __getitem__(self, name: str) -> _dlsim.Column:
        """The column of a name, a Column."""
        try:
            return self.columns[name]
        except KeyError:
            has = f"it has {', '.join(self.columns)}" if self.columns else "it has no rows, and so no columns"
            raise KeyError(f"no column '{name}' in {self.name}: {has}") from None

    def __getattr__(self, name: str) -> _dlsim.Column:
        if name.startswith("_") or name not in self.__dict__.get("columns", ()):
            raise AttributeError(name)
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __len__(self) -> int:
        """Rows."""
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return _dlsim.stream(list(self.columns.values()))

    def to_dict(self) -> dict[str, list[Any] | memoryview]:
        """{name: list or memoryview}: numbers are not copied, codes become texts."""
        return {
            name: column.to_list() if _is_text(column) else memoryview(column)
            for name, column in self.columns.items()
        }

    def to_pandas(self) -> Any:
        """A DataFrame; numbers are not copied, codes become categories."""
        import numpy
        import pandas

        data = {}
        for name, column in self.columns.items():
            if column.categories is not None:
                codes = numpy.asarray(column).astype("int32")
                codes[codes >= len(column.categories)] = -1
                data[name] = pandas.Categorical.from_codes(codes, column.categories)
            else:
                data[name] = column.to_list() if _is_text(column) else numpy.asarray(column)
        return pandas.DataFrame(data, copy=False)

    def __repr__(self) -> str:
        lines = [f"<dlsim.Table {self.name}: {len(self)} rows>"]
        lines += [f"  {c.name:<22} {c.unit:<8} {c.description}" for c in self.columns.values()]
        return "\n".join(lines)


def _is_text(column: _dlsim.Column) -> bool:
    try:
        memoryview(column)
    except BufferError:
        return True
    return column.categories is not None


class Run:
    """What came of a simulation, or a run of a results file: the tables jobs, allocations, series, starts and
    world (docs/results.md), and the numbers of the summary: run["jct_mean_s"]."""

    def __init__(self, origin: Any, digest: str, texts: dict[str, Any] | None = None, simulation: Any = None) -> None:
        self._origin, self.digest, self.texts, self._simulation = origin, digest, texts or {}, simulation
        self._unpickled = False
        self._tables: dict[str, Table] = {}
        self._numbers: dict[str, tuple[float, str, str]] | None = None

    def _table(self, name: str) -> Table:
        if name not in self._tables:
            self._tables[name] = Table(name, self._origin.table(_TABLES[name]))
        return self._tables[name]

    @property
    def jobs(self) -> Table:
        """A row per job of the trace, in its order."""
        return self._table("jobs")

    @property
    def allocations(self) -> Table:
        """A row per job, stretch of constant rate and node."""
        return self._table("allocations")

    @property
    def series(self) -> Table:
        """The cluster over time: a row holds to the next."""
        return self._table("series")

    @property
    def starts(self) -> Table:
        """What was predicted at each start, and what came."""
        return self._table("starts")

    @property
    def world(self) -> Table:
        """Links, failures and sharing over time."""
        return self._table("world")

    @property
    def numbers(self) -> dict[str, float]:
        """{name: value} of the summary; docs/results.md says what they are, number(name) in one line."""
        return {name: value for name, (value, _, _) in self._described().items()}

    def _described(self) -> dict[str, tuple[float, str, str]]:
        if self._numbers is None:
            self._numbers = self._origin.numbers()
        return self._numbers

    def number(self, name: str) -> tuple[float, str, str]:
        """(value, unit, description) of a number of the summary."""
        try:
            return self._described()[name]
        except KeyError:
            raise KeyError(f"no number '{name}' in the summary: it has {', '.join(self._described())}") from None

    def __getitem__(self, name: str) -> float:
        return self.number(name)[0]

    def write(self, path: Path) -> None:
        """Write the results file, for dlsim inspect, compare, report and export."""
        if self._unpickled:
            import shutil

            shutil.copyfile(self.texts["path"], path)
        elif self._simulation is None:
            raise _dlsim.UsageError("the run comes from a file: it is written already")
        else:
            self._simulation.write(os.fspath(path), " ".join(sys.argv))

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle: a run of a file by the file's path, any other as the bytes of its results file."""
        import tempfile

        if self._simulation is None and not self._unpickled:
            return read, (os.path.abspath(self.texts["path"]), self.texts["run"])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.h5")
            self.write(path)
            with open(path, "rb") as file:
                return _unpickled, (file.read(),)

    def _drawn(self, ending: str, path: Path | None) -> bytes:
        """What dlsim report makes of the run: written to a file, or its bytes."""
        import subprocess
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            results, page = os.path.join(folder, "run.h5"), os.path.join(folder, "run" + ending)
            if self._simulation is None:
                results = self.texts["path"]
                name = [f"--run={self.texts['run']}"] if self.texts["run"] else []
            else:
                self.write(results)
                name = []
            target = os.fspath(path) if path else page
            call = [program(), "report", "--force", *name, "-o", target, results]
            environment = dict(os.environ)
            if " " not in sys.executable:  # a list of interpreters, the first that has what is needed draws
                environment.setdefault("DLSIM_PYTHON", f"{sys.executable} python3 /usr/bin/python3")
            done = subprocess.run(call, capture_output=True, text=True, env=environment)
            if done.returncode:
                raise _dlsim.RunError(done.stderr.strip())
            if path:
                return b""
            with open(page, "rb") as file:
                return file.read()

    def report(self, path: Path | None = None) -> Page | None:
        """The page of the run: written to a file, or returned as an object that notebooks show."""
        page = self._drawn(".html", path)
        return None if path else Page(page.decode("utf-8"))

    def picture(self, path: Path | None = None) -> Picture | None:
        """Every job on every GPU, and how many wait: written to a file .png or .svg, or returned as an object that
        notebooks show."""
        if path and not os.fspath(path).endswith((".png", ".svg")):
            raise ValueError(f"{path}: a picture's file ends in .png or .svg")
        image = self._drawn(".png", path)
        return None if path else Picture(image)

    def __repr__(self) -> str:
        numbers = self.numbers
        return (
            f"<dlsim.Run: {len(self.jobs)} jobs, mean completion {numbers['jct_mean_s']:.6g} s, "
            f"makespan {numbers['makespan_s']:.6g} s, utilisation {numbers['utilisation']:.3f}, "
            f"digest {self.digest}>"
        )


class Picture:
    """A picture, shown by notebooks."""

    def __init__(self, png: bytes) -> None:
        self.png = png

    def _repr_png_(self) -> bytes:
        return self.png


class Page:
    """A page of HTML, shown by notebooks."""

    def __init__(self, html: str) -> None:
        self.html = html

    def _repr_html_(self) -> str:
        import html

        return f'<iframe srcdoc="{html.escape(self.html)}" width="100%" height="800" frameborder="0"></iframe>'


def program() -> str:
    """The path of the program dlsim that belongs to this package."""
    here = os.path.dirname(os.path.abspath(__file__))
    for place in ("bin/dlsim", "../../dlsim"):
        path = os.path.normpath(os.path.join(here, place))
        if os.path.isfile(path):
            return path
    return "dlsim"


class _Stop(BaseException):
    """Ends a call of a policy from outside; no `except Exception` of the policy's takes it for its own."""


class _Guard:
    """Raises TimeLimit in this thread when one call of a policy takes longer than limit seconds."""

    def __init__(self, simulation: Any, limit: float | None) -> None:
        self.simulation, self.limit, self.over = simulation, limit or 0.0, threading.Event()
        self.target = threading.get_ident()
        self.thread: threading.Thread | None = None
        if limit is not None:
            if not limit > 0:
                raise ValueError("policy_time_limit is positive, in seconds")
            self.thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        import time

        before, since = 0, time.monotonic()
        while not self.over.wait(min(self.limit / 8, threading.TIMEOUT_MAX)):
            calls, now = self.simulation.calls, time.monotonic()
            if calls != before or calls % 2 == 0:
                before, since = calls, now
            elif now - since > self.limit:
                _dlsim.interrupt(self.target, _Stop)
                since = now  # and again, should the policy go on

    def __enter__(self) -> None:
        if self.thread:
            self.thread.start()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if not self.thread:
            return
        try:
            self.over.set()
            self.thread.join()
        except _Stop:  # the call ended just then
            self.thread.join()
        _dlsim.interrupt(self.target, None)
        if kind is _Stop:
            import traceback

            last = traceback.extract_tb(trace)[-1]
            raise TimeLimit(f"{last.name} ({last.filename}, line {last.lineno}): one call of a policy took longer than "
                            f"{self.limit:g} s") from error


class _Bar:
    """A line on standard error, written anew; what a simulation's and a study's progress are called with."""

    def __init__(self, what: str) -> None:
        self.what, self.shown = what, ""

    def __call__(self, done: int, of: int, more: str = "") -> None:
        full = 30 * done // of if of else 30
        line = f"[{'#' * full}{'.' * (30 - full)}] {done:,} of {of:,} {self.what}{more}"
        if line != self.shown:
            print(f"\r{line}", end="", file=sys.stderr, flush=True)
            self.shown = line

    def jobs(self, now: float, done: int, of: int) -> None:
        self(done, of, f", day {now / 86400:.1f}")

    def end(self) -> None:
        if self.shown:
            print(file=sys.stderr)


def _advance(sim: Any, limit: float | None, progress: Progress, until: int = _NEVER) -> None:
    """The library's simulation goes on, watched and with its progress told."""
    bar = _Bar("jobs") if progress is True else None
    sim.progress = bar.jobs if bar else progress or None
    try:
        with _Guard(sim, limit):
            sim.run(until)
        if bar and sim.finished:
            bar.jobs(sim.now, len(sim.trace), len(sim.trace))
    finally:
        sim.progress = None
        if bar:
            bar.end()


def _setup(cluster: Cluster, trace: Any, scheduler: Any, placement: Any, predictor: str | None,
           plugins: Sequence[Path], options: dict[str, Any], outside: bool = False) -> tuple[Any, _dlsim.Trace]:
    """The library's set-up, and its jobs: read as its keys under trace say."""
    policies, keys, given = [], [], {"trace.path"} if is_path(trace) else set()
    if isinstance(plugins, (str, os.PathLike)):
        plugins = [plugins]
    if is_path(trace):
        keys.append(("trace.path", os.fspath(trace_path(trace))))
    for key, value in (("scheduler.name", scheduler), ("placement.name", placement)):
        if isinstance(value, str):
            keys.append((key, value))
        elif value is not None:
            policies.append(as_policy(value, key == "placement.name"))
        if value is not None:
            given.add(key)
    if predictor is not None:
        keys.append(("predictor.source", predictor))
        given.add("predictor.source")
    for key, value in options.items():
        key, value = key.replace("__", "."), plain(value)
        if key in given:
            raise TypeError(f"{key} is given twice")
        given.add(key)
        text = value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else repr(value)
        if isinstance(value, (list, tuple)):
            text = ",".join(str(one) for one in value)
        if isinstance(trace, _dlsim.Trace) and key.startswith("trace.") and key != "trace.stand_ins":
            raise _dlsim.UsageError(f"{key}: the trace is loaded already; give its file or table in its place")
        keys.append((key, text))
    # Options go where their policy's name has gone before them.
    setup = _dlsim.Setup(
        set=keys,
        plugins=[os.fspath(path) for path in plugins],
        policies=policies,
        outside=outside,
        **cluster_arguments(cluster),
    )
    if isinstance(trace, _dlsim.Trace):
        return setup, trace
    return setup, setup.trace() if trace is None or is_path(trace) else table_trace(trace, setup.trace)


class Simulation:
    """A simulation that is stepped through.

    Without a scheduler the decisions are the caller's:

        sim = dlsim.Simulation("quickstart", "quick_60")
        while sim.step():
            for job in sim.view.waiting:
                if sim.view.gpus[job] <= sim.view.room(job):
                    sim.act.start(job)
        print(sim.result())
    """

    def __init__(self, cluster: Cluster, trace: Any = None, scheduler: Any = None, placement: Any = None,
                 predictor: str | None = None, plugins: Sequence[Path] = (), policy_time_limit: float | None = None,
                 _sim: Any = None, **options: Any) -> None:
        self._limit = policy_time_limit
        if _sim is not None:
            self._sim, self._outside = _sim
            return
        self._outside = scheduler is None
        self._sim = _dlsim.Simulation(
            *_setup(cluster, trace, scheduler, placement, predictor, plugins, options, outside=self._outside))

    def step(self, until: float | None = None) -> bool:
        """On to the next decision of the caller's; False: there is none up to `until` (s), or the end is reached."""
        with _Guard(self._sim, self._limit):
            return self._sim.step(_us(until))

    def run(self, until: float | None = None, progress: Progress = None) -> Simulation:
        """To the end, or up to and including a time (s), by the scheduler. progress(now_s, done, jobs) is
        called now and then; True: a line on standard error."""
        _advance(self._sim, self._limit, progress, _us(until))
        return self

    @property
    def view(self) -> _dlsim.View:
        """What a policy would see now, until it goes on."""
        return self._sim.view

    @property
    def act(self) -> _dlsim.Actions:
        """The actions of the decision at which it stands."""
        return self._sim.act

    @property
    def now(self) -> float:
        """Simulated time, s."""
        return self._sim.now

    @property
    def finished(self) -> bool:
        """Whether the end has been reached."""
        return self._sim.finished

    @property
    def counts(self) -> dict[str, int]:
        """How many jobs are in which state."""
        return self._sim.counts()

    def jobs(self) -> Table:
        """The jobs as they are now: a copy while it is not finished."""
        return Table("jobs", self._sim.table(0))

    def clone(self) -> Simulation:
        """Another simulation in the same state, also in the middle of a decision."""
        return Simulation("", _sim=(self._sim.clone(), self._outside), policy_time_limit=self._limit)

    def result(self) -> Run:
        """The Run; accounts are closed as of now if the end has not been reached."""
        self._sim.finish()
        return Run(self._sim, f"{self._sim.digest:016x}", simulation=self._sim)


def run(cluster: Cluster, trace: Any = None, scheduler: Any = None, placement: Any = None, predictor: str | None = None,
        *, plugins: Sequence[Path] = (), progress: Progress = None, policy_time_limit: float | None = None,
        **options: Any) -> Run:
    """Simulate, and return what came of it.

    cluster: a configuration (docs/config.md): a file, the name of a shipped one, a text, a dict.
    trace: the jobs: a file, the name of a shipped sample, a table (load_trace), read as the keys under trace say; a
        Trace; None: the file that the cluster names.
    scheduler, placement: a name (`dlsim list schedulers`), or a policy in Python: a class or an instance.
    predictor: "operator", "driple", "oracle", ...
    plugins: shared objects with policies.
    progress: called as (now_s, jobs done, jobs) now and then; True: a line on standard error.
    policy_time_limit: seconds that one call of a policy may take; then TimeLimit is raised.
    options: keys of the configuration: run__until="30d", scheduler__restore_cost=0, or **{"run.seed": 7}.

    Jobs that can never run on the cluster, or that still wait when nothing is left to happen, are a warning that says why.
    """
    import warnings

    sim = _dlsim.Simulation(*_setup(cluster, trace, scheduler, placement, predictor, plugins, options))
    _advance(sim, policy_time_limit, progress)
    for text in sim.warnings():
        warnings.warn(text, stacklevel=2)
    return Run(sim, f"{sim.digest:016x}", simulation=sim)


_TEXTS = ("scheduler", "placement", "predictor", "digest", "seed", "complete", "dlsim_version", "cmdline", "config_text",
          "started_utc", "trace_path", "trace_sha256")


def read(path: Path, run: str | None = None) -> Run:
    """A run of a results file; run: its name, needed where there are several."""
    saved = _dlsim.Saved(path, run)
    if run is None and len(saved.runs()) > 1:
        raise _dlsim.UsageError(f"{path} holds several runs, say which: {', '.join(saved.runs())}")
    texts = {name: saved.text(name) for name in _TEXTS}
    texts.update(path=os.fspath(path), run=run)
    return Run(saved, texts["digest"], texts)


def _unpickled(results: bytes) -> Run:
    """The run of a results file's bytes, which lie in a file of their own as long as there is the run."""
    import shutil
    import tempfile
    import weakref

    folder = tempfile.mkdtemp(prefix="dlsim-")
    path = os.path.join(folder, "run.h5")
    try:
        with open(path, "wb") as file:
            file.write(results)
        run = read(path)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    run._unpickled = True
    weakref.finalize(run, shutil.rmtree, folder, ignore_errors=True)
    return run


def read_all(path: Path) -> dict[str, Run]:
    """{name: Run} of a results file."""
    names = _dlsim.Saved(path).runs()
    return {name: read(path, name) for name in names}
