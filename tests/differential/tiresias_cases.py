#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw small random traces and clusters, run an independent reference on them, print both.

    tiresias_cases.py <folder of tiresias_reference.py> <cases> <seed> > cases.txt

One case is a block of lines: "case schedule scheme python3 switches nodes gpus cpus mem", "samples ...",
one "job gpus submit duration start end pending preempt resume promote service status" per job in (submit,
file) order (-1: never), and "ended ..." with the indices of ended jobs in the order of ending.
The draws favour coincidences: few distinct times, GPU counts and durations.
"""
import random
import sys

QUEUES = ['dlas', 'dlas-gpu', 'dlas-gpu-pack', 'dlas-gpu-05', 'dlas-gpu-1', 'dlas-gpu-2', 'dlas-gpu-4',
          'dlas-gpu-8', 'dlas-gpu-10', 'dlas-gpu-100', 'dlas-gpu-1000', 'dlas-gpu-gittins',
          'dlas-gpu-gittins', 'dlas-gpu-gittins', 'dlas-gpu-gittins-1', 'multi-dlas-gpu', 'multi-dlas-gpu']
SORTED = ['sjf', 'shortest', 'shortest', 'shortest-gpu', 'shortest-gpu', 'shortest-gpu', 'shortest-expected']
BATCH = ['fifo', 'fjf', 'lpjf']


def draw_times(rng, n, family):
    """Submission times and durations."""
    if family == 'dlas' or rng.random() < 0.15:
        grid = rng.choice([1, 50, 130, 325, 650, 812, 1625])
        span = rng.choice([3000, 12000, 60000]) // grid
        span = rng.choice([span, span, 2, 4])
        longest = rng.choice([4000, 9000, 30000]) // grid
    else:
        grid = rng.choice([1, 1, 1, 2, 3, 10])
        span, longest = rng.choice([0, 3, 10, 30, 200]), rng.choice([2, 4, 8, 20, 100])
    special = [0, 0, 1, 1625, 3250, 3250, 7200, 3600, 10450]
    submit = [grid * rng.randint(0, span) for _ in range(n)]
    if rng.random() < 0.3:
        submit = [s + rng.choice([0, 0, 600, 3250, 7200]) for s in submit]
    duration = [grid * rng.randint(0, longest) for _ in range(n)]
    if family == 'dlas':
        duration = [rng.choice(special) if rng.random() < 0.2 else d for d in duration]
    return submit, duration


def draw(rng):
    family = rng.choices(['dlas', 'sorted', 'batch', 'gandiva'], [6, 5, 2, 1])[0]
    n = rng.choice([1, 2, 3, 4, 6, 8, 12, 20, 40])
    schedule = rng.choice({'dlas': QUEUES, 'sorted': SORTED, 'batch': BATCH, 'gandiva': ['gandiva']}[family])
    scheme = 'gandiva' if family == 'gandiva' else 'count'
    if family in ('sorted', 'batch') and rng.random() < 0.4:
        scheme = 'yarn'
    nodes = rng.choice([1, 1, 2, 3, 5])
    spec = dict(num_switch=rng.choice([1, 1, 2, 3]), num_node_p_switch=nodes,
                num_gpu_p_node=rng.choice([1, 2, 3, 4, 8]), num_cpu_p_node=rng.choice([12, 24, 48, 64]),
                mem_p_node=rng.choice([5, 12, 30, 60, 256]))
    sizes = rng.choice([[1], [1, 2], [1, 2, 3], [1, 2, 4, 8], [2, 3, 5], [1, 3, 4, 7, 12], [1, 6]])
    if family == 'gandiva':
        sizes = [g for g in sizes if g in (1, 2, 4, 8, 12, 16)] + [16] * rng.randint(0, 1)
    if family == 'dlas' and rng.random() < 0.1:     # demoted after a second: limits that round to nothing
        spec['num_gpu_p_node'], sizes = rng.choice([3250, 5000]), [1, 1000, 1625, 3250]
    submit, duration = draw_times(rng, n, family)
    rows = [dict(job_id=i, num_gpu=rng.choice(sizes), submit_time=submit[i], duration=duration[i])
            for i in range(n)]
    most = rng.choice([10, 60, 4000, 40000])
    samples = sorted(rng.randint(1, most) for _ in range(rng.choice([1, 2, 5, 9, 20, 66, 130])))
    return rows, spec, schedule, scheme, samples, rng.random() < 0.3


def main():
    sys.path.insert(0, sys.argv[1])
    import tiresias_reference as reference
    order = []

    class Job(reference.Job):
        def finish(self, now):
            super().finish(now)
            order.append(self)

    reference.load_trace = lambda rows: sorted(map(Job, rows), key=lambda j: j.submit)
    reference.load_cluster = lambda spec: spec
    reference.load_samples = lambda samples: samples
    rng = random.Random(int(sys.argv[3]))
    for _ in range(int(sys.argv[2])):
        rows, spec, schedule, scheme, samples, python3 = draw(rng)
        order.clear()
        jobs = reference.simulate(rows, spec, schedule, scheme, samples, False, python3)
        print('case', schedule, scheme, int(python3), *spec.values())
        print('samples', *samples)
        measured = schedule not in BATCH
        for k, j in enumerate(jobs):
            j.index = k
            ended = j.end is not None
            service = j.service if measured else j.duration if ended else -1
            print('job', j.gpus, j.submit, j.duration, -1 if j.start is None else j.start,
                  j.end if ended else -1, j.pending, j.preempt, j.resume, j.promote, service, j.status)
        print('ended', *(j.index for j in order))


if __name__ == '__main__':
    main()
