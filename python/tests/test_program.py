# SPDX-License-Identifier: GPL-3.0-or-later
"""The program with --plugin=FILE.py."""

import os
import subprocess
import sys
import tempfile
import unittest

import dlsim
from common import needs

GOOD = '''
from dataclasses import dataclass

class Srtf:
    """shortest remaining time first"""
    ageing = "time"
    def priority(self, job):
        return job.remaining

class First:
    def place(self, request, nodes):
        for node, free in enumerate(nodes.free):
            if free >= request.gpus:
                return [(node, request.gpus)]

class Helper:
    pass
'''


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        data = dlsim.shipped()
        self.words = ["--config", data["clusters"]["quickstart"], "--trace", data["traces"]["quick_60"]]

    def file(self, text):
        path = os.path.join(self.folder, "mine.py")
        with open(path, "w") as file:
            file.write(text)
        return path

    def call(self, *words, **environment):
        environment = {**os.environ, "DLSIM_PYTHON": sys.executable, **environment}
        return subprocess.run([dlsim._run.program(), *words], capture_output=True, text=True, env=environment,
                              timeout=120)

    def test_runs(self):
        path, out = self.file(GOOD), os.path.join(self.folder, "run.h5")
        done = self.call("run", *self.words, f"--plugin={path}", "--scheduler=py-srtf", "-q", "-o", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(dlsim.read(out).digest, dlsim.run("quickstart", "quick_60", "srtf").digest)
        self.assertEqual(dlsim.read(out).texts["scheduler"], "py-srtf")

    def test_lists_and_compares(self):
        path = self.file(GOOD)
        done = self.call("list", "schedulers", "--plugin", path)
        self.assertIn("py-srtf", done.stdout)
        self.assertIn("shortest remaining time first", done.stdout)
        done = self.call("study", *self.words, "--plugin", path, "--schedulers=srtf,py-srtf",
                         "-o", os.path.join(self.folder, "runs"), "-j", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        merged = [name for name in os.listdir(os.path.join(self.folder, "runs")) if name.endswith(".h5")]
        runs = dlsim.read_all(os.path.join(self.folder, "runs", merged[0]))
        self.assertEqual(len(runs), 2)
        self.assertEqual(len({run.digest for run in runs.values()}), 1)

    @needs("pyarrow")
    def test_arrow_files(self):
        from pyarrow import ipc

        out = os.path.join(self.folder, "run.h5")
        words = [*self.words[:2], "--trace", dlsim.shipped()["traces"]["philly_like_5000"], "--scheduler=srtf"]
        self.assertEqual(self.call(*words, "-q", "-o", out).returncode, 0)
        run = dlsim.read(out)
        done = self.call("export", "--arrow", "--table=world", out, "-o", os.path.join(self.folder, "world.arrow"))
        self.assertEqual(done.returncode, 4, done.stderr)
        for name in ("jobs", "allocations", "series"):
            path = os.path.join(self.folder, name + ".arrow")
            done = self.call("export", "--arrow", f"--table={name}", out, "-o", path)
            self.assertEqual(done.returncode, 0, done.stderr)
            piped = subprocess.run([dlsim._run.program(), "export", "--arrow", f"--table={name}", out],
                                   capture_output=True, check=True).stdout
            with open(path, "rb") as file:
                self.assertEqual(file.read(), piped)
            table = ipc.open_file(path).read_all()
            table.validate(full=True)
            ours = getattr(run, name)
            self.assertEqual(table.column_names, list(ours))
            self.assertEqual(table.num_rows, len(ours))
            for column in ours:
                self.assertEqual(table[column].to_pylist(), ours[column].to_list(), column)
        jobs = ipc.open_file(os.path.join(self.folder, "jobs.arrow")).read_all()
        self.assertEqual(jobs["state"][0].as_py(), "finished")
        self.assertEqual(jobs["vc"].null_count, 0)
        self.assertEqual(jobs["model"].null_count, 5000)
        # As a stream, by those that read the messages one after another; without a batch's end they would fail.
        stream = ipc.open_stream(piped[8:])
        self.assertEqual(len(list(stream)), 1)

    def test_changed_file(self):
        """A file that changes within a second, to as many bytes, is another."""
        path = self.file(GOOD)
        stat = os.stat(path)
        self.assertIn("py-srtf", self.call("list", "schedulers", "--plugin", path).stdout)
        self.file(GOOD.replace("Srtf", "Srtg"))
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        self.assertIn("py-srtg", self.call("list", "schedulers", "--plugin", path).stdout)

    def test_sweep_knows_the_file(self):
        """A point is known by the policy's file, which its command names, too."""
        base, folder = os.path.join(self.folder, "sweep.cfg"), os.path.join(self.folder, "points")
        with open(base, "w") as file:
            file.write(f'sweep: {{ base = "{self.words[1]}"; set = ("trace.path={self.words[3]}", "cluster.nodes[0].count=1");'
                       ' axes = ({ key = "scheduler.name"; values = ["py-srtf"]; }); };')

        def digests():
            done = self.call("sweep", "run", base, f"--plugin={path}", "-q", "-o", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            points = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith(".h5")]
            self.assertIn(f"--plugin={path}", dlsim.read(points[0]).texts["cmdline"])
            return {dlsim.read(point).digest for point in points}

        path = self.file(GOOD)
        first = digests()
        self.assertEqual(digests(), first)
        self.file(GOOD.replace("job.remaining", "-job.remaining"))
        self.assertEqual(len(digests() | first), 2)
        self.assertIn(path, self.call("list", "schedulers", f"--plugin={path}").stdout)
        # What it imports from beside it counts, too, at once or when it is called.
        helper = os.path.join(self.folder, "helper_of_mine.py")
        for name, first, call in (("helped", "import helper_of_mine", "helper_of_mine.key(job)"),
                                  ("later", "def key(job):\n    from helper_of_mine import key\n    return key(job)", "key(job)")):
            for sign in ("", "-"):
                with open(helper, "w") as file:
                    file.write(f"# {sign * 9}\ndef key(job):\n    return {sign}job.remaining\n")
                self.file(f"import os, sys\nsys.path.insert(0, os.path.dirname(__file__))\n{first}\n" + GOOD.replace("job.remaining", call))
                folder = os.path.join(self.folder, name)
                helped = digests()
                self.assertEqual(len(helped), 2 if sign else 1, name)
        # What a batch system runs is the program, with the file.
        script = self.call("sweep", "submit", base, "--slurm", "--plugin", path, "-o", os.path.join(self.folder, "others")).stdout
        self.assertIn(f"exec {dlsim._run.program()} sweep run ", script)
        self.assertIn(f" --plugin {path} ", script)

    def test_several_files(self):
        path, other = self.file(GOOD), os.path.join(self.folder, "other.py")
        with open(other, "w") as file:
            file.write(GOOD.replace("Srtf", "Other").replace("class First", "class Second"))
        done = self.call("run", *self.words, f"--plugin={path}", "--plugin", other, "--scheduler=py-other", "--placement=py-first",
                         "-q", "-o", os.path.join(self.folder, "two.h5"))
        self.assertEqual(done.returncode, 0, done.stderr)
        command = dlsim.read(os.path.join(self.folder, "two.h5")).texts["cmdline"]
        self.assertIn(f"--plugin={path} --plugin {other} ", command)

    def test_wrong(self):
        path = self.file(GOOD.replace("return job.remaining", "return 1 / 0"))
        done = self.call("run", *self.words, f"--plugin={path}", "--scheduler=py-srtf")
        self.assertEqual(done.returncode, 1)
        self.assertIn("ZeroDivisionError", done.stderr)
        self.assertIn("in priority", done.stderr)
        self.assertIn("py-srtf", done.stderr.splitlines()[-1])
        for text, said in (("x = 1", "has no policy"), ("class", "SyntaxError"), ("x = 1 / 0", "line 1, in <module>")):
            done = self.call("run", *self.words, f"--plugin={self.file(text)}", "--scheduler=py-srtf")
            self.assertEqual(done.returncode, 4)
            self.assertIn(said, done.stderr)
            self.assertNotIn("importlib", done.stderr)
        done = self.call("run", *self.words, "--plugin=/nowhere.py")
        self.assertEqual(done.returncode, 4)
        self.assertIn("cannot be opened", done.stderr)
        done = self.call("run", *self.words, "--plugin=/nowhere.py", DLSIM_PYTHON="/no/python")
        self.assertIn("cannot be run", done.stderr)


if __name__ == "__main__":
    unittest.main()
