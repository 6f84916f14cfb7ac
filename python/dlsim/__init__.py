# SPDX-License-Identifier: GPL-3.0-or-later
"""dlsim: a discrete-event simulator of GPU clusters that train deep-learning models.

    import dlsim
    run = dlsim.run("quickstart", "philly_like_5000", scheduler="srtf")
    print(run["jct_mean_s"], run.jobs["end_us"])

Clusters are configurations: files, names of shipped ones, texts, or dicts. Traces are files, names of shipped
samples, or tables: dicts of lists, DataFrames. Policies are names, or classes in Python (docs/python.md).
"""

from ._dlsim import (
    Actions,
    Column,
    ConfigError,
    Error,
    InputError,
    Job,
    OutputError,
    Plan,
    PolicyError,
    PredictorError,
    RunError,
    Trace,
    UsageError,
    version,
)
from ._inputs import generate, load_trace, shipped
from ._policy import Compiled, compile
from ._run import Run, Simulation, Table, TimeLimit, read, read_all, run
from ._study import Study, study

__version__ = version()


__all__ = [
    "Actions",
    "Column",
    "Compiled",
    "ConfigError",
    "Error",
    "InputError",
    "Job",
    "OutputError",
    "Plan",
    "PolicyError",
    "PredictorError",
    "Run",
    "RunError",
    "Simulation",
    "Study",
    "Table",
    "TimeLimit",
    "Trace",
    "UsageError",
    "compile",
    "generate",
    "load_trace",
    "read",
    "read_all",
    "run",
    "shipped",
    "study",
    "__version__",
]
