# SPDX-License-Identifier: GPL-3.0-or-later
"""What the package costs: policies in Python against the same in C, environments, Arrow. Processor time of this process,
the least of several rounds. Usage: PYTHONPATH=build/release/python python3 python/tests/bench.py [las-rounds plug-in of docs/policies.md]
"""

import sys
import time

import numpy

import dlsim

TYPES = {"nodes": [{"count": 1250, "gpus": 8, "gpu_type": "V100", "rack_size": 8}]}


class Srtf:
    ageing = "time"

    def priority(self, job):
        return job.remaining


class LasRounds:
    interval = 360

    def round(self, view, plan):
        jobs = view.active
        plan.fill(jobs[view.attained_us(jobs).argsort(kind="stable")])


def least(call, rounds=7):
    best, result = float("inf"), None
    for _ in range(rounds):
        begin = call()
        at = time.process_time()
        result = begin()
        best = min(best, time.process_time() - at)
    return best, result


def of_run(cluster, trace, scheduler, plugins):
    def begin():
        sim = dlsim.Simulation(cluster, trace, scheduler, "first-fit", plugins=plugins)
        return lambda: sim.run().result()

    return begin


def compare(name, cluster, trace, theirs, ours, rounds=7, plugins=()):
    """In turn, so that what else the machine does meets all of them."""
    policies, best, runs = {"C": theirs, **ours}, {}, {}
    for _ in range(rounds):
        for what, policy in policies.items():
            seconds, runs[what] = least(of_run(cluster, trace, policy, plugins), 1)
            best[what] = min(best.get(what, seconds), seconds)
    for what in ours:
        same = "same digest" if runs[what].digest == runs["C"].digest else "OTHER DIGEST"
        print(f"{name}: C {best['C']:.3f} s, {what} {best[what]:.3f} s: {best[what] / best['C']:.3f} times, {same}")
    return runs["C"]


def orders():
    trace = dlsim.generate("philly", jobs=100000, gpus=10000, queueing="0.1:0.333")
    ours = {"Python": Srtf}
    try:
        ours["Numba"] = dlsim.compile(Srtf)
    except ImportError:
        print("no Numba")
    compare("srtf, 100,000 jobs on 10,000 GPUs", TYPES, trace, "srtf", ours)


def rounds(plugin):
    cluster = {"nodes": [{"count": 12, "gpus": 8, "gpu_type": "V100"}]}
    trace = dlsim.generate("philly", jobs=25000, gpus=512, load=1.0)
    run = compare("las-rounds, 25,000 jobs on 96 GPUs", cluster, trace, "las-rounds", {"NumPy": LasRounds},
                  rounds=3, plugins=[plugin])
    print(f"  {run['waiting_mean']:.0f} jobs wait on average")


def environments():
    from dlsim import envs

    env = envs.Schedule(copy=False)
    env.reset(seed=1)
    mask = env._b.mask[0]

    def single():
        for _ in range(100000):
            if env.step(int(mask[:-1].argmax()))[2]:
                env.reset()

    seconds, _ = least(lambda: single, 3)
    print(f"Schedule-v0, one: {100000 / seconds:,.0f} decisions a second of processor time")
    many = envs.VectorEnv(512)
    many.reset(seed=1)

    def vector():
        for _ in range(400):
            many._b.batch.step(actions, True)

    actions = numpy.zeros(512, numpy.int64)
    seconds, _ = least(lambda: vector, 3)
    print(f"512 at once, first job or wait: {400 * 512 / seconds:,.0f} decisions a second of processor time of a core")
    at = time.perf_counter()
    vector()
    print(f"the same by the clock, a thread a core: {400 * 512 / (time.perf_counter() - at):,.0f} decisions a second")


def arrow():
    import pyarrow

    n = 1000000
    table = {"num_gpu": [1] * n, "submit_time": list(range(n)), "duration": [10] * n}
    run = dlsim.run({"nodes": [{"count": 8, "gpus": 8, "gpu_type": "V100"}]}, table, "fifo", "count")
    seconds, _ = least(lambda: lambda: pyarrow.table(dlsim.Run(run._origin, run.digest).jobs), 5)
    print(f"1,000,000 jobs as an Arrow table: {1000 * seconds:.2f} ms")


if __name__ == "__main__":
    orders()
    if len(sys.argv) > 1:
        rounds(sys.argv[1])
    environments()
    arrow()
