# SPDX-License-Identifier: GPL-3.0-or-later
"""Types of the extension."""

from typing import Any, Iterable, Optional, Sequence, Union, final

from numpy.typing import NDArray

_Jobs = Union[int, Sequence[int], NDArray[Any]]
JOB_FIELDS: list[str]

class Error(Exception):
    where: str
    problems: list[str]

class RunError(Error): ...
class PolicyError(Error): ...
class UsageError(Error): ...
class ConfigError(Error): ...
class InputError(Error): ...
class OutputError(Error): ...
class PredictorError(Error): ...

@final
class Column:
    """Values [n] where they lie: a buffer, an Arrow array, a sequence."""

    name: str
    unit: str
    description: str
    @property
    def categories(self) -> Optional[list[str]]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, i: int, /) -> Any: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def to_list(self) -> list[Any]: ...
    def __arrow_c_schema__(self) -> Any: ...
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]: ...

@final
class Trace:
    def __new__(
        cls, path: Any, format: Optional[str] = None, max_jobs: int = 0, text: Optional[bytes] = None
    ) -> "Trace": ...
    def __len__(self) -> int: ...
    def save(self, path: Any, /) -> None: ...
    @property
    def notes(self) -> str: ...

@final
class Job:
    """Times in seconds."""

    index: int
    gpus: int
    submit: float
    duration: Optional[float]
    estimate: Optional[float]
    remaining: float
    executed: float
    attained: float
    waited: float
    running: bool
    starts: int
    priority: Optional[int]
    deadline: Optional[float]
    limit: Optional[float]
    batch: Optional[int]
    min_gpus: int
    max_gpus: int
    now: float
    first_start: Optional[float]
    since: float
    rate: Optional[float]
    user: Optional[str]
    vc: Optional[str]
    model: Optional[str]
    job_class: Optional[str]
    def again_in(self, seconds: float, /) -> None: ...

@final
class View:
    """Columns [jobs]; times in microseconds where the name says so."""

    gpus: NDArray[Any]
    min_gpus: NDArray[Any]
    max_gpus: NDArray[Any]
    held_gpus: NDArray[Any]
    user: Optional[NDArray[Any]]
    vc: Optional[NDArray[Any]]
    model: Optional[NDArray[Any]]
    job_class: Optional[NDArray[Any]]
    batch: Optional[NDArray[Any]]
    priority: Optional[NDArray[Any]]
    deadline_us: Optional[NDArray[Any]]
    limit_us: Optional[NDArray[Any]]
    starts: NDArray[Any]
    failures: Optional[NDArray[Any]]
    submit_us: NDArray[Any]
    duration_us: NDArray[Any]
    estimate_us: NDArray[Any]
    first_start_us: NDArray[Any]
    since_us: NDArray[Any]
    progress_us: NDArray[Any]
    waiting: NDArray[Any]
    active: NDArray[Any]
    running: NDArray[Any]
    node_free: NDArray[Any]
    now: float
    now_us: int
    jobs: int
    free_gpus: int
    total_gpus: int
    types: int
    type_names: list[str]
    seed: int
    def remaining_us(self, jobs: _Jobs, /) -> NDArray[Any]: ...
    def executed_us(self, jobs: _Jobs, /) -> NDArray[Any]: ...
    def attained_us(self, jobs: _Jobs, /) -> NDArray[Any]: ...
    def job(self, job: int, /) -> dict[str, Optional[float]]: ...
    def free(self, type: int, /) -> int: ...
    def room(self, job: int, /) -> int: ...
    def types_of(self, job: int, /) -> list[int]: ...
    def quota_gpus(self, job: int, type: int, /) -> int: ...
    def host(self, job: int, /) -> int: ...
    def predict(self, job: int, type: int, gpus: int, nodes: int = 1, racks: int = 1, /) -> Optional[dict[str, float]]: ...

@final
class Nodes:
    """Arrays [nodes]."""

    free: NDArray[Any]
    gpus: NDArray[Any]
    type: NDArray[Any]
    rack: NDArray[Any]

@final
class Request:
    job: int
    gpus: int
    type: int
    attempt: int
    now: float
    def predict(self, nodes: int, racks: int = 1, /) -> Optional[float]: ...

@final
class Actions:
    def start(self, jobs: _Jobs, /) -> int: ...
    def preempt(self, jobs: _Jobs, /) -> None: ...
    def allocate(self, job: int, gpus: int = 0, type: int = -1, nodes: Optional[Iterable[tuple[int, int]]] = None, batch: int = 0) -> bool: ...
    def join(self, job: int, host: int, /) -> bool: ...
    def decline(self, jobs: _Jobs, /) -> None: ...
    def wake(self, at: float, /) -> None: ...

@final
class Plan:
    def run(self, jobs: _Jobs, /) -> None: ...
    def set(self, job: int, gpus: int = 0, type: int = -1, nodes: Optional[Iterable[tuple[int, int]]] = None, batch: int = 0) -> None: ...
    def keep(self, jobs: _Jobs, /) -> None: ...
    def fill(self, jobs: Any, /) -> int: ...
    def keep_all(self) -> None: ...
    def join(self, job: int, host: int, /) -> None: ...
    def decline(self, jobs: _Jobs, /) -> None: ...

Policy: Any
Saved: Any
Setup: Any
Simulation: Any
Batch: Any

def version() -> str: ...
def interrupt(thread: int, what: type | None, /) -> int: ...
def stream(columns: Sequence[Column], /) -> Any: ...
def plugin(policies: Sequence[Any], /) -> None: ...
def program(words: Sequence[str], /) -> int: ...
