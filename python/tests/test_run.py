# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs, their tables and files."""

import os
import pickle
import re
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

import dlsim
from common import SMALL, TIGHT, jobs, needs


class Runs(unittest.TestCase):
    def test_warns_of_jobs_without_an_end(self):
        """Of those that can never run, why, and of those that nobody starts; of nothing else."""
        table = {"job_id": ["small", "big", "huge"], "num_gpu": [2, 64, 99], "submit_time": [0, 0, 0], "duration": [5, 5, 5]}
        with self.assertWarnsRegex(UserWarning, "^2 of 3 jobs can never run on this cluster and are left out: "
                                   "more GPUs than there are of a type; the first is big of 64 GPUs$") as caught:
            dlsim.run(TIGHT, table)
        self.assertEqual(caught.filename, __file__)

        class Nobody:
            def pass_(self, view, act):
                pass

        with self.assertWarnsRegex(UserWarning, "^1 of 1 jobs still wait when nothing is left to happen; the first is small "
                                   "of 2 GPUs, with 32 of 32 free$"):
            dlsim.run(TIGHT, {"job_id": ["small"], "num_gpu": [2], "submit_time": [0], "duration": [5]}, Nobody)
        with self.assertWarnsRegex(UserWarning, "^predictor.predictions: nothing is taken from .*nowhere"):
            dlsim.run(SMALL, "quick_60", predictor__predictions="replay:nowhere")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            dlsim.run(SMALL, "quick_60", "srtf")

    def test_is_what_the_program_does(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.h5")
            data = dlsim.shipped()
            subprocess.run(
                [dlsim._run.program(), "run", "--config", data["clusters"]["quickstart"], "--trace",
                 data["traces"]["quick_60"], "--scheduler=srtf", "-q", "-o", path], check=True)
            theirs = dlsim.read(path)
            ours = dlsim.run(SMALL, "quick_60", "srtf")
            self.assertEqual(theirs.digest, ours.digest)
            self.assertEqual(theirs.numbers["jct_mean_s"], ours["jct_mean_s"])
            self.assertEqual(theirs.texts["scheduler"], "srtf")
            empty = [name for name, text in theirs.texts.items() if text == ""]
            self.assertEqual(empty, ["predictor"])
            self.assertIn('name = "srtf"', theirs.texts["config_text"])

    def test_file_has_the_same_tables(self):
        run = dlsim.run(TIGHT, jobs(), "dlas-gpu")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.h5")
            run.write(path)
            back = dlsim.read(path)
            for name in ("jobs", "allocations", "series"):
                ours, theirs = getattr(run, name), getattr(back, name)
                self.assertGreater(len(ours), 0)
                self.assertEqual(list(ours), list(theirs))
                for column in ours:
                    self.assertEqual(ours[column].to_list(), theirs[column].to_list(), column)
                    self.assertEqual(ours[column].unit, theirs[column].unit)
            self.assertEqual(list(dlsim.read_all(path)), [back._origin.runs()[0]])
            trace, config = os.path.join(folder, "trace.csv"), os.path.join(folder, "tight.cfg")
            dlsim.load_trace(jobs()).save(trace)
            with open(config, "w") as file:
                file.write('schema_version = 1; cluster: { nodes = ({ count = 4; gpus = 8; gpu_type = "V100"; }); };')
            for read in trace, config:
                with self.assertRaisesRegex(dlsim.OutputError, "is also an input"):
                    dlsim.run(config, trace, "fifo").write(read)
            with self.assertRaises(dlsim.UsageError):
                back.write(path)
            with open(path, "r+b") as file:
                file.truncate(4000)
            with self.assertRaisesRegex(dlsim.InputError, "run.h5"):
                dlsim.read(path)

    def test_is_pickled(self):
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        run = dlsim.run(TIGHT, jobs(), "dlas-gpu")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.h5")
            back = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(run))))
            back.write(path)
            own = back.texts["path"]
            for other in back, dlsim.read(path), pickle.loads(pickle.dumps(dlsim.read(path))):
                self.assertEqual((other.digest, other.numbers), (run.digest, run.numbers))
                for name in ("jobs", "allocations", "series", "starts", "world"):
                    ours, theirs = getattr(run, name), getattr(other, name)
                    self.assertEqual([(c, ours[c].to_list()) for c in ours], [(c, theirs[c].to_list()) for c in theirs])
            self.assertNotEqual(own, path)
            self.assertTrue(os.path.exists(own))
            del back, other
            self.assertFalse(os.path.exists(own))
            self.assertLess(len(pickle.dumps(dlsim.read(path))), 1000)  # by its path
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            self.assertEqual(pool.submit(dlsim.run, TIGHT, jobs(), "dlas-gpu").result().digest, run.digest)

    def test_names_and_states_are_decoded(self):
        run = dlsim.run(SMALL, "quick_60", "srtf")
        self.assertEqual(set(run.jobs["state"].to_list()), {"finished"})
        self.assertIn("inception3", run.jobs["model"].categories)
        self.assertEqual(run.jobs["model"][0], "inception3")
        self.assertIsNone(run.jobs["vc"][0])
        self.assertEqual(run.jobs["id"][7], "7")
        self.assertIs(run.jobs.end_us, run.jobs["end_us"])
        with self.assertRaisesRegex(KeyError, "no column 'end' in jobs: it has id, "):
            run.jobs["end"]
        with self.assertRaisesRegex(KeyError, "allocations: it has no rows, and so no columns"):
            dlsim.run(TIGHT, {"num_gpu": [99], "submit_time": [0], "duration": [1]}).allocations["job"]
        with self.assertRaises(IndexError):
            run.jobs["gpus"][60]

    def test_until_is_a_number(self):
        for wrong in ("5s", float("nan"), [5]):
            with self.assertRaisesRegex(TypeError, "until is a time in seconds, not"):
                dlsim.Simulation(SMALL, "quick_60", "srtf").run(wrong)
        sim = dlsim.Simulation(SMALL, "quick_60", "srtf")
        self.assertEqual((sim.run(5).now, sim.run(7.5).now, sim.run(float("inf")).finished), (5, 7.5, True))

    def test_columns_outlive_the_run(self):
        column = dlsim.run(TIGHT, jobs(), "srtf").jobs["end_us"]
        view = memoryview(column)
        del column
        self.assertEqual(len(view), 200)
        self.assertGreater(min(view), 0)
        with self.assertRaises(TypeError):
            view[0] = 1

    def test_clusters(self):
        text = 'schema_version = 1; cluster: { nodes = ({ count = 4; gpus = 8; gpu_type = "V100"; }); };'
        whole = {"cluster": TIGHT, "placement": {"name": "first-fit"}}
        self.assertEqual(dlsim.run(text, jobs(), "srtf").digest, dlsim.run(TIGHT, jobs(), "srtf").digest)
        self.assertGreater(dlsim.run(whole, jobs(), "srtf")["jct_mean_s"], 0)
        with self.assertRaises(TypeError):
            dlsim.run(3, jobs())
        with self.assertRaises(TypeError):
            dlsim.run({"nodes": object()}, jobs())
        for number in float("nan"), float("inf"):
            with self.assertRaisesRegex(ValueError, f"no number {number}"):
                dlsim.run({"nodes": [{"count": number}]}, jobs())
        for again in {"run__seed": 1, "run.seed": 1}, {"scheduler.name": "fifo"}, {"predictor": "oracle", "predictor__source": "none"}:
            with self.assertRaisesRegex(TypeError, "is given twice"):
                dlsim.run(TIGHT, jobs(), "srtf", **again)
        with self.assertRaisesRegex(ValueError, "no key 'a; b'"):
            dlsim.run({"cluster": TIGHT, "a; b": 1}, jobs())
        for key in "cluster.nodes", "nodes[0]", "", 3:
            with self.assertRaisesRegex(ValueError, "a group has no key " + re.escape(repr(key))):
                dlsim.run({key: TIGHT["nodes"]}, jobs())

    def test_traces(self):
        table = jobs()
        rows = [dict(zip(table, row)) for row in zip(*table.values())]
        digest = dlsim.run(TIGHT, table, "srtf").digest
        self.assertEqual(dlsim.run(TIGHT, rows, "srtf").digest, digest)
        trace = dlsim.load_trace(table)
        self.assertEqual(len(trace), 200)
        self.assertEqual(dlsim.run(TIGHT, trace, "srtf").digest, digest)
        with tempfile.TemporaryDirectory() as folder:
            trace.save(os.path.join(folder, "t.csv"))
            self.assertEqual(dlsim.run(TIGHT, os.path.join(folder, "t.csv"), "srtf").digest, digest)
        with self.assertRaisesRegex(dlsim.InputError, "num_gpu"):
            dlsim.run(TIGHT, {"num_gpu": ["many"], "submit_time": [0], "duration": [1]})
        with self.assertRaises(ValueError):
            dlsim.load_trace({"num_gpu": [1, 2], "submit_time": [0]})
        with self.assertRaises(TypeError):
            dlsim.load_trace(5)

    def test_rows_of_tables_are_named(self):
        """A row by its number, also behind names that take two lines, and never the file of a moment."""
        table = {"job_id": ["a\nb", "c\nd", "e"], "num_gpu": [1, 1, 1], "submit_time": [0, 1, 2],
                 "duration": [5, float("nan"), 5]}
        with self.assertRaisesRegex(dlsim.InputError, r"^table: data row 2: the duration of job 'c\\x0[aA]d' is empty"):
            dlsim.run(TIGHT, table)
        for name, value, row in (("num_gpu", None, 1), ("submit_time", "soon", 2), ("job_id", "e", 3)):
            wrong = {**table, "duration": [5, 5, 5], name: list(table[name])}
            wrong[name][0 if name == "job_id" else row - 1] = value
            for call in (dlsim.load_trace, lambda table: dlsim.run(TIGHT, table)):
                with self.assertRaisesRegex(dlsim.InputError, f"^table: data row {row}: (job id 'e'|column '{name}')"):
                    call(wrong)
        with self.assertRaisesRegex(dlsim.InputError, "^table: the header lacks the column 'num_gpu'"):
            dlsim.load_trace({"num_gpus_": [1], "submit_time": [0]})
        table["duration"][1] = 5
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.h5")
            dlsim.run(TIGHT, table).write(path)
            self.assertEqual(dlsim.read(path).texts["trace_path"], "table")

    def test_keys_of_the_trace(self):
        """What a configuration says of its trace holds for one that is given, as the program's --trace."""
        table = {"num_gpu": [1, 2, 3], "submit_time": [0, 1, 2], "duration": [0, 5, 7]}
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "t.csv")
            dlsim.load_trace(jobs()).save(file)
            plain = os.path.join(folder, "plain.csv")
            with open(plain, "wb") as out:
                out.writelines(dlsim._inputs.lines(table))
            for trace in (table, plain):
                for options, durations in (({}, [1, 5, 7]), ({"trace__zero_duration": "keep"}, [0, 5, 7]),
                                           ({"trace.zero_duration": "drop"}, [5, 7]), ({"trace__max_jobs": 2}, [1, 5])):
                    run = dlsim.run(TIGHT, trace, "fifo", **options)
                    self.assertEqual([us / 1e6 for us in run.jobs["duration_us"].to_list()], durations)
                with self.assertRaisesRegex(dlsim.ConfigError, "nosuch"):
                    dlsim.run(TIGHT, trace, trace__assign="nosuch")
                sim = dlsim.Simulation(TIGHT, trace, trace__max_jobs=1)
                self.assertEqual(len(sim.view.gpus), 1)
            results = os.path.join(folder, "run.h5")
            subprocess.run([dlsim._run.program(), "run", "--config", dlsim.shipped()["clusters"]["placement-study"],
                            "--trace", file, "-q", "-o", results], check=True)
            self.assertEqual(dlsim.run("placement-study", file).digest, dlsim.read(results).digest)
            self.assertEqual(dlsim.run("placement-study", jobs()).digest, dlsim.read(results).digest)
        with self.assertRaisesRegex(dlsim.InputError, "^table: data row 2: a NUL byte"):
            dlsim.run(TIGHT, {**table, "user": ["a", "b\0", "c"]})
        with self.assertRaisesRegex(dlsim.UsageError, "trace.max_jobs: the trace is loaded already"):
            dlsim.run(TIGHT, dlsim.load_trace(table), trace__max_jobs=1)

    def test_clones_have_all_that_was_predicted(self):
        """Elastic jobs are asked about on other numbers of GPUs than they want: rows that a new predictor has not."""
        n = 40
        table = {"num_gpu": [1 + i % 8 for i in range(n)], "submit_time": [3 * i for i in range(n)], "duration": [50 + i for i in range(n)],
                 "min_gpus": [1] * n, "max_gpus": [16] * n, "model_name": ["resnet50"] * n}
        for scheduler in ("edf", "optimus", "pollux", "sia"):
            sim = dlsim.Simulation(TIGHT, table, scheduler, "hetero", "oracle", scheduler__restore_cost=1)
            clones = []
            for t in (10, 60, 120):
                clones.append(sim.run(t).clone())
            digests = {one.run().result().digest for one in (sim, *clones, clones[0])}
            self.assertEqual(len(digests), 1, scheduler)

    def test_guests_of_elastic_jobs(self):
        """Jobs that were resized are hosts of those alone that ask for what they hold; run.audit recounts it."""
        n, guests = 40, 0
        table = {"num_gpu": [1 + 3 * i % 8 for i in range(n)], "submit_time": list(range(n)), "min_gpus": [1] * n, "max_gpus": [8] * n,
                 "duration": [50 + 37 * i % 200 for i in range(n)], "model_name": [("resnet50", "bert_base", "vgg16")[i % 3] for i in range(n)]}
        for scheduler in ("edf", "pollux", "sia", "optimus", "shockwave", "allox", "gavel-las", "elasticflow"):
            run = dlsim.run(TIGHT, table, scheduler, "horus", "operator", run__audit=True, scheduler__restore_cost=1.5)
            gpu_us, restoring = [0] * n, [0] * n
            for job, start, end, gpus, rate, guest in zip(*(run.allocations[name] for name in (
                    "job", "start_us", "end_us", "gpus", "rate", "guest"))) if "guest" in run.allocations else ():
                gpu_us[job] += 0 if guest else gpus * (end - start)
                restoring[job] += 0 if guest or rate else gpus * (end - start)
            if "guest" in run.allocations:
                self.assertEqual(run.jobs["gpu_us"].to_list(), gpu_us, scheduler)
                self.assertEqual(run.jobs["gpu_restore_us"].to_list(), restoring, scheduler)
            guests += run["guest_starts"]
        self.assertGreater(guests, 20)

    @needs("numpy", "pandas")
    def test_columns_of_any_type(self):
        import datetime

        import numpy
        import pandas

        def durations(column, table=dict):
            rows = {"num_gpu": numpy.array([2, 1], numpy.int8)[::-1], "submit_time": numpy.array([0, 0.1], numpy.float32)}
            run = dlsim.run(TIGHT, table({**rows, "duration": column}))
            self.assertEqual(run.jobs["submit_us"].to_list(), [0, 100000])
            self.assertEqual(run.jobs["gpus"].to_list(), [1, 2])
            return run.jobs["duration_us"].to_list()

        second = datetime.timedelta(seconds=1)
        for column in (numpy.array([5, 0, 6.5, 0], object)[::2], numpy.array([5, 6.5], numpy.float16), [5 * second, 6.5 * second],
                       [numpy.timedelta64(5, "s"), numpy.timedelta64(65 * 10**8, "ns")],
                       numpy.ma.array([5, 6.5, 3], mask=[0, 0, 1])[:2], numpy.array([5000, 6500], "timedelta64[ms]"),
                       pandas.Categorical([5, 6.5]), pandas.array([5, 6.5], "Float32"), pandas.to_timedelta([5, 6.5], "s"),
                       numpy.array([5 * 10**9, 65 * 10**8], "timedelta64[ns]"), pandas.Series([5, 6.5], index=[7, 8])):
            self.assertEqual(durations(column), [5000000, 6500000])
        self.assertEqual(durations(pandas.to_timedelta([5, 6.5], "s"), pandas.DataFrame), [5000000, 6500000])
        for nothing in (numpy.ma.array([5, 6], mask=[0, 1]), [5, pandas.NA], [5, pandas.NaT], numpy.array([5, numpy.nan], "f4"),
                        pandas.array([5, None], "Int64"), numpy.array([5, "NaT"], "timedelta64[s]")):
            with self.assertRaisesRegex(dlsim.InputError, "^table: data row 2: the duration of job '1' is empty"):
                durations(nothing)
        with self.assertRaisesRegex(dlsim.InputError, "data row 1: column 'duration': '2020-01-01.*' is not a number"):
            durations(numpy.array(["2020-01-01", "2020-01-02"], "datetime64[ns]"))
        for wrong in (5, "56", numpy.ones((2, 2)), numpy.float64(5), {5, 6}, pandas.Series([5, 6]).to_dict()):
            with self.assertRaisesRegex(TypeError, "the column 'duration' of a trace is a list of values"):
                durations(wrong)
        with self.assertRaisesRegex(TypeError, "a dict for each job"):
            dlsim.load_trace([[1, 0, 5]])
        with self.assertRaisesRegex(ValueError, "one name"):
            dlsim.load_trace(pandas.DataFrame([[1, 0, 5, 6]], columns=["num_gpu", "submit_time", "duration", "duration"]))
        rows = numpy.array([(1, 0, 5), (2, 0.1, 6.5)], [("num_gpu", "i4"), ("submit_time", "f8"), ("duration", "f4")])
        self.assertEqual(dlsim.run(TIGHT, rows).jobs["duration_us"].to_list(), [5000000, 6500000])

    def test_job_ids_of_any_type(self):
        """Numbers, texts, bytes as h5py gives them, numbers that a gap has made floats."""
        import uuid

        table = jobs(4)
        name = uuid.uuid4()
        for ids, said in (([7, 8, 9, 10], ["7", "8", "9", "10"]), (["a", "b-1", "c d", "\u00e9"], None),
                          ([b"a", b"b", b"c", "\u00e9".encode()], ["a", "b", "c", "\u00e9"]),
                          (["#1", " b ", '"c"', "3,4"], None), ([1.0, 2.5, 3.0, 4.0], ["1", "2.5", "3", "4"]), ([name, 2, "x", b"y"], [str(name), "2", "x", "y"])):
            table["job_id"] = ids
            run = dlsim.run(TIGHT, table, "srtf")
            self.assertEqual(run.jobs["id"].to_list(), said or ids)
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "run.h5")
                run.write(path)
                self.assertEqual(dlsim.read(path).jobs["id"].to_list(), said or ids)

    def test_options_and_errors(self):
        a = dlsim.run(TIGHT, jobs(), "srtf", scheduler__restore_cost=0)
        self.assertEqual(a["overhead_mean_s"] if "overhead_mean_s" in a.numbers else 0, 0)
        self.assertNotEqual(a.digest, dlsim.run(TIGHT, jobs(), "srtf", **{"scheduler.restore_cost": 60}).digest)
        with self.assertRaisesRegex(dlsim.ConfigError, "did you mean 'srtf'") as caught:
            dlsim.run(TIGHT, jobs(), "srtff", placement="nowhere")
        self.assertEqual(len(caught.exception.problems), 2)
        with self.assertRaisesRegex(dlsim.InputError, "^table: data row 1: column 'submit_time'") as caught:
            dlsim.load_trace({"num_gpu": [1], "submit_time": [-1]})
        self.assertEqual(caught.exception.where, "table: data row 1")
        with self.assertRaises(dlsim.InputError):
            dlsim.run(TIGHT, "/nowhere.csv")
        with self.assertRaises(dlsim.Error):
            dlsim.run("/nowhere.cfg", jobs())
        with self.assertRaisesRegex(KeyError, "no number 'jct_men_s'.*jct_mean_s"):
            a["jct_men_s"]
        with self.assertRaisesRegex(TypeError, "7 is no policy"):
            dlsim.run(TIGHT, jobs(), 7)
        with self.assertRaisesRegex(ValueError, "run.page"):
            a.picture("run.page")

    @needs("numpy")
    def test_room_is_of_one_type(self):
        """A program that starts what fits, where GPUs are of two types and a quota holds some back."""
        cluster = {"nodes": [{"count": 2, "gpus": 4, "gpu_type": kind} for kind in ("V100", "A100")],
                   "virtual_clusters": [{"name": "a", "gpus": 4, "gpu_type": "V100"}]}

        class Starts:
            def pass_(self, view, act):
                for job in view.waiting:
                    if view.gpus[job] <= view.room(job):
                        act.start(job)

        class StartsByAll(Starts):
            def pass_(self, view, act):
                act.start([job for job in view.waiting if view.gpus[job] <= view.free_gpus])

        self.assertEqual(dlsim.run(cluster, jobs(), Starts)["completed"], 200)
        with self.assertRaisesRegex(dlsim.PolicyError, "beyond its quota: of one type that it can use it may have"):
            dlsim.run(cluster, jobs(), StartsByAll)

    @needs("numpy")
    def test_numbers_of_any_kind(self):
        """NumPy's, mixed lists, those beyond 32 bits; and infinity as a time."""
        import numpy

        nodes = {"count": numpy.int32(4), "gpus": numpy.int64(8), "gpu_type": numpy.str_("V100")}
        queues = numpy.array([100, 2000.5])
        as_keys = dlsim.run({"nodes": [nodes]}, jobs(), "dlas-gpu", scheduler__queue_limits=queues,
                            run__seed=numpy.int64(2**40), run__audit=numpy.bool_(True))
        in_dict = dlsim.run({"cluster": TIGHT, "run": {"seed": 2**40}, "scheduler": {
            "name": "dlas-gpu", "queue_limits": [100, 2000.5]}}, jobs())
        self.assertEqual(as_keys.digest, in_dict.digest)
        self.assertTrue(dlsim.Simulation(TIGHT, jobs(), "fifo").run(until=float("inf")).finished)

    def test_progress_and_interruption(self):
        seen = []
        dlsim.run(TIGHT, jobs(5000), "srtf", progress=lambda *said: seen.append(said))
        self.assertGreater(len(seen), 2)
        self.assertTrue(all(done <= n == 5000 for _, done, n in seen))

        def stop(*unused):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            dlsim.run(TIGHT, jobs(5000), "srtf", progress=stop)

    def test_control_c(self):
        """A signal ends a run without Python in it, and one with; the interpreter goes on."""
        code = """if True:
            import os, signal, threading, time, sys
            import dlsim
            class Srtf:
                ageing = "time"
                def priority(self, job):
                    return job.remaining
            trace = dlsim.generate("philly", jobs=200000, gpus=64, load=3.0)
            for policy in ("gandiva", Srtf):
                sim = dlsim.Simulation({"nodes": [{"count": 8, "gpus": 8, "gpu_type": "V100"}]}, trace, policy)
                threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
                begun = time.monotonic()
                try:
                    sim.run()
                    sys.exit("nothing was raised")
                except KeyboardInterrupt:
                    assert time.monotonic() - begun < 20
            print("went on")
        """
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200)
        self.assertEqual((done.returncode, done.stdout), (0, "went on\n"), done.stderr)

    def test_progress_bar(self):
        code = ("import dlsim; from common import TIGHT, jobs\n"
                "dlsim.run(TIGHT, jobs(5000), 'srtf', progress=True)")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=100)
        lines = done.stderr.decode().split("\r")
        self.assertGreater(len(lines), 3)
        self.assertRegex(lines[2], r"^\[#*\.*\] [\d,]+ of 5,000 jobs, day ")
        self.assertRegex(lines[-1], r"^\[#{30}\] 5,000 of 5,000 jobs, day [\d.]+\n$")

    @needs("h5py", "matplotlib")
    def test_picture(self):
        run = dlsim.run(SMALL, "quick_60", "srtf")
        png = run.picture()._repr_png_()
        self.assertEqual(png[:4], b"\x89PNG")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.h5")
            run.write(path)
            self.assertEqual(dlsim.read(path).picture()._repr_png_(), png)
            run.picture(os.path.join(folder, "run.svg"))
            self.assertGreater(os.stat(os.path.join(folder, "run.svg")).st_size, 10000)

    def test_threads(self):
        digests = []
        threads = [threading.Thread(target=lambda: digests.append(dlsim.run(TIGHT, jobs(2000), "srtf").digest))
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(set(digests)), 1)
        self.assertEqual(len(digests), 4)

    def test_import_is_quick(self):
        # Processor time: what else the machine does is no matter.
        code = "import time; t = time.process_time(); import dlsim; print(time.process_time() - t)"
        best = min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                                        check=True).stdout) for _ in range(5))
        self.assertLess(best, 0.1 if "LD_PRELOAD" not in os.environ else 2)

    @needs("numpy")
    def test_numpy(self):
        import numpy

        run = dlsim.run(TIGHT, jobs(), "srtf")
        end = numpy.asarray(run.jobs["end_us"])
        self.assertEqual(end.dtype, numpy.int64)
        self.assertFalse(end.flags.writeable)
        jct = (end - numpy.asarray(run.jobs["submit_us"])) / 1e6
        self.assertAlmostEqual(jct.mean(), run["jct_mean_s"], places=6)

    @needs("pandas", "numpy")
    def test_pandas(self):
        frame = dlsim.run(SMALL, "quick_60", "srtf").jobs.to_pandas()
        self.assertEqual(len(frame), 60)
        self.assertEqual(frame.state.iloc[0], "finished")
        self.assertTrue(frame.vc.isna().all())

        import pandas

        table = pandas.DataFrame(jobs())
        self.assertEqual(dlsim.run(TIGHT, table, "srtf").digest, dlsim.run(TIGHT, jobs(), "srtf").digest)

    @needs("pyarrow")
    def test_arrow(self):
        import pyarrow

        run = dlsim.run(SMALL, "quick_60", "srtf")
        table = pyarrow.table(run.jobs)
        table.validate(full=True)
        self.assertEqual(table.num_rows, 60)
        for name in run.jobs:
            self.assertEqual(table[name].to_pylist(), run.jobs[name].to_list(), name)
        one = pyarrow.array(run.jobs["end_us"])
        self.assertEqual(one.buffers()[1].address, _address(run.jobs["end_us"]))
        del run
        self.assertEqual(table["state"][0].as_py(), "finished")
        for name in ("allocations", "series"):
            pyarrow.table(getattr(dlsim.run(SMALL, "quick_60", "srtf"), name)).validate(full=True)

    @needs("polars")
    def test_polars(self):
        import polars

        frame = polars.DataFrame(dlsim.run(SMALL, "quick_60", "srtf").jobs)
        self.assertEqual(frame["model"][0], "inception3")
        self.assertEqual(frame["vc"].null_count(), 60)
        self.assertEqual(dlsim.run(TIGHT, polars.DataFrame(jobs()), "srtf").digest,
                         dlsim.run(TIGHT, jobs(), "srtf").digest)


@needs("duckdb", "pyarrow")
class Duckdb(unittest.TestCase):
    def test_takes_tables(self):
        import duckdb

        table = dlsim.run(SMALL, "quick_60", "srtf").jobs  # noqa: F841 duckdb finds it by its name
        said = duckdb.sql('select state, count(*), sum(gpus) from "table" group by state')
        self.assertEqual(said.fetchall(), [("finished", 60, sum(table["gpus"].to_list()))])


def _address(column):
    import numpy

    return numpy.asarray(column).ctypes.data


if __name__ == "__main__":
    unittest.main()
