# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs on several GPU types, and placements."""

import unittest

import dlsim
from common import TIGHT, Srtf, jobs, run


class Types(unittest.TestCase):
    CLUSTER = {"cluster": {"nodes": [{"count": 2, "gpus": 8, "gpu_type": "V100"}, {"count": 2, "gpus": 4, "gpu_type": "A100"}],
                           "virtual_clusters": [{"name": "v", "gpus": 6, "gpu_type": "V100"}]}}

    def table(self):
        table = jobs()
        table["gpu_type"] = [("A100", "V100", "A100|V100", "")[i % 4] for i in range(len(table["num_gpu"]))]
        table["vc"] = ["v" if i % 3 else "w" for i in range(len(table["num_gpu"]))]
        return table

    def test_names_and_quotas(self):
        said = {}

        class Look:
            def pass_(self, view, act):
                for job in view.waiting.tolist():
                    for type in view.types_of(job):
                        if view.gpus[job] <= view.quota_gpus(job, type) and act.allocate(job, type=type):
                            break
                said["names"] = view.type_names
                for job in view.active.tolist():
                    said[job] = view.types_of(job), view.quota_gpus(job, 0), view.host(job)

        done = dlsim.run(self.CLUSTER, self.table(), Look, "first-fit", **{"run.audit": True})
        self.assertEqual(done["completed"] + done["infeasible"], 200)
        self.assertEqual(said["names"], ["V100", "A100"])
        kinds = [[1], [0], [0, 1], [0, 1]]
        for job in range(200):
            if job in said:
                self.assertLessEqual(set(said[job][0]), set(kinds[job % 4]))
                self.assertLessEqual(said[job][1], 6 if job % 3 else 10)
                self.assertEqual(said[job][2], -1)

    def test_joins(self):
        hosts = set()

        class Share:
            joins = True

            def pass_(self, view, act):
                for job in view.waiting.tolist():
                    if view.gpus[job] <= view.room(job) and act.start(job):
                        continue
                    shared = {view.host(one) for one in view.running.tolist()}
                    for one in view.running.tolist():
                        if view.host(one) < 0 and one not in shared and view.held_gpus[one] == view.gpus[job]:
                            act.join(job, one)
                            break
                hosts.update(view.host(one) for one in view.running.tolist())

        done = run(Share, **{"run.audit": True, "failures.node_mtbf": "1h"})
        self.assertEqual(done["completed"], 200)
        self.assertGreater(done["guest_starts"], 0)
        self.assertGreater(len(hosts), 2)

    def test_wrong(self):
        class Look:
            def pass_(self, view, act):
                for error, call in ((IndexError, lambda: view.types_of(-1)), (IndexError, lambda: view.host(10**6)),
                                    (IndexError, lambda: view.quota_gpus(0, 9)), (IndexError, lambda: view.quota_gpus(-1, 0)),
                                    (TypeError, lambda: view.quota_gpus(0)), (TypeError, lambda: view.host("0"))):
                    try:
                        call()
                    except error:
                        continue
                    raise AssertionError("nothing was raised")
                raise KeyError("all did")

        with self.assertRaisesRegex(KeyError, "all did"):
            run(Look)


class Placements(unittest.TestCase):
    def test_first_fit(self):
        class First:
            def place(self, request, nodes):
                left, parts = request.gpus, []
                for node, free in enumerate(nodes.free):
                    if free and left:
                        parts.append((node, min(int(free), left)))
                        left -= parts[-1][1]
                return parts

        class Never(First):
            name = "never-two"

            def place(self, request, nodes):
                for node, free in enumerate(nodes.free):
                    if free >= request.gpus:
                        return [(node, request.gpus)]
                return None

        a = dlsim.run(TIGHT, jobs(), "srtf", First)
        self.assertGreater(a["jct_mean_s"], 0)
        b = dlsim.run(TIGHT, jobs(), "srtf", Never)
        self.assertNotEqual(a.digest, b.digest)
        self.assertEqual(b.digest, dlsim.run(TIGHT, jobs(), "srtf", Never).digest)

    def test_wrong(self):
        for said, error in (([(99, 1)], dlsim.PolicyError), ([(0, 99)], dlsim.PolicyError), ("left", ValueError),
                            ([1], TypeError), ([(1, 2, 3)], ValueError), ([], dlsim.PolicyError), (7, TypeError)):
            class Wrong:
                def place(self, request, nodes, said=said):
                    return said

            with self.assertRaises(error, msg=repr(said)):
                dlsim.run(TIGHT, jobs(), "srtf", Wrong)
        with self.assertRaisesRegex(TypeError, "no scheduler: it has place"):
            dlsim.run(TIGHT, jobs(), Wrong)
        with self.assertRaisesRegex(TypeError, "no placement: it has priority"):
            dlsim.run(TIGHT, jobs(), "fifo", Srtf)


if __name__ == "__main__":
    unittest.main()
