# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a script of this folder if this Python has its modules, else under the next interpreter, so that they are
imported once. Usage: launch.py SCRIPT MODULES INTERPRETERS ARGUMENT...: lists with blanks between."""

import importlib
import os
import runpy
import sys

here = os.path.dirname(os.path.abspath(__file__))


def launch(script, modules, others, *arguments):
    try:
        for module in modules.split():
            importlib.import_module(module)
    except MemoryError:
        raise
    except Exception:  # also what a broken one raises
        following = others.split()
        while following:
            python = following.pop(0)
            try:
                os.execvp(python, [python, __file__, script, modules, " ".join(following), *arguments])
            except OSError:
                pass  # there is no such program
        os.environ["DLSIM_PYTHONS_LEFT"] = ""
        os.execvp("sh", ["sh", os.path.join(here, "python.sh"), *modules.split()])  # says what is missing
    sys.argv[:] = [script, *arguments]
    runpy.run_path(os.path.join(here, script), run_name="__main__")


try:
    launch(*sys.argv[1:])
except MemoryError:
    print("plots: out of memory", file=sys.stderr)
    sys.exit(1)
