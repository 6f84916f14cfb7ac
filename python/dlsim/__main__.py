# SPDX-License-Identifier: GPL-3.0-or-later
"""The program dlsim with policies in Python: python -m dlsim run --plugin=mine.py --scheduler=py-mine ...

Every class of the file with one of priority, pass_, round and place, and every compiled policy, is a policy; it is
called by its `name`, or py- and the class's name in small letters. Without a file in Python this is the program.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
import traceback

from . import _dlsim
from ._policy import Compiled, as_policy, is_policy
from ._run import program
from ._sources import is_local, sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Sequence


class _Source(importlib.machinery.SourceFileLoader):
    """Compiles the file each time: bytecode of one changed within a second to as many bytes would stand for it."""

    def get_code(self, fullname: str) -> Any:
        return self.source_to_code(self.get_data(self.path), self.path)


def _refused(path: str, why: str) -> SystemExit:
    """As of a plug-in that is compiled: exit code 4."""
    print(f"dlsim: {path}: {why}", file=sys.stderr)
    return SystemExit(4)


def _policies_of(path: str) -> list[Any]:
    """Those that a file defines, not what it imports."""
    name = "dlsim_plugin_" + os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path, loader=_Source(name, path))
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        frames = error.__traceback__
        while frames and frames.tb_frame.f_code.co_filename != path:  # those of the import
            frames = frames.tb_next
        traceback.print_exception(type(error), error, frames)
        raise _refused(path, "cannot be loaded") from None
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, Compiled)
        or isinstance(value, type) and value.__module__ == name and is_policy(value)
    ]
    if not found:
        raise _refused(path, "has no policy: a class with priority, pass_, round or place")
    return [as_policy(value) for value in found]


def _imported(path: str) -> list[bytes]:
    """The files in the folder of a policy's file, and below it, that Python has loaded, and the local modules that it
    and they import, also inside functions."""
    path = os.path.realpath(path)
    folder = os.path.dirname(path) + os.sep
    loaded = []
    for name, module in list(sys.modules.items()):
        file = os.path.realpath(getattr(module, "__file__", None) or os.sep)
        if file.startswith(folder) and not name.startswith("dlsim_plugin_") and is_local(file):
            loaded.append(name)
    return [os.fsencode(file) for file in sorted(sources(loaded, [path]).keys() - {path})]


def main(given: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if given is None else given)
    paths = [word.partition("=")[2] for word in words if word.startswith("--plugin=")]
    paths += [path for word, path in zip(words, words[1:]) if word == "--plugin"]
    paths = [path for path in dict.fromkeys(paths) if path.endswith(".py")]
    if not paths:
        os.execvp(program(), ["dlsim", *words])
    for path in paths:
        if not os.path.isfile(path):
            raise _refused(path, "cannot be opened")
    policies = {path: _policies_of(path) for path in paths}
    _dlsim.plugin([(policy, (os.fsencode(path), *_imported(path))) for path in paths for policy in policies[path]])
    # The extension is a plug-in, too: the program loads it in place of the files (sim/base/in_python.h), and
    # asks it for the policies that it has just been given.
    os.environ["DLSIM_IN_PYTHON"] = f"{os.getpid()} {_dlsim.__file__}\n{program()}"
    return _dlsim.program(["dlsim", *words])


if __name__ == "__main__":
    sys.exit(main())
