# SPDX-License-Identifier: GPL-3.0-or-later
"""What the site needs beside the pages: the README as its first one, a place for pages that the table of contents
does not name, and what links out of docs/ lead to."""

import os
import re

from mkdocs.structure.files import File

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def pages(nav):
    for item in nav:
        values = item.values() if isinstance(item, dict) else [item]
        for value in values:
            yield from pages(value) if isinstance(value, list) else [value]


def on_config(config):
    named = set(pages(config.nav))
    more = sorted(f for f in os.listdir(config.docs_dir) if f.endswith(".md") and f not in named)
    if more:
        config.nav.append({"More": more})
    return config


def on_files(files, config):
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as readme:
        text = readme.read().replace("](docs/", "](")
    files.append(File.generated(config, "index.md", content=text))
    return files


def on_page_markdown(markdown, page, config, files):
    """Links to files of the repository that are no pages become the files' names."""

    def shown(match):
        target = match[2].split("#")[0]
        at = os.path.normpath(os.path.join(config.docs_dir, os.path.dirname(page.file.src_uri), target))
        outside = not at.startswith(config.docs_dir + os.sep)
        if page.file.src_uri == "index.md" and not os.path.exists(at):
            at, outside = os.path.join(ROOT, target), True
        return f"{match[1]} (`{os.path.relpath(at, ROOT)}`)" if outside and os.path.exists(at) else match[0]

    return re.sub(r"(?<!!)\[([^\]]*)\]\(([^):#]+(?:#[^)]*)?)\)", shown, markdown)
