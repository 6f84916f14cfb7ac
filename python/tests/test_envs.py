# SPDX-License-Identifier: GPL-3.0-or-later
"""Gymnasium environments."""

import contextlib
import os
import sys
import unittest
import warnings

from common import needs


@needs("gymnasium", "numpy")
class Environments(unittest.TestCase):
    def setUp(self):
        global numpy, gymnasium, envs
        import gymnasium
        import numpy

        from dlsim import envs

    def first(self, observation):
        mask = observation["mask"]
        return int(mask[:-1].argmax()) if mask[:-1].any() else len(mask) - 1

    def episode(self, env, choose, window):
        observation, _ = env.reset(seed=3, options={"window": window})
        total, steps, done = 0, 0, False
        while not done:
            self.assertTrue(env.observation_space.contains(observation))
            self.assertTrue(observation["mask"][:-1].any())
            observation, reward, done, cut, _ = env.step(choose(observation))
            self.assertFalse(cut)
            total, steps = total + reward, steps + 1
        return total, steps

    def test_checker(self):
        from gymnasium.utils.env_checker import check_env

        for name in ("dlsim/Schedule-v0", "dlsim/Place-v0"):
            with warnings.catch_warnings():
                warnings.simplefilter("error", category=UserWarning)
                warnings.filterwarnings("ignore", message=".*Box.*")
                check_env(gymnasium.make(name, window=64).unwrapped, skip_render_check=True)

    def test_what_a_step_costs(self):
        """The rewards of an episode are minus the mean waiting time that the library counts."""
        import dlsim

        env = envs.Schedule(window=200, placement="first-fit")
        total, steps = self.episode(env, self.first, 0)
        table = dlsim.load_trace("philly_like_5000", max_jobs=200)
        run = dlsim.run({"cluster": envs.CLUSTER}, table, "fjf", "first-fit")
        feasible = [i for i, state in enumerate(run.jobs["state"].to_list()) if state == "finished"]
        self.assertEqual(steps, len(feasible))
        waited = sum(run.jobs["pending_us"][i] for i in feasible) / 3600e6 / 200
        self.assertAlmostEqual(-total, waited, places=9)

    def test_shortest_is_better(self):
        env = envs.Schedule(window=256)
        for window in (0, 4):
            self.assertGreater(self.episode(env, lambda seen: int(envs.shortest_first(seen)), window)[0],
                               self.episode(env, self.first, window)[0])

    def test_windows_of_a_real_trace(self):
        trace = os.path.join(os.environ.get("DLSIM_SHARED", ""), "data/philly_msr_2017/philly_trace.csv")
        if not os.path.exists(trace) or os.environ.get("DLSIM_SANITIZE") == "1":
            self.skipTest("no published traces, or a sanitized build")
        env = envs.Schedule(trace=trace)
        self.assertEqual(env.windows, 111549 // 256)
        self.assertGreater(self.episode(env, lambda seen: int(envs.shortest_first(seen)), 200)[1], 200)

    def test_waiting(self):
        env = envs.Schedule(window=32, cluster={"nodes": [{"count": 1, "gpus": 8, "gpu_type": "V100"}]})
        total, steps = self.episode(env, lambda seen: env.action_space.n - 1, 0)
        self.assertGreaterEqual(steps, 20)
        for action in (10**12, -1, 77):
            env.reset(seed=0, options={"window": 0})
            env.step(action)

    def test_actions_are_integers(self):
        vector, single = envs.VectorEnv(2, window=16), envs.Schedule(window=16)
        vector.reset(seed=1)
        single.reset(seed=1)
        for good in ([0, 1], (numpy.int8(0), 1), numpy.array([0, 1], numpy.uint16), numpy.array([0, 9, 1, 9], numpy.int32)[::2]):
            vector.step(good)
            single.step(good[0])
        for wrong in ([0.0, 1.0], numpy.array([0.9, 1]), [True, False], ["0", "1"], [None, 1]):
            with self.assertRaisesRegex(TypeError, "actions are integers, not of type"):
                vector.step(wrong)
        for wrong in (0.0, 1.5, numpy.float32(2), "0", None):
            with self.assertRaises(TypeError):
                single.step(wrong)

    def test_keys_of_the_trace(self):
        self.assertEqual(envs.Schedule(window=10, trace__max_jobs=40).windows, 4)

    def test_vector_is_many_single_ones(self):
        for place in (False, True):
            single = (envs.Place if place else envs.Schedule)(window=64, visible=32)
            vector = envs.VectorEnv(40, place=place, window=64, visible=32, threads=2,
                                    predictor="operator" if place else None)
            windows = numpy.arange(40) % vector.windows
            observation, _ = vector.reset(seed=1, options={"window": windows})
            total, over = numpy.zeros(40), numpy.zeros(40, bool)
            while not over.all():
                actions = observation["mask"][:, :-1].argmax(1)
                observation, reward, done, _, info = vector.step(actions)
                total += numpy.where(over, 0, reward)
                over |= done
                self.assertEqual(done.any(), "final_obs" in info)
            shown = single.reset(options={"window": 0})[0]
            while not (step := single.step(int(shown["mask"][:-1].argmax())))[2]:
                shown = step[0]
            final = info["final_obs"][numpy.flatnonzero(done)[0]]
            for name, array in step[0].items():
                self.assertFalse(array.any())
                numpy.testing.assert_array_equal(array, final[name])
            for i in (0, 7, 39):
                got = self.episode(single, lambda seen: int(seen["mask"][:-1].argmax()), int(windows[i]))[0]
                self.assertEqual(got, total[i])

    def test_place_has_a_profile(self):
        env = envs.Place(trace="quick_60", window=60, cluster={"nodes": [
            {"count": 2, "gpus": 4, "gpu_type": "V100"}, {"count": 2, "gpus": 4, "gpu_type": "T4"}]})
        observation, _ = env.reset(seed=0)
        rows = observation["candidates"][observation["mask"][:-1] == 1]
        self.assertEqual(set(rows[:, 1]), {0, 1})
        self.assertTrue((rows[:, 6:] != 0).any())
        remaining = {kind: rows[rows[:, 1] == kind][0, 5] for kind in (0, 1)}
        self.assertNotEqual(remaining[0], remaining[1])
        self.episode(env, self.first, 0)

    def test_wrong(self):
        import dlsim

        for options in ({"window": 10**6}, {"visible": 0}, {"trace": "/nowhere.csv"}, {"window": 0},
                        {"placement": "nowhere"}, {"first": -1}):
            with self.assertRaises((ValueError, dlsim.Error), msg=options):
                envs.Schedule(**options)
        class Anywhere:
            def place(self, request, nodes):
                return [(0, request.gpus)]

        unfit = {"num_gpu": [999] * 8 + [1] * 8, "submit_time": list(range(16)), "duration": [5] * 16}
        for make in (envs.Schedule, envs.Place):
            with self.assertRaisesRegex(dlsim.UsageError, "without Python"):
                make(window=64, placement=Anywhere)
            env = make(trace=unfit, window=8)
            for window in (0, 1, 0):
                with self.assertRaisesRegex(dlsim.InputError, "nothing to decide") if window == 0 else contextlib.nullcontext():
                    env.reset(options={"window": window})
                with self.assertRaises(dlsim.UsageError) if window == 0 else contextlib.nullcontext():
                    env.step(0)
        for options in {"num_envs": 0}, {"num_envs": 2, "threads": 65}, {"num_envs": 2, "visible": 0}:
            with self.assertRaisesRegex(ValueError, "1 or more", msg=options):
                envs.VectorEnv(window=64, **options)
        env = envs.Schedule(window=64)
        with self.assertRaises(dlsim.UsageError):
            env.step(0)
        with self.assertRaises(IndexError):
            env.reset(options={"window": 10**6})
        with self.assertRaises(ValueError):
            vector = envs.VectorEnv(4, window=64)
            vector.reset(seed=0)
            vector.step(numpy.zeros(3, int))

    @unittest.skipIf("LD_PRELOAD" in os.environ, "under the sanitizers the environments are those of the other tests")
    def test_example_beats_shortest_first(self):
        sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples"))
        import train_schedule

        with open(train_schedule.__file__) as file:
            self.assertLessEqual(len(file.readlines()), 100)
        weights, curve = train_schedule.train(2, population=12, windows=8)
        self.assertLess(train_schedule.judge(weights).mean(), 0.95 * train_schedule.judge().mean())


if __name__ == "__main__":
    unittest.main()
