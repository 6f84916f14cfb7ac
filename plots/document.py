#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""document.py DRAWN DOCS: pictures and numbers of drawn figures into DOCS/figures.md and what else has a place for them.

Each block between '<!-- figure NAME -->' and '<!-- end -->' becomes the picture and the table of what
`dlsim reproduce NAME -o DRAWN` printed; the text around is written by hand."""

import os
import re
import shutil
import sys


def main(drawn, docs):
    for name in sorted(os.listdir(docs)):
        if name.endswith(".md"):
            fill(drawn, docs, os.path.join(docs, name))


def fill(drawn, docs, page):
    os.makedirs(os.path.join(docs, "figures"), exist_ok=True)
    with open(page, encoding="utf-8") as f:
        text = f.read()

    def block(match):
        name = match[1]
        rows = os.path.join(drawn, "data", f"{name}.md")
        if not os.path.exists(rows):
            return match[0]
        shutil.copy(os.path.join(drawn, f"{name}.png"), os.path.join(docs, "figures"))
        with open(rows, encoding="utf-8") as f:
            table = f.read()
        return (f"<!-- figure {name} -->\n![{name}](figures/{name}.png)\n\n| | published | here |\n|---|---|---|\n"
                f"{table}<!-- end -->")

    filled = re.sub(r"<!-- figure (\w+) -->\n.*?<!-- end -->", block, text, flags=re.S)
    if filled != text:
        with open(page, "w", encoding="utf-8") as f:
            f.write(filled)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: document.py DRAWN DOCS")
    main(*sys.argv[1:])
