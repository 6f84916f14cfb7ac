#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""draw.py FOLDER [FORMATS]: draw figures as their files become ready, in all formats or these ("png,svg").

Lines of standard input are 'NAME FILE...' with tabs between, the last is 'end': without it what should make the files has
failed. Rows of numbers go to FOLDER/data/NAME.md and to standard output. One process, because most of
what a picture costs is to load the libraries."""

import contextlib
import importlib
import io
import os
import sys

import results
import style


def draw(name, files, folder):
    rows = io.StringIO()
    with contextlib.redirect_stdout(rows):
        importlib.import_module(name).draw(files, folder)
    with open(os.path.join(folder, "data", f"{name}.md"), "w", encoding="utf-8") as f:
        f.write(rows.getvalue())
    print(rows.getvalue(), end="", flush=True)


def main(folder, formats=",".join(style.ENDINGS)):
    style.ENDINGS = [e for e in style.ENDINGS if e in formats.split(",")]
    for line in sys.stdin:
        name, *files = line.rstrip("\n").split("\t")
        if name == "end":
            return 0
        code = results.attempt(f"{name}.py", lambda: draw(name, files, folder))  # noqa: B023
        if code:
            return code
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) in (2, 3) else "usage: draw.py FOLDER [FORMATS] <LINES")
