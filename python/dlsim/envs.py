# SPDX-License-Identifier: GPL-3.0-or-later
"""Gymnasium environments: dlsim/Schedule-v0 and dlsim/Place-v0, and many of them stepped in one call.

    import gymnasium, dlsim.envs
    env = gymnasium.make("dlsim/Schedule-v0", trace="philly_like_5000", window=256)

An episode is a window of consecutive jobs of a trace on an empty cluster. Schedule: which waiting job starts now,
or wait. Place: on which of some candidate placements the next job that fits starts, or let it wait. docs/python.md
says what is in an observation; the reward of a step is minus the job hours that it took (waiting in Schedule,
waiting and running in Place) over the jobs of the window, so that an episode's sum is minus the mean in hours.
"""

from __future__ import annotations

import operator
import os
from typing import Any

import gymnasium
import numpy
from gymnasium import spaces
from gymnasium.vector.utils import batch_space

from . import _dlsim
from ._run import TYPE_CHECKING, _setup

if TYPE_CHECKING:
    from ._inputs import Cluster

    Observation = dict[str, numpy.ndarray]

CLUSTER: dict[str, Any] = {"nodes": [{"count": 8, "gpus": 8, "gpu_type": "V100"}]}
JOB_NUMBERS = ("gpus", "run", "waited", "there")
CANDIDATE_NUMBERS = ("there", "type", "gpus", "nodes", "racks", "remaining") + tuple(f"profile_{i}" for i in range(12))


class _Batch:
    """What single and vector environments share: the episodes in C, and the arrays that they write."""

    def __init__(self, n: int, place: bool, cluster: Cluster, trace: Any, window: int, visible: int, first: int,
                 last: int | None, stride: int | None, placement: Any, predictor: str | None, threads: int,
                 options: dict[str, Any]) -> None:
        setup, trace = _setup(cluster, trace, None, placement, predictor, (), options, outside=True)
        last = len(trace) if last is None else min(last, len(trace))
        stride = stride or window
        if window < 1 or stride < 1:
            raise ValueError("a window holds jobs, and the next one begins behind it")
        count = (last - first - window) // stride + 1
        if count < 1:
            raise ValueError(f"jobs {first} to {last} hold no window of {window}")
        self.batch = _dlsim.Batch(setup, trace, window, first, stride, count, n, visible, place, threads)
        rows, numbers, nodes, types, self.windows = self.batch.shape
        self.rows = rows
        self.jobs = numpy.zeros((n, rows, numbers), numpy.float32)
        self.nodes = numpy.zeros((n, nodes), numpy.float32)
        self.types = numpy.zeros((n, types), numpy.float32)
        self.mask = numpy.zeros((n, rows + 1), numpy.int8)
        self.reward = numpy.zeros(n)
        self.done = numpy.zeros(n, numpy.int8)
        self.batch.bind(self.jobs, self.nodes, self.types, self.mask, self.reward, self.done)
        most = numpy.inf if place else 1.0
        self.space = spaces.Dict({
            ("candidates" if place else "jobs"): spaces.Box(-most if place else 0.0, most, (rows, numbers), numpy.float32),
            "free_by_node": spaces.Box(0.0, 1.0, (nodes,), numpy.float32),
            "free_by_type": spaces.Box(0.0, 1.0, (types,), numpy.float32),
            "mask": spaces.MultiBinary(rows + 1),
        })
        self.first = "candidates" if place else "jobs"


class _Single(gymnasium.Env):
    metadata: dict[str, Any] = {"render_modes": []}
    _place = False

    def __init__(self, cluster: Cluster = CLUSTER, trace: Any = "philly_like_5000", window: int = 256,
                 visible: int = 128, first: int = 0, last: int | None = None, stride: int | None = None,
                 placement: Any = "consolidated", predictor: str | None = None, copy: bool = True,
                 render_mode: str | None = None, **options: Any) -> None:
        self.render_mode = render_mode
        self._b = _Batch(1, self._place, cluster, trace, window, visible, first, last, stride, placement,
                         predictor, 1, options)
        self.windows, self._copy = self._b.windows, copy
        self.observation_space, self.action_space = self._b.space, spaces.Discrete(self._b.rows + 1)
        b = self._b
        self._shown = {b.first: b.jobs[0], "free_by_node": b.nodes[0], "free_by_type": b.types[0], "mask": b.mask[0]}
        self._action = numpy.zeros(1, numpy.int64)
        self._step, self._reward, self._done = b.batch.step, b.reward, b.done

    def _observation(self) -> Observation:
        if not self._copy:
            return self._shown
        return {name: array.copy() for name, array in self._shown.items()}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """options: {"window": which}; else one is drawn."""
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(self.windows))
        self._b.batch.reset(0, int((options or {}).get("window", drawn)))
        return self._observation(), {}

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Act; the episode has ended when nothing is left to decide, and zeros are shown."""
        self._action[0] = operator.index(action)
        self._step(self._action, False)
        return self._observation(), float(self._reward[0]), bool(self._done[0]), False, {}

    def action_masks(self) -> numpy.ndarray:
        """Which actions do something, as sb3-contrib's MaskablePPO asks."""
        return self._b.mask[0].astype(bool)


class Schedule(_Single):
    """dlsim/Schedule-v0: action i starts the i-th of the waiting jobs that are shown, the last one waits."""


class Place(_Single):
    """dlsim/Place-v0: action i places the job on the i-th candidate, the last one lets it wait."""

    _place = True

    def __init__(self, predictor: str | None = "operator", **options: Any) -> None:
        super().__init__(predictor=predictor, **options)


class VectorEnv(gymnasium.vector.VectorEnv):
    """n environments stepped by one call in C; one that has ended begins anew in the same step. Observations
    are the arrays that the next step writes over: copy what is to be kept."""

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP}

    def __init__(self, num_envs: int, place: bool = False, cluster: Cluster = CLUSTER, trace: Any = "philly_like_5000",
                 window: int = 256, visible: int = 128, first: int = 0, last: int | None = None,
                 stride: int | None = None, placement: Any = "consolidated", predictor: str | None = None,
                 threads: int | None = None, **options: Any) -> None:
        threads = threads or min(len(os.sched_getaffinity(0)), 64)
        b = self._b = _Batch(num_envs, place, cluster, trace, window, visible, first, last, stride, placement,
                             predictor, threads, options)
        self.num_envs, self.windows = num_envs, b.windows
        self.single_observation_space, self.single_action_space = b.space, spaces.Discrete(b.rows + 1)
        self.observation_space = batch_space(b.space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._shown = {b.first: b.jobs, "free_by_node": b.nodes, "free_by_type": b.types, "mask": b.mask}
        self._false = numpy.zeros(num_envs, bool)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """options: {"window": which}, a number for all or one for each; else they are drawn."""
        super().reset(seed=seed)
        drawn = self.np_random.integers(self.windows, size=self.num_envs)
        windows = numpy.broadcast_to((options or {}).get("window", drawn), self.num_envs)
        for i, next_seed in enumerate(self.np_random.integers(2**63, size=self.num_envs)):
            self._b.batch.reset(i, int(windows[i]), int(next_seed))
        return self._shown, {}

    def step(self, actions: Any) -> tuple[Observation, numpy.ndarray, numpy.ndarray, numpy.ndarray, dict[str, Any]]:
        """An action [num_envs] for each, integers; final_obs of info marks those that have ended: zeros, as Schedule shows then."""
        actions = numpy.asarray(actions)
        if actions.dtype.kind not in "iu":
            raise TypeError(f"actions are integers, not of type {actions.dtype}")
        self._b.batch.step(numpy.ascontiguousarray(actions, numpy.int64), True)
        done = self._b.done.astype(bool)
        info = {}
        if done.any():
            ended = {name: numpy.zeros_like(array[0]) for name, array in self._shown.items()}
            final = numpy.full(self.num_envs, None, object)
            final[done] = ended
            info = {"final_obs": final, "_final_obs": done}
        return self._shown, self._b.reward.copy(), done, self._false, info


def shortest_first(observation: Observation) -> numpy.ndarray:
    """SJF in Schedule: of those that fit the job with the shortest run time. Also for batches."""
    fits = observation["mask"][..., :-1].astype(bool)
    run = numpy.where(fits, observation["jobs"][..., 1], numpy.inf)
    return numpy.where(fits.any(-1), run.argmin(-1), fits.shape[-1])


gymnasium.register("dlsim/Schedule-v0", entry_point=Schedule,
                   vector_entry_point=lambda num_envs=1, **kwargs: VectorEnv(num_envs, **kwargs))
gymnasium.register("dlsim/Place-v0", entry_point=Place,
                   vector_entry_point=lambda num_envs=1, **kwargs: VectorEnv(
                       num_envs, place=True, **{"predictor": "operator", **kwargs}))
