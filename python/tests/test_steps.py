# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulations in steps, live state and clones."""

import gc
import unittest

import dlsim
from common import TIGHT, jobs


class Steps(unittest.TestCase):
    def first_come(self, sim, steps=None):
        """First come, first served, from outside; at most so many decisions."""
        n = 0
        while (steps is None or n < steps) and sim.step():
            n += 1
            view, act = sim.view, sim.act
            for job in view.waiting:
                if view.gpus[job] > view.free_gpus or not act.start(int(job)):
                    break
        return n

    def test_outside_is_fifo(self):
        sim = dlsim.Simulation(TIGHT, jobs(), placement="first-fit")
        self.first_come(sim)
        self.assertEqual(sim.result().digest, dlsim.run(TIGHT, jobs(), "fifo", "first-fit").digest)

    def test_clone(self):
        sim = dlsim.Simulation(TIGHT, jobs(), placement="first-fit")
        self.first_come(sim, 100)
        copy = sim.clone()
        self.assertEqual(copy.now, sim.now)
        self.first_come(copy)
        self.assertFalse(sim.finished)
        self.first_come(sim)
        self.assertEqual(sim.result().digest, copy.result().digest)
        with self.assertRaises(dlsim.UsageError):
            sim.clone()

    def test_ends_in_the_midst(self):
        """The jobs come from a generator that goes on with the simulation, or ends it."""
        for method in "start", "preempt", "decline", "remaining_us", "executed_us", "attained_us":
            for end in (lambda: sims[0].step(), lambda: (sims.clear(), gc.collect())):
                sims = [dlsim.Simulation(TIGHT, jobs(), placement="first-fit")]
                sims[0].step()
                of = sims[0].act if hasattr(sims[0].act, method) else sims[0].view

                def some():
                    yield 0
                    end()
                    yield 0

                with self.assertRaises(dlsim.Error, msg=method):
                    getattr(of, method)(some())

    def test_jobs_are_as_of_now(self):
        """The same as of a clone that ends there."""
        table = jobs()
        table.update(min_gpus=[max(1, n // 2) for n in table["num_gpu"]], max_gpus=[2 * n for n in table["num_gpu"]])

        class Share:
            joins = True

            def pass_(self, view, act):
                for job in view.waiting.tolist():
                    if not (view.gpus[job] <= view.room(job) and act.start(job)):
                        hosts = {view.host(one) for one in view.running.tolist()}
                        for one in view.running.tolist():
                            if view.host(one) < 0 and one not in hosts and view.held_gpus[one] == view.gpus[job]:
                                act.join(job, one)
                                break

        for scheduler in "srtf", "dlas-gpu", "easy", "gandiva", "sia", Share:
            sim = dlsim.Simulation(TIGHT, table, scheduler, "first-fit", **{"failures.node_mtbf": "1h"})
            for until in 100, 700.25, 1500, 4000:
                sim.run(until)
                live, there = sim.jobs(), sim.clone().result().jobs
                for name in there:
                    self.assertEqual(live[name].to_list(), there[name].to_list(), (scheduler, until, name))

    def test_what_has_ended(self):
        sim = dlsim.Simulation(TIGHT, jobs(), placement="first-fit")
        sim.step()
        view, act, column = sim.view, sim.act, sim.view.gpus
        sim.step()
        with self.assertRaises(dlsim.UsageError):
            view.waiting
        with self.assertRaises(dlsim.UsageError):
            act.start(0)
        self.assertEqual(len(column), 200)
        del sim, view, act
        self.assertGreater(min(column), 0)

    def test_illegal_action(self):
        sim = dlsim.Simulation(TIGHT, jobs(), placement="first-fit")
        sim.step()
        sim.act.start(150)
        with self.assertRaisesRegex(dlsim.PolicyError, "job 150"):
            sim.step()
        with self.assertRaises(dlsim.UsageError):
            sim.step()

    def test_in_pieces(self):
        sim = dlsim.Simulation(TIGHT, jobs(), "srtf")
        with self.assertRaises(dlsim.UsageError):
            sim.step()
        sim.run(until=500)
        self.assertEqual(sim.now, 500)
        self.assertGreater(sim.counts["submitted"], 5)
        live = sim.jobs()["state"].to_list()
        self.assertIn("running", live)
        sim.run()
        self.assertEqual(sim.result().digest, dlsim.run(TIGHT, jobs(), "srtf").digest)
        self.assertIn("running", live)

    def test_closed_early(self):
        sim = dlsim.Simulation(TIGHT, jobs(), "srtf")
        sim.run(until=500)
        run = sim.result()
        self.assertIn("running", run.jobs["state"].to_list())


if __name__ == "__main__":
    unittest.main()
