# SPDX-License-Identifier: GPL-3.0-or-later
"""The source of local modules: what a policy's code may come from, found without running any of it."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import os
import sys
import sysconfig
from importlib.machinery import PathFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterable, Iterator, Sequence


def is_local(file: str | None) -> bool:
    """Whether a file is the user's: not Python's, not an installed package's, not dlsim's."""
    return bool(file) and not (
        str(file).startswith((sysconfig.get_path("stdlib"), os.path.dirname(__file__) + os.sep)) or "-packages/" in str(file)
    )


def find(name: str) -> str | None:
    """The file of a module, loaded or not; None: there is none."""
    if name in sys.modules:
        file = getattr(sys.modules[name], "__file__", None)
        return file if file and os.path.isfile(file) else None
    places: Sequence[str] | None = None
    at, spec = "", None
    for part in name.split("."):
        at += "." * bool(at) + part
        try:
            spec = PathFinder.find_spec(at, places)
        except Exception:  # of another's hook in sys.path_hooks
            return None
        if not spec:
            return None
        places = list(spec.submodule_search_locations or ())
    return spec.origin if spec and spec.origin and os.path.isfile(spec.origin) else None


@functools.lru_cache(4096)
def _read(file: str, _changed: tuple[int, ...]) -> tuple[str, tuple[tuple[int, str, tuple[str, ...]], ...]]:
    """The hash of a file, and its imports wherever they stand: dots in front, module, what is taken of it."""
    with open(file, "rb") as stream:
        content = stream.read()
    found: list[tuple[int, str, tuple[str, ...]]] = []
    try:
        nodes = list(ast.walk(ast.parse(content))) if file.endswith(".py") else []
    except (SyntaxError, ValueError):
        nodes = []
    for node in nodes:
        if isinstance(node, ast.Import):
            found += [(0, one.name, ()) for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append((node.level, node.module or "", tuple(one.name for one in node.names)))
    return hashlib.sha256(content).hexdigest(), tuple(found)


def modules(level: int, name: str, taken: Iterable[str], package: str) -> Iterator[str]:
    """What an import may load: the module, the packages that it is in, and what is taken of it where that is a module."""
    if level:
        try:
            name = importlib.util.resolve_name("." * level + name, package)
        except ImportError:
            return
    parts = name.split(".")
    yield from (".".join(parts[: i + 1]) for i in range(len(parts)))
    yield from (f"{name}.{one}" for one in taken)


def sources(names: Iterable[str], files: Iterable[str] = ()) -> dict[str, str]:
    """{file: hash} of these files and local modules, and of the local modules that they import, also inside functions."""
    found: dict[str, str] = {}
    todo = [(file, "") for file in files]
    seen: set[str] = set()

    def add(name: str) -> None:
        if name not in seen:
            seen.add(name)
            file = find(name)
            if file and is_local(os.path.realpath(file)):
                inside = os.path.basename(file).startswith("__init__.")
                todo.append((file, name if inside else name.rpartition(".")[0]))

    for name in names:
        add(name)
    while todo:
        file, package = todo.pop()
        file = os.path.realpath(file)
        if file in found:
            continue
        state = os.stat(file)
        found[file], imports = _read(file, (state.st_ino, state.st_size, state.st_mtime_ns))
        for level, of, taken in imports:
            for name in modules(level, of, taken, package):
                add(name)
    return found
