# SPDX-License-Identifier: GPL-3.0-or-later
"""Studies: many runs in one call, resumed by what they are of."""

import functools
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest

import dlsim
from common import TIGHT, jobs, needs


class Studies(unittest.TestCase):
    def test_is_resumed(self):
        from concurrent.futures import ThreadPoolExecutor

        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as executor:
            what = {"cluster": TIGHT, "trace": jobs()}
            vary = {"scheduler": ["fifo", "srtf", "nowhere"], "run.seed": [1, 2]}
            seen = []
            study = dlsim.study(what, vary, folder, executor, lambda *now: seen.append(now))
            self.assertEqual(seen[-1], (6, 6))
            self.assertEqual(len(study), 6)
            self.assertEqual([row["scheduler"] for row in study][::2], ["fifo", "srtf", "nowhere"])
            self.assertEqual(study.rows[2]["jct_mean_s"], dlsim.run(**what, scheduler="srtf")["jct_mean_s"])
            self.assertIn("unknown scheduler 'nowhere'", study.rows[4]["error"])
            self.assertIn("unknown scheduler 'nowhere'", str(study))
            self.assertEqual(len(os.listdir(folder)), 4)
            times = {name: os.stat(os.path.join(folder, name)).st_mtime_ns for name in os.listdir(folder)}
            again = dlsim.study(what, vary, folder, executor)
            self.assertEqual(str(again), str(study))
            self.assertEqual(times, {name: os.stat(os.path.join(folder, name)).st_mtime_ns for name in times})
            self.assertEqual(again.runs()[0].texts["scheduler"], "fifo")
            with open(study.paths[0], "r+b") as file:
                file.truncate(3000)
            self.assertEqual(str(dlsim.study(what, vary, folder, executor)), str(study))

    def test_knows_a_point_by_its_content(self):
        """Of two tables that look alike when they are printed, of two traces, files that a configuration names, and
        policies whose attributes differ."""
        from concurrent.futures import ThreadPoolExecutor

        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as executor:
            named, config = os.path.join(folder, "named.csv"), os.path.join(folder, "tight.cfg")
            text = ('schema_version = 1; cluster: { nodes = ( { count = 4; gpus = 8; gpu_type = "V100"; } ); }; '
                    'trace: { path = "named.csv"; };')
            with open(config, "w") as file:
                file.write(text)

            def mean(arguments, scheduler="srtf"):
                study = dlsim.study(arguments, {"scheduler": [scheduler]}, os.path.join(folder, "points"), executor)
                self.assertEqual(study.rows[0]["error"], "")
                return study.rows[0]["jct_mean_s"]

            for seed in (1, 2, 1):
                table = jobs(2500, seed)
                for name, ends in table.items():
                    ends[:4] = ends[-4:] = [1, 2, 3, 4] if name == "num_gpu" else [5, 5, 5, 5]
                said = dlsim.run(TIGHT, table, "srtf")["jct_mean_s"]
                self.assertEqual(mean({"cluster": TIGHT, "trace": table}), said)
                self.assertEqual(mean({"cluster": TIGHT, "trace": dlsim.load_trace(table)}), said)
                dlsim.load_trace(table).save(named)
                self.assertEqual(mean({"cluster": config}), said)
                self.assertEqual(mean({"cluster": text.replace("named.csv", named)}), said)
                try:
                    import numpy
                    import pandas
                except ImportError:
                    continue
                arrays = {name: numpy.array(column) for name, column in table.items()}
                self.assertEqual(mean({"cluster": TIGHT, "trace": arrays}), said)
                self.assertEqual(mean({"cluster": TIGHT, "trace": pandas.DataFrame(table)}), said)
                times = ["submit_time", "duration"][::1 if seed == 1 else -1]
                rows = numpy.array([(32, 0, 5), (32, 0, 9), (32, 1, 6)], [(name, "i4") for name in ("num_gpu", *times)])
                self.assertEqual(mean({"cluster": TIGHT, "trace": rows}), dlsim.run(TIGHT, rows, "srtf")["jct_mean_s"])
            for sign in (1, -1):
                weights = [sign] + [0] * 2000
                said = dlsim.run(TIGHT, jobs(), Weighted(weights))["jct_mean_s"]
                self.assertEqual(mean({"cluster": TIGHT, "trace": jobs()}, Weighted(weights)), said)
            for make in MAKE:
                for sign in (1, -1):
                    said = dlsim.run(TIGHT, jobs(), make(sign))["jct_mean_s"]
                    self.assertEqual(mean({"cluster": TIGHT, "trace": jobs()}, make(sign)), said, make)

    def test_knows_folders_and_recordings(self):
        identity = dlsim._study._argument
        with tempfile.TemporaryDirectory() as folder:
            tables, recording = os.path.join(folder, "tables"), os.path.join(folder, "answers.h5")
            config, table = os.path.join(folder, "one.cfg"), os.path.join(tables, "below", "one.csv")
            os.makedirs(os.path.dirname(table))
            with open(config, "w") as file:
                file.write('schema_version = 1; name = "tables"; perf: { table = "tables"; }; predictor: { predictions = "replay:answers.h5"; };')

            def said(*texts):
                for path, text in zip((table, recording), texts):
                    with open(path, "w") as file:
                        file.write(text)
                return [identity(*one) for one in (("perf__table", tables), ("predictor.predictions", "replay:" + recording), ("cluster", config))]

            first = said("a", "b")
            self.assertEqual(said("a", "b"), first)
            for other, differ in ((said("c", "b"), [True, False, True]), (said("a", "d"), [False, True, True])):
                self.assertEqual([a != b for a, b in zip(other, first)], differ)
            self.assertEqual(identity("name", tables), tables)
        self.assertEqual(len(dlsim._study._program()), 2)

    def test_knows_a_policy_again(self):
        """In another process, where texts hash otherwise; and whatever its methods are called."""
        code = ("import test_studies as t, dlsim._study as s\n"
                "print([s._identity(make(1)) for make in t.MAKE])")
        said = [subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": str(seed)}, check=True,
                               capture_output=True, text=True).stdout for seed in (1, 2)]
        self.assertEqual(*said)
        self.assertLess(len(said[0]), 20000)

    def test_knows_what_a_policy_calls(self):
        """Functions that it calls, in its module, in others and in the script that is run; and what is imported late."""
        policy = ("{imports}\nimport functools\n{define}\nclass Own:\n    ageing = 'none'\n"
                  "    def priority(self, job):\n        {late}\n        return {call}\n")
        helper = "def rank(job):\n    return 1 * job.submit\n"
        ways = {
            "own": ("", helper, "pass", "rank(job)"),
            "decorated": ("", "@functools.lru_cache\n" + helper, "pass", "rank(job)"),
            "through another": ("", helper + "def outer(job):\n    return rank(job)\n", "pass", "outer(job)"),
            "of a module": ("import helpers", "", "pass", "helpers.rank(job)"),
            "from a module": ("from helpers import rank", "", "pass", "rank(job)"),
            "late": ("", "", "import helpers", "helpers.rank(job)"),
            "late from": ("", "", "from helpers import rank", "rank(job)"),
            "late from a package": ("", "", "from pack import inner", "inner.rank(job)"),
            "far": ("", "", "import far", "far.rank(job)"),
        }
        files = {"helpers.py": helper, "far.py": "def rank(job):\n    from pack.inner import rank\n    return rank(job)\n",
                 "pack/__init__.py": "", "pack/inner.py": "def rank(job):\n    from . import deep\n    return deep.rank(job)\n",
                 "pack/deep.py": helper}
        say = "import dlsim._study as s, hashlib\nprint(hashlib.sha256(repr(s._identity(Own)).encode()).hexdigest())\n"

        def said(folder, file, text, sign):
            for name, content in {**files, file: text}.items():
                path = os.path.join(folder, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w") as out:
                    out.write(content if sign > 0 else content.replace("1 *", "-1 *"))
            run = "module.py" if file == "main.py" else file
            with open(os.path.join(folder, run), "w" if file == "main.py" else "a") as out:
                out.write(("from main import Own\n" if file == "main.py" else "") + say)
            return subprocess.run([sys.executable, "-B", run], cwd=folder, check=True, capture_output=True, text=True).stdout

        for name, (imports, define, late, call) in ways.items():
            text = policy.format(imports=imports, define=define, late=late, call=call)
            for file in ("main.py", "script.py"):
                with self.subTest(name, file=file), tempfile.TemporaryDirectory() as folder:
                    first = said(folder, file, text, 1)
                    self.assertEqual(len(first), 65)
                    self.assertEqual(said(folder, file, text, 1), first)
                    self.assertNotEqual(said(folder, file, text, -1), first)

    @needs("pandas")
    def test_knows_attributes_that_are_tables(self):
        import pandas

        def identity(index, value):
            return dlsim._study._identity(Weighted([pandas.Series([1], index=[index]), pandas.DataFrame({"a": [value]})]))

        self.assertEqual(identity(1, 2), identity(1, 2))
        self.assertEqual(len({repr(identity(*one)) for one in ((1, 2), (2, 2), (1, 3))}), 3)

    def test_values_are_a_list(self):
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(TypeError, "scheduler.*'fifo'"):
            dlsim.study({"cluster": TIGHT, "trace": jobs()}, {"scheduler": "fifo"}, folder)

    def test_in_processes(self):
        with tempfile.TemporaryDirectory() as folder:
            for trace in (jobs(), dlsim.load_trace(jobs())):
                study = dlsim.study({"cluster": TIGHT, "trace": trace}, {"scheduler": ["fifo", "srtf"]}, folder)
                self.assertEqual([row["error"] for row in study], ["", ""])

    @needs("distributed")
    @unittest.skipIf("LD_PRELOAD" in os.environ, "the sanitizers find in workers of dask what they find in test_in_processes")
    def test_on_dask(self):
        """A cluster of worker processes that share a folder, as on several machines."""
        from distributed import Client, LocalCluster

        what = {"cluster": TIGHT, "trace": jobs()}
        vary = {"scheduler": ["fifo", "srtf", Fewest], "run.seed": [1, 2]}
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as scratch:
            with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
                              local_directory=scratch) as cluster, Client(cluster) as client:
                study = dlsim.study(what, vary, folder, client.get_executor())
                self.assertEqual([row["error"] for row in study], [""] * 6)
                self.assertEqual(study.rows[2]["jct_mean_s"], dlsim.run(**what, scheduler="srtf")["jct_mean_s"])
                self.assertEqual(study.rows[4]["scheduler"], "Fewest")
                again = dlsim.study(what, vary, folder, client.get_executor())
                self.assertEqual(str(again), str(study))


def closed(sign):
    class Policy:
        def priority(self, job):
            return sign * job.remaining

    return Policy


def written(sign):
    """Of no source; with a global, a class attribute that is computed and a set."""
    names = {"SIGN": sign}
    exec("class Policy:\n    kinds = {'a', 'b', 'c', SIGN}\n    def priority(self, job):\n        return SIGN * job.remaining", names)
    return names["Policy"]


class Slotted:
    __slots__ = ("sign",)

    def __init__(self, sign):
        self.sign = sign

    def priority(self, job):
        return self.sign * job.remaining

    def to_dict(self):
        return {}


class Holding(Slotted):
    """What is of a library is known by its name, and not walked through."""

    __slots__ = ()
    held = [unittest, re.I, dict, threading.Lock(), re.compile("a")]


class Partly:
    def __init__(self, sign):
        self.priority = functools.partial(closed(sign).priority, None)


def bound(sign):
    policy = Partly(0)
    policy.priority = Slotted(sign).priority
    return policy


MAKE = (closed, written, bound, Slotted, Holding, Partly)


class Weighted:
    def __init__(self, weights):
        self.weights = weights

    def priority(self, job):
        return self.weights[0] * job.remaining


class Fewest:
    def priority(self, job):
        return job.gpus
