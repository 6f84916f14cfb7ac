# SPDX-License-Identifier: GPL-3.0-or-later
"""The section of the manual page about commands, in mdoc: dlsim help --json | python3 docs/manual.py"""

import itertools
import json
import re
import sys


def text(words):
    """Every sentence on a line of its own, nothing that mdoc would take for a macro or an escape."""
    lines = re.sub(r"(?<!\..)\. ", ".\n", words)  # not "e.g. "
    lines = re.sub(r"(?m)^(?=[.'])", r"\\&", lines.replace("\\", "\\e"))
    return lines.replace("\n\n", "\n.Pp\n")


def word(argument):
    """An argument of a macro."""
    return '"' + argument.replace("\\", "\\e").replace('"', '""') + '"'


def option(row):
    letter = f" Fl {row['letter']} ," if row["letter"] else ""
    value = ""
    if row["value"]:
        optional = row["optional"]
        how = "" if "=" in row["value"] else " Ns Oo Ns = Ns" if optional else " Ns = Ns"
        value = f"{how} Ar {word(row['value'])}{' Oc' if optional else ''}"
    print(f".It{letter} Fl -{row['name']}{value}\n{text(row['help'])}")
    if row["default"]:
        print(f"The default is\n.Ql {word(row['default'])} .")


def items(rows, show):
    if rows:
        print(".Bl -tag -width Ds")
        for row in rows:
            show(row)
        print(".El")


def verb(row):
    words = " Ar " + word(row["words"]) if row["words"] else ""
    print(f".It Cm {row['name']}{words}\n{text(row['summary'])}")


def command(about):
    print(f".Ss dlsim {about['name']}\n{text(about['about'] or about['summary'])}")
    items(about["verbs"], verb)
    options = [row for row in about["options"] if row["name"] != "help"]
    for group, rows in itertools.groupby(options, lambda row: row["group"]):
        if group:
            print(f".Pp\n{text(group)}")
        items(list(rows), option)
    if about["notes"]:
        print(f".Pp\n{text(about['notes'])}")
    for part in about["parts"]:
        command(part)


commands = json.load(sys.stdin)
for which in ("Simulator", "Laboratory"):
    for one in commands:
        if one["group"] == which:
            command(one)
