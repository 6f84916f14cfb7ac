# SPDX-License-Identifier: GPL-3.0-or-later
"""The code of docs/python.md and of the README, as it stands there."""

import contextlib
import io
import os
import re
import tempfile
import unittest

import dlsim
from common import needs

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(dlsim.__file__))))


class Docs(unittest.TestCase):
    def blocks(self, name):
        with open(os.path.join(ROOT, name)) as file:
            return re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)

    def run_all(self, blocks):
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                names = {"__name__": "docs"}
                for block in blocks:
                    exec(compile(block, "docs", "exec"), names)
            finally:
                os.chdir(before)
        return names

    @needs("numpy", "pandas", "gymnasium")
    def test_python_md(self):
        blocks = self.blocks("docs/python.md")
        self.assertGreater(len(blocks), 7)
        names = self.run_all(blocks)
        self.assertEqual(names["run"]["jct_mean_s"], dlsim.run("quickstart", "philly_like_5000", "srtf")["jct_mean_s"])
        self.assertTrue(names["done"])

    def test_readme(self):
        blocks = [block for block in self.blocks("README.md") if "import dlsim" in block]
        self.assertEqual(len(blocks), 1)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.run_all(blocks)
        with open(os.path.join(ROOT, "README.md")) as file:
            text = file.read()
        for line in said.getvalue().splitlines():
            self.assertIn("    " + line + "\n", text)


if __name__ == "__main__":
    unittest.main()
