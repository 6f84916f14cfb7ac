# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies in Python: what of a class the library is told, and priorities compiled by Numba."""

from __future__ import annotations

from . import _dlsim

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


def compile(policy: Any) -> Compiled:
    """The same policy with its `priority` compiled by Numba: machine code that the engine calls directly.

    policy: a class with a `priority(self, job)` that uses of the job only its numbers (times in seconds; what
    is absent is NaN), and of self only numbers that are attributes of the class or instance and do not change.
    """
    import collections

    import numba
    from numba import types

    owner: Any = policy if isinstance(policy, type) else type(policy)
    instance = policy() if owner is policy else policy
    fields = list(_dlsim.JOB_FIELDS)
    record = types.Record.make_c_struct([(name, types.float64) for name in fields])
    names = set(owner.priority.__code__.co_names)
    numbers = {
        name: getattr(instance, name)
        for name in sorted(names - set(fields))
        if isinstance(getattr(instance, name, None), (int, float))
    }
    own = collections.namedtuple("Policy", numbers)(**numbers) if numbers else 0
    inner = numba.njit(owner.priority)

    @numba.cfunc(types.float64(types.CPointer(record)))
    def function(job):
        return inner(own, numba.carray(job, 1)[0])

    needs = sum(1 << i for i, name in enumerate(fields) if name in names)
    return Compiled(policy, function, function.address, needs)


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


def as_policy(value: Any) -> Any:
    """What the library is given for a class, an instance or a compiled policy."""
    address, needs = 0, 0
    if isinstance(value, Compiled):
        value, address, needs = value.policy, value.address, value.needs
    kind = kind_of(value)
    owner = value if isinstance(value, type) else type(value)
    name = getattr(value, "name", _name(owner.__name__))
    summary = (owner.__doc__ or "").strip().partition("\n")[0] or "a policy in Python"
    interval = getattr(value, "interval", 60)
    return _dlsim.Policy(
        value,
        kind,
        name.encode(),
        summary.encode(),
        discipline=_choice(value, "discipline", _DISCIPLINES, "preempt"),
        ageing=_choice(value, "ageing", _AGEINGS, "none"),
        interval_us=round(interval * 1e6),
        on_arrival=bool(getattr(value, "on_arrival", False)),
        on_end=bool(getattr(value, "on_end", False)),
        joins=bool(getattr(value, "joins", False)),
        compiled=address,
        needs=needs,
    )
