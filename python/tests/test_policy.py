# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies in Python: they do what those in C do, and wrong ones raise."""

import gc
import math
import os
import shutil
import subprocess
import tempfile
import threading
import time
import traceback
import types
import unittest
import unittest.mock
import weakref

import dlsim
from common import TIGHT, Srtf, jobs, needs, run


class LasRounds:
    """least attained service, every six minutes"""

    interval = 360

    def round(self, view, plan):
        import numpy

        jobs = numpy.concatenate([view.running, view.waiting])
        order = jobs[numpy.lexsort((jobs, view.attained_us(jobs)))]
        left, chosen = view.total_gpus, []
        for job, gpus in zip(order.tolist(), view.gpus[order].tolist()):
            if gpus <= left:
                left -= gpus
                chosen.append(job)
                if left == 0:
                    break
        return chosen


class LasFill:
    """the same by what the extension has for it"""

    interval = 360

    def round(self, view, plan):
        jobs = view.active
        plan.fill(jobs[view.attained_us(jobs).argsort(kind="stable")])


class Fifo:
    discipline = "strict"

    def priority(self, job):
        return job.submit


class Orders(unittest.TestCase):
    def test_same_as_in_c(self):
        for policy, name in ((Srtf, "srtf"), (Srtf(), "srtf"), (Fifo, "fifo")):
            self.assertEqual(run(policy).digest, run(name).digest)

    def test_levels(self):
        class Small(Fifo):
            discipline = "preempt"

            def priority(self, job):
                return (0 if job.gpus < 4 else 1, job.submit)

        class Wide(Fifo):
            discipline = "preempt"

            def priority(self, job):
                return job.submit + (0 if job.gpus < 4 else 1e9)

        self.assertEqual(run(Small).digest, run(Wide).digest)
        self.assertNotEqual(run(Small).digest, run(Srtf).digest)

    def test_asked_again(self):
        times = {}

        class Again(Fifo):
            def priority(self, job):
                times.setdefault(job.index, []).append(job.now)
                if job.starts == 0:
                    job.again_in(7.5)
                return job.submit

        run(Again)
        self.assertGreater(max(len(asked) for asked in times.values()), 20)
        for asked in times.values():
            self.assertEqual([b - a for a, b in zip(asked, asked[1:-2])], [7.5] * (len(asked) - 3))

    def test_numbers_of_jobs(self):
        seen = {}

        class Look(Fifo):
            def priority(self, job):
                if job.index == 5 and not job.running and 5 not in seen:
                    seen[5] = {name: getattr(job, name) for name in dir(job) if name[0] != "_" and name != "again_in"}
                return job.submit

        trace = jobs()
        trace["user"] = [f"u{i % 3}" for i in range(200)]
        run(Look, trace)
        self.assertEqual(seen[5]["user"], "u2")
        self.assertEqual(seen[5]["gpus"], trace["num_gpu"][5])
        self.assertEqual(seen[5]["submit"], trace["submit_time"][5])
        self.assertEqual(seen[5]["duration"], trace["duration"][5])
        self.assertIs(seen[5]["running"], False)
        self.assertIsNone(seen[5]["deadline"])
        self.assertIsNone(seen[5]["rate"])
        self.assertIsNone(seen[5]["model"])

    @needs("numba")
    def test_compiled(self):
        class Weighted(Srtf):
            weight = 2.5

            def priority(self, job):
                return job.remaining * self.weight if job.gpus > 1 else job.remaining

        self.assertEqual(run(dlsim.compile(Srtf)).digest, run("srtf").digest)
        # What keys of Python and of machine code are is the same double.
        self.assertEqual(run(dlsim.compile(Weighted)).digest, run(Weighted).digest)

    @needs("numba")
    def test_compiled_names(self):
        """Numbers of the job that functions in it use, and those that it calls; numbers of NumPy; a field's name."""
        import numba
        import numpy

        work = numba.njit(lambda job: job.remaining * job.gpus)

        class Nested(Srtf):
            def priority(self, job):
                left = lambda: job.remaining
                return left()

        class Calls(Srtf):
            def priority(self, job):
                return work(job)

        class Work(Srtf):
            def priority(self, job):
                return job.remaining * job.gpus

        class Single(Srtf):
            remaining = numpy.float32(2)

            def priority(self, job):
                return job.remaining * self.remaining

        class Private(Srtf):
            _weight, _times, _is, other = 2.5, 3, True, 1

            def priority(self, job):
                return job.remaining * self._weight * self._times + self.other if self._is and job.gpus > 1 else job.remaining

        self.assertEqual(run(dlsim.compile(Private)).digest, run(Private).digest)
        there = types.ModuleType("there")
        there.inner = types.ModuleType("inner")
        there.inner.left = numba.njit(lambda job: job.remaining)
        pair = (numba.njit(lambda job: job.gpus), there.inner.left)
        there.left = numba.njit(lambda job: pair[1](job))

        class Module(Srtf):
            def priority(self, job):
                return there.left(job) if job.gpus > 0 else there.inner.left(job)

        class Item(Srtf):
            def priority(self, job):
                return job["remaining"]

        for policy in Module, Item:
            self.assertEqual(run(dlsim.compile(policy)).digest, run("srtf").digest)
        self.assertEqual(run(dlsim.compile(Nested)).digest, run("srtf").digest)
        self.assertEqual(run(dlsim.compile(Calls)).digest, run(dlsim.compile(Work)).digest)
        self.assertEqual(run(dlsim.compile(Single)).digest, run(Single).digest)

    def test_clone(self):
        class Counting(Srtf):
            def __init__(self):
                self.calls = 0

            def priority(self, job):
                self.calls += 1
                return job.remaining + self.calls % 3

        sim = dlsim.Simulation(TIGHT, jobs(), Counting, "first-fit")
        sim.run(until=2000)
        copy = sim.clone()
        self.assertEqual(copy.run().result().digest, sim.run().result().digest)

    def test_instance_is_used(self):
        policy = Srtf()
        policy.calls = 0

        class Counting(Srtf):
            def priority(self, job):
                self.calls = getattr(self, "calls", 0) + 1
                return job.remaining

        policy = Counting()
        run(policy)
        self.assertGreater(policy.calls, 400)


class Gangs:
    """the gang or nothing"""

    def pass_(self, view, act):
        for job in view.waiting:
            if view.gpus[job] <= view.room(job):
                act.start(job)


class Programs(unittest.TestCase):
    def test_rigid(self):
        table = {"num_gpu": [2, 64], "submit_time": [0, 0], "duration": [5, 5], "min_gpus": [1, 1], "max_gpus": [2, 64]}
        run = dlsim.run(TIGHT, table, type("Rigid", (Gangs,), {"rigid": True}))
        self.assertEqual([run.number(name)[0] for name in ("completed", "infeasible")], [1, 1])
        run = dlsim.run(TIGHT, table, Gangs)
        self.assertEqual([run.number(name)[0] for name in ("completed", "infeasible", "unfinished")], [1, 0, 1])

    def test_pass_is_fifo(self):
        class First:
            def pass_(self, view, act):
                free = view.free_gpus
                for job in view.waiting:
                    if view.gpus[job] > view.free_gpus or not act.start(int(job)):
                        break

        self.assertEqual(run(First).digest, run("fifo").digest)

    @needs("numpy")
    def test_round_is_the_one_in_c(self):
        """That of docs/policies.md, compiled."""
        import numpy

        compiler = shutil.which("cc")
        if not compiler:
            self.skipTest("no compiler")
        source = os.path.realpath(os.path.join(os.path.dirname(dlsim.__file__), "__init__.py"))
        root = os.path.dirname(os.path.dirname(os.path.dirname(source)))
        with open(os.path.join(root, "docs", "policies.md")) as file:
            text = file.read().split("## A round")[1].split("```c\n")[1].split("```")[0]
        with tempfile.TemporaryDirectory() as folder:
            plugin = os.path.join(folder, "las.so")
            with open(os.path.join(folder, "las.c"), "w") as file:
                file.write(text)
            subprocess.run([compiler, "-std=c17", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-I",
                            os.path.join(root, "sim", "include"), "-o", plugin, file.name],
                           check=True, env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"})
            theirs = run("las-rounds", plugins=[plugin])
        self.assertEqual(run(LasRounds).digest, theirs.digest)
        self.assertEqual(run(LasRounds).digest, run(LasRounds()).digest)
        self.assertEqual(run(LasFill).digest, theirs.digest)

    @needs("numpy")
    def test_fill_leaves_what_is_down(self):
        for seed in range(4):
            done = run(LasFill, **{"run.seed": seed, "failures.node_mtbf": "1h", "checkpoint.period": "5min"})
            self.assertGreater(done["node_failures"], 0)
            self.assertEqual(done["completed"], 200)

    @needs("numpy")
    def test_what_a_round_returns(self):
        import numpy

        class Rounds:
            """the longest waiting by submission, every five minutes"""

            interval = 300
            on_arrival = True

            def round(self, view, plan):
                running, waiting = view.running, view.waiting
                plan.keep(running)
                order = waiting[numpy.argsort(view.submit_us[waiting], kind="stable")]
                fits = numpy.cumsum(view.gpus[order]) <= view.free_gpus
                plan.run(order[fits])

        class Returns(Rounds):
            def round(self, view, plan):
                plan.keep_all()
                waiting = view.waiting
                return waiting[numpy.cumsum(view.gpus[waiting]) <= view.free_gpus]

        self.assertEqual(run(Rounds).digest, run(Returns).digest)

    @needs("numpy")
    def test_round_view_is_like_a_programs(self):
        import numpy

        test, seen = self, []

        class Look:
            interval = 60  # jobs run for several of them

            def round(self, view, plan):
                test.assertEqual(view.total_gpus, 32)
                test.assertEqual(view.node_free.sum(), view.free_gpus)
                test.assertEqual(view.free(0), view.free_gpus)
                left = view.remaining_us(view.waiting)
                test.assertTrue((left > 0).all())
                test.assertTrue((view.executed_us(view.running) >= 0).all())
                test.assertEqual(view.job(0)["gpus"], view.gpus[0])
                rates = [view.job(int(job))["rate"] for job in view.running if view.executed_us([job])[0] > 0]
                test.assertEqual(rates, [1.0] * len(rates))
                seen.extend(rates)
                test.assertIsNone(view.predict(0, 0, 1))
                test.assertEqual(view.active.tolist(), sorted([*view.waiting.tolist(), *view.running.tolist()]))
                plan.keep_all()
                for job in view.waiting[view.gpus[view.waiting] <= view.free_gpus][:1]:
                    plan.set(int(job), gpus=0, type=0)

        run(Look, jobs(20))
        self.assertGreater(len(seen), 20)


class Wrong(unittest.TestCase):
    def raises(self, error, regex, function, kind="priority", **attributes):
        policy = type("Bad", (), {kind: function, **attributes})
        with self.assertRaisesRegex(error, regex) as caught:
            run(policy)
        return caught.exception

    def test_exceptions_come_back_with_their_traceback(self):
        def priority(self, job):
            if job.index > 20:
                raise LookupError("lost my way")
            return 0

        try:
            run(type("Bad", (), {"priority": priority}))
        except LookupError as error:
            self.assertEqual(str(error), "lost my way")
            self.assertIn("in priority", "".join(traceback.format_tb(error.__traceback__)))
        else:
            self.fail("nothing was raised")

    def test_priorities(self):
        self.raises(ValueError, "NaN", lambda self, job: float("nan"))
        self.raises(TypeError, "'soon'", lambda self, job: "soon")
        self.raises(TypeError, "NoneType", lambda self, job: None)
        self.raises(ValueError, "level", lambda self, job: (1, 2, 3))
        self.raises(ValueError, "4e12", lambda self, job: 1e30)
        self.raises(OverflowError, "", lambda self, job: (2**40, 1))
        self.raises(TypeError, "positional", lambda self: 1)
        self.raises(ValueError, "future", lambda self, job: job.again_in(-1))
        self.raises(AttributeError, "gpu", lambda self, job: job.gpu)
        self.raises(SystemExit, "3", lambda self, job: exit(3))
        run(type("Last", (), {"priority": lambda self, job: float("inf")}))

    @needs("numpy")
    def test_arrays(self):
        import numpy

        self.raises(TypeError, "", lambda self, job: numpy.zeros(3))
        self.raises(TypeError, "2D", lambda self, view, plan: numpy.zeros((2, 2), dtype=int), "round")
        self.raises(TypeError, "of 'd'", lambda self, view, plan: plan.run(numpy.zeros(2)), "round")
        self.raises(dlsim.PolicyError, "job", lambda self, view, plan: numpy.array([10**6]), "round")
        self.raises(OverflowError, "no job", lambda self, view, plan: numpy.array([2**40]), "round")
        for jobs in ([10**6], [-1], numpy.int32(10**6), numpy.array(-7)):
            self.raises(IndexError, "no job", lambda self, view, plan, jobs=jobs: plan.fill(jobs), "round")

        def writes(self, view, act):
            view.gpus[0] = 7

        self.raises(ValueError, "read-only", writes, "pass_")

    def test_passes_and_rounds(self):
        self.raises(TypeError, "returns None", lambda self, view, act: 5, "pass_")
        self.raises(TypeError, "numbers", lambda self, view, plan: "all", "round")
        self.raises(dlsim.PolicyError, "named twice|twice", lambda self, view, plan: [0, 0], "round")
        self.raises(dlsim.PolicyError, "job 150", lambda self, view, act: (act.start(150), None)[1], "pass_")
        self.raises(dlsim.PolicyError, "", lambda self, view, act: act.preempt([-3]), "pass_")
        self.raises(IndexError, "no job", lambda self, view, act: view.remaining_us([10**6]), "pass_")
        for interval in -1, 0, math.nan, "60", None, 1e-9:
            self.raises(ValueError, "interval is a time", lambda self, view, plan: None, "round", interval=interval)
        run(type("Once", (LasFill,), {"interval": math.inf, "on_arrival": True, "on_end": True}))
        for name in 5, "x\0y":
            self.raises(ValueError, "its name is", lambda self, view, plan: None, "round", name=name)

    def test_tables(self):
        with self.assertRaisesRegex(TypeError, "exactly one"):
            run(type("Both", (), {"priority": 1, "pass_": len, "round": len}))
        with self.assertRaisesRegex(ValueError, "discipline"):
            run(type("Odd", (), {"priority": len, "discipline": "lazy"}))
        with self.assertRaises(dlsim.Error):
            run(type("Odd", (Srtf,), {"name": "srtf"}))

        class Breaks(Srtf):
            def __init__(self):
                raise RuntimeError("not today")

        with self.assertRaisesRegex(RuntimeError, "not today"):
            run(Breaks)

    @needs("numba")
    def test_compiled(self):
        class Nan(Srtf):
            def priority(self, job):
                return job.deadline

        class Text(Srtf):
            def priority(self, job):
                return job.model

        class Raises(Srtf):
            def priority(self, job):
                return 1 / (job.gpus - job.gpus)

        for policy in Nan, Raises:
            with self.assertRaisesRegex(dlsim.PolicyError, "NaN"):
                run(dlsim.compile(policy))
        for policy in LasFill, 5:
            with self.assertRaises(TypeError):
                dlsim.compile(policy)
        with self.assertRaises(Exception):
            dlsim.compile(Text)

    def test_what_is_kept_raises_and_does_no_harm(self):
        kept = []

        class Keeps(Srtf):
            def priority(self, job):
                kept.append(job)
                return job.remaining

        self.assertEqual(run(Keeps).digest, run("srtf").digest)
        self.assertEqual(len({id(job) for job in kept}), len(kept))
        for job in kept[:10]:
            with self.assertRaises(dlsim.UsageError):
                job.remaining

        class Views:
            def pass_(self, view, act):
                kept.append((view, act, view.gpus, view.waiting))
                if kept[0] is not view and act.start(view.waiting[:0]):
                    pass
                for job in view.waiting:
                    if view.gpus[job] > view.free_gpus or not act.start(job):
                        break

        kept.clear()
        self.assertEqual(run(Views).digest, run("fifo").digest)
        gc.collect()
        view, act, gpus, waiting = kept[3]
        with self.assertRaises(dlsim.UsageError):
            view.free_gpus
        with self.assertRaises(dlsim.UsageError):
            act.start(0)
        self.assertEqual(len(gpus), 200)
        self.assertEqual(sum(gpus) > 0, True)

    def test_endless_loop(self):
        def priority(self, job):
            while True:
                pass

        begun = time.monotonic()
        policy = type("Loops", (), {"priority": priority})
        with self.assertRaises(dlsim.TimeLimit):
            run(policy, policy_time_limit=0.3)
        self.assertLess(time.monotonic() - begun, 20)

        def stubborn(self, job):
            while True:
                try:
                    sum(range(100))
                except Exception:
                    pass

        policy = type("Loops", (), {"priority": stubborn})
        with self.assertRaisesRegex(dlsim.TimeLimit, "stubborn .*test_policy.py, line .*0.3 s"):
            run(policy, policy_time_limit=0.3)
        self.assertEqual(run(Srtf, policy_time_limit=5).digest, run("srtf").digest)
        failed = []
        with unittest.mock.patch.object(threading, "excepthook", failed.append):
            self.assertEqual(run(Srtf, policy_time_limit=math.inf).digest, run("srtf").digest)
        self.assertEqual(failed, [])
        for limit in (0, -1, math.nan):
            with self.assertRaisesRegex(ValueError, "policy_time_limit"):
                run(Srtf, policy_time_limit=limit)

    def test_two_threads(self):
        inside, errors = threading.Event(), []
        sim = None

        class Slow(Srtf):
            def priority(self, job):
                if not inside.is_set():
                    inside.set()
                    time.sleep(0.3)
                return job.remaining

        sim = dlsim.Simulation(TIGHT, jobs(), Slow, "first-fit")

        def other():
            inside.wait()
            for call in (sim.run, sim.clone, sim.jobs, lambda: sim.view, sim.result):
                try:
                    call()
                except dlsim.UsageError as error:
                    errors.append(error)

        thread = threading.Thread(target=other)
        thread.start()
        sim.run()
        thread.join()
        self.assertEqual(len(errors), 5)

    def test_calls_itself(self):
        class Recursive(Srtf):
            def priority(self, job):
                Recursive.sim.run()
                return 0

        Recursive.sim = dlsim.Simulation(TIGHT, jobs(), Recursive, "first-fit")
        with self.assertRaisesRegex(dlsim.UsageError, "in use"):
            Recursive.sim.run()
        del Recursive.sim

    def test_nothing_is_kept(self):
        policy = Srtf()
        ref = weakref.ref(policy)
        sim = dlsim.Simulation(TIGHT, jobs(), policy, "first-fit")
        policy.sim = sim  # a cycle
        sim.run(until=300)
        del policy, sim
        gc.collect()
        self.assertIsNone(ref())


if __name__ == "__main__":
    unittest.main()
