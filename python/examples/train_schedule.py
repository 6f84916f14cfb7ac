# SPDX-License-Identifier: GPL-3.0-or-later
"""Learns which waiting job to start, and compares with shortest job first on windows that it has not seen.

The policy scores each waiting job from its run time, GPUs and waiting time and from how much of the cluster is free,
and starts the best one that fits; if no score is positive, it waits, which keeps GPUs for short jobs to come. Its
weights are found by the cross-entropy method: draw some, run them on windows of the first part of the trace, keep
the best, draw anew around them. Usage: train_schedule.py [--rounds N] [--out CURVE.svg]
"""

import argparse

import numpy

import dlsim
from dlsim.envs import VectorEnv, shortest_first

CLUSTER = {"nodes": [{"count": 4, "gpus": 8, "gpu_type": "V100"}]}
TRACE = dlsim.generate("tiresias", jobs=6000, gpus=64, load=1.2, seed=1)  # gangs of 1, 2, 4, 8, 3:1:1:1
SEEN, WINDOW, STRIDE = 4000, 256, 128  # windows of jobs 0..3999 teach, those behind them judge
FEATURES = 6


def choose(weights, seen):
    """The job that fits and has the highest score, if that is positive; weights: [environments, FEATURES]."""
    run, waited = seen["jobs"][..., 1], seen["jobs"][..., 2]
    gpus = numpy.log2(numpy.maximum(seen["jobs"][..., 0] * 64, 1)) / 6
    free = numpy.broadcast_to(seen["free_by_type"][:, :1], run.shape)
    score = numpy.einsum("fej,ef->ej", numpy.stack([numpy.ones_like(run), run, gpus, waited, free, run * free]), weights)
    score = numpy.where(seen["mask"][:, :-1] == 1, score, -numpy.inf)
    return numpy.where(score.max(-1) > 0, score.argmax(-1), run.shape[-1])


def returns(env, windows, policy):
    """Sum of rewards of one episode of each environment, on these windows."""
    observation, _ = env.reset(seed=0, options={"window": windows})
    total, over = numpy.zeros(env.num_envs), numpy.zeros(env.num_envs, bool)
    while not over.all():
        observation, reward, done, _, _ = env.step(policy(observation))
        total += numpy.where(over, 0, reward)
        over |= done
    return total


def environments(n, first, last):
    return VectorEnv(n, cluster=CLUSTER, trace=TRACE, window=WINDOW, stride=STRIDE, first=first, last=last)


def judge(weights=None):
    """Mean waiting time in hours on the windows that were not seen, each; None: shortest job first."""
    n = (len(TRACE) - SEEN - WINDOW) // STRIDE + 1
    env = environments(n, SEEN, None)
    policy = shortest_first if weights is None else lambda seen: choose(numpy.tile(weights, (n, 1)), seen)
    return -returns(env, numpy.arange(n), policy)


def train(rounds, population=24, windows=12, keep=6, seed=1):
    """Weights, and after each round the mean waiting time on windows that were not seen."""
    draw = numpy.random.default_rng(seed)
    mean = numpy.array([1.0, -1, 0, 0, 0, 0])  # shortest first, never waiting: what is to be beaten
    spread = numpy.full(FEATURES, 0.5)
    env, curve = environments(population * windows, 0, SEEN), []
    for number in range(rounds):
        some = mean + spread * draw.standard_normal((population, FEATURES))
        some[0] = mean
        chosen = draw.choice(env.windows, windows, replace=False)
        weights = numpy.repeat(some, windows, 0)
        got = returns(env, numpy.tile(chosen, population), lambda seen: choose(weights, seen))
        best = some[got.reshape(population, windows).mean(1).argsort()[-keep:]]
        mean, spread = best.mean(0), best.std(0) + 0.1 / (number + 2)
        curve.append(judge(mean).mean())
        print(f"round {number + 1}: mean waiting time {curve[-1]:.3f} h on unseen windows", flush=True)
    return mean, curve


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--out", help="where to write the curve")
    options = parser.parse_args()
    shortest = judge()
    print(f"shortest job first: {shortest.mean():.3f} h")
    weights, curve = train(options.rounds)
    learned = judge(weights)
    print(f"learned: {learned.mean():.3f} h, {100 * (1 - learned.mean() / shortest.mean()):.1f} % less than "
          f"shortest first, better on {(learned < shortest).sum()} of {len(shortest)} windows")
    if options.out:
        from matplotlib import pyplot as plt

        plt.figure(figsize=(4, 2.5), layout="constrained").gca().set(xlabel="round", ylabel="mean waiting time, h")
        plt.plot(range(len(curve) + 1), [shortest.mean(), *curve], marker=".", label="learned, unseen windows")
        plt.axhline(shortest.mean(), color="0.6", label="shortest job first")
        plt.legend()
        plt.savefig(options.out)
    return learned.mean() < shortest.mean()


if __name__ == "__main__":
    raise SystemExit(0 if main() else 1)
