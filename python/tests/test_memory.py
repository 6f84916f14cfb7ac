# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing is left behind by runs, policies, tables, clones, files and environments; what fails leaves nothing, too."""

import gc
import os
import tempfile
import unittest

import dlsim
from common import TIGHT, jobs, needs

RUNS = int(os.environ.get("DLSIM_LEAK_RUNS", "300"))


def resident():
    """Bytes of memory of the process."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Srtf:
    ageing = "time"

    def priority(self, job):
        return job.remaining


class Fails(Srtf):
    def priority(self, job):
        if job.index == 15:
            raise ValueError
        return 0


@unittest.skipIf("LD_PRELOAD" in os.environ, "the sanitizers keep memory that was freed")
class Memory(unittest.TestCase):
    def stays(self, once, n=RUNS):
        """Memory after twice as many calls is what it was after n, but for what one call may leave by chance."""
        for _ in range(n):
            once()
        before = resident()
        for _ in range(n):
            once()
        grown = (resident() - before) / n
        self.assertLess(grown, 2000, "bytes a call")

    def setUp(self):
        self.trace = dlsim.load_trace(jobs(20))

    def test_runs(self):
        def once():
            run = dlsim.run(TIGHT, self.trace, Srtf)
            run.jobs["state"].to_list()
            run.series.to_dict()
            memoryview(run.jobs["end_us"])
            run.numbers

        self.stays(once)

    def test_failures(self):
        def once():
            for policy in (Fails, "nowhere"):
                try:
                    dlsim.run(TIGHT, self.trace, policy)
                except (ValueError, dlsim.ConfigError):
                    pass

        self.stays(once)

    def test_clones(self):
        sim = dlsim.Simulation(TIGHT, self.trace, Srtf)
        sim.run(until=200)

        def once():
            copy = sim.clone()
            copy.run(until=300)
            copy.jobs()

        self.stays(once)

    def test_files(self):
        run = dlsim.run(TIGHT, self.trace, Srtf)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.h5")

            def once():
                run.write(path)
                dlsim.read(path).jobs["id"].to_list()

            self.stays(once, RUNS // 10)

    @needs("pyarrow")
    def test_arrow(self):
        import pyarrow

        run = dlsim.run(TIGHT, self.trace, "srtf")

        def once():
            pyarrow.table(run.jobs)
            run.jobs.__arrow_c_stream__()  # never taken
            run.jobs["state"].__arrow_c_array__()

        self.stays(once)

    @needs("gymnasium", "numpy")
    def test_environments(self):
        from dlsim import envs

        env = envs.Schedule(window=32)

        def once():
            env.reset(seed=0)
            for _ in range(5):
                env.step(0)

        self.stays(once)
        self.stays(lambda: envs.VectorEnv(3, window=64, place=True).reset(seed=1), RUNS // 10)


if __name__ == "__main__":
    unittest.main()
