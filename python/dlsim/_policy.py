# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies in Python: what of a class the library is told, and priorities compiled by Numba."""

from __future__ import annotations

from . import _dlsim
from ._inputs import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DISCIPLINES = ("strict", "fit", "easy", "preempt")
_AGEINGS = ("none", "time", "service")
_KINDS = ("priority", "pass_", "round", "place")


def _choice(policy: Any, name: str, choices: tuple[str, ...], default: str) -> int:
    value = getattr(policy, name, default)
    if value not in choices:
        raise ValueError(f"{policy!r}: {name} is one of {', '.join(choices)}, not {value!r}")
    return choices.index(value)


class Compiled:
    """A priority compiled by Numba: see compile()."""

    def __init__(self, policy: Any, function: Any, address: Any, needs: int) -> None:
        self.policy, self.function, self.address, self.needs = policy, function, address, needs


def _names(function: Any, seen: set[Any]) -> set[str]:
    """The names, and the texts (job["gpus"]), that a function, those in it and those that it calls use."""
    from types import CellType, FunctionType, ModuleType

    seen.add(function)
    codes = [function.__code__]
    for code in codes:
        codes += [one for one in code.co_consts if hasattr(one, "co_names")]
    names = {name for code in codes for name in (*code.co_names, *code.co_consts) if isinstance(name, str)}
    cells = [cell.cell_contents for cell in function.__closure__ or () if cell != CellType()]
    values = [function.__globals__.get(name) for name in sorted(names)] + cells
    looked = set()
    for value in values:
        if isinstance(value, tuple):
            values += value
        elif isinstance(value, ModuleType) and value not in looked:
            looked.add(value)  # of a module what Numba compiles, and the modules in it
            there = [vars(value).get(name) for name in sorted(names)]
            values += [one for one in there if hasattr(one, "py_func") or isinstance(one, ModuleType)]
        value = getattr(value, "py_func", value)  # of Numba
        if isinstance(value, FunctionType) and value not in seen:
            names |= _names(value, seen)
    return names


def compile(policy: Any) -> Compiled:
    """The same policy with its `priority` compiled by Numba: machine code that the engine calls directly.

    policy: a class with a `priority(self, job)` that uses of the job only its numbers (times in seconds; what
    is absent is NaN), and of self only numbers that are attributes of the class or instance and do not change.
    An exception in it is a priority of NaN, which ends the run.
    """
    import collections
    import math

    import numba
    import numpy
    from numba import types

    if kind_of(policy) != "priority":
        raise TypeError(f"{policy!r} has no priority(job) to compile")
    owner: Any = policy if isinstance(policy, type) else type(policy)
    instance = policy() if owner is policy else policy
    fields = list(_dlsim.JOB_FIELDS)
    record = types.Record.make_c_struct([(name, types.float64) for name in fields])
    names = _names(owner.priority, set())
    values = {name: plain(getattr(instance, name, None)) for name in sorted(names)}
    numbers = {name: value for name, value in values.items() if isinstance(value, (int, float))}
    own: Any = 0
    if any(name[0] == "_" for name in numbers):  # no tuple has such a name, a record has
        row = [(name, numpy.asarray(value).dtype) for name, value in numbers.items()]
        own = numpy.array([tuple(numbers.values())], row)[0]
    elif numbers:
        own = collections.namedtuple("Policy", numbers)(**numbers)
    inner = numba.njit(owner.priority)

    @numba.cfunc(types.float64(types.CPointer(record)))
    def function(job):
        try:
            return inner(own, numba.carray(job, 1)[0])
        except Exception:
            return math.nan

    needs = sum(1 << i for i, name in enumerate(fields) if name in names)
    return Compiled(policy, function, function.address, needs)


def _interval_us(policy: Any) -> int:
    interval = getattr(policy, "interval", 60)
    if not hasattr(interval, "__float__") or not interval >= 1e-6:
        raise ValueError(f"{policy!r}: interval is a time in seconds, from 1e-6 on, not {interval!r}")
    return 2**63 - 1 if interval > 9e12 else round(float(interval) * 1e6)


def _name(name: str) -> str:
    return "py-" + "".join(c if c.isascii() and c.isalnum() or c == "-" else "_" for c in name.lower())


def kind_of(policy: Any) -> str:
    found = [kind for kind in _KINDS if callable(getattr(policy, kind, None))]
    if len(found) != 1:
        raise TypeError(
            f"{policy!r} is no policy: a class with exactly one of priority(job), pass_(view, act), "
            "round(view, plan) and place(request, nodes)"
        )
    return found[0]


def is_policy(value: Any) -> bool:
    return isinstance(value, Compiled) or any(callable(getattr(value, kind, None)) for kind in _KINDS)


def as_policy(value: Any, places: bool | None = None) -> Any:
    """What the library is given for a class, an instance or a compiled policy; places: which of the two it is to be."""
    address, needs = 0, 0
    if isinstance(value, Compiled):
        value, address, needs = value.policy, value.address, value.needs
    kind = kind_of(value)
    if places is not None and places != (kind == "place"):
        raise TypeError(f"{value!r} is no {'placement' if places else 'scheduler'}: it has {kind}()")
    owner = value if isinstance(value, type) else type(value)
    name = getattr(value, "name", _name(owner.__name__))
    summary = (owner.__doc__ or "").strip().partition("\n")[0] or "a policy in Python"
    if not isinstance(name, str) or "\0" in name:
        raise ValueError(f"{value!r}: its name is {name!r}, no text that names a policy")
    return _dlsim.Policy(
        value,
        kind,
        name.encode(),
        summary.encode(),
        discipline=_choice(value, "discipline", _DISCIPLINES, "preempt"),
        ageing=_choice(value, "ageing", _AGEINGS, "none"),
        interval_us=_interval_us(value),
        on_arrival=bool(getattr(value, "on_arrival", False)),
        on_end=bool(getattr(value, "on_end", False)),
        joins=bool(getattr(value, "joins", False)),
        rigid=bool(getattr(value, "rigid", False)),
        compiled=address,
        needs=needs,
    )
