# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be called is annotated and documented, and the types that are declared are those that are there."""

import inspect
import os
import subprocess
import sys
import unittest

import dlsim
from common import needs


def public():
    """(name, function or property) of all that users call of the modules in Python."""
    for name in dlsim.__all__:
        value = getattr(dlsim, name)
        if inspect.isclass(value):
            yield from ((f"{name}.{of}", part) for of, part in vars(value).items()
                        if of[0] != "_" and (inspect.isfunction(part) or isinstance(part, property)))
        elif inspect.isfunction(value):
            yield name, value


class Types(unittest.TestCase):
    def test_annotated_and_documented(self):
        for name, value in public():
            with self.subTest(name):
                self.assertTrue(value.__doc__)
                signature = inspect.signature(value.fget if isinstance(value, property) else value)
                self.assertIsNot(signature.return_annotation, signature.empty)
                for one in signature.parameters.values():
                    self.assertTrue(one.name == "self" or one.annotation is not one.empty, one.name)

    @needs("mypy")
    def test_what_is_declared_is_there(self):
        path = {**os.environ, "MYPYPATH": os.path.dirname(os.path.dirname(dlsim.__file__))}
        slots = "dlsim._dlsim.Column.__buffer__"  # has a name from 3.12 on
        for words in (["mypy", "--cache-dir=/dev/null", "--no-site-packages", "--ignore-missing-imports", "-p", "dlsim"],
                      ["mypy.stubtest", "--concise", "--ignore-disjoint-bases", "--ignore-unused-allowlist",
                       "--allowlist=/dev/stdin", "dlsim._dlsim"]):
            done = subprocess.run([sys.executable, "-m", *words], input=slots, capture_output=True, text=True, env=path)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
