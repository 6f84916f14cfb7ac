# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim import kubernetes: what kubectl prints of nodes, pods, Kueue's and KAI's objects, imported and replayed; lists that are
# cut off, empty or of something else.
. "$DLSIM_SOURCE/tests/support/cli.sh"

python3 - <<'END' >list.json
import json, sys
def at(s): return "2026-03-01T%02d:%02d:%02dZ" % (10 + s // 3600, s // 60 % 60, s % 60)
def node(name, gpus, product, cpu="63500m"):
    has = {"cpu": cpu, "memory": "500Gi"}
    if gpus: has["nvidia.com/gpu"] = str(gpus)
    return {"kind": "Node", "metadata": {"name": name, "labels": {"nvidia.com/gpu.product": product}}, "status": {"allocatable": has}}
def pod(space, name, gpus, created, bound=None, end=None, labels={}, phase="Succeeded", **spec):
    asked = {"limits": {"nvidia.com/gpu": gpus}, "requests": {"cpu": "4"}} if gpus else {"requests": {"cpu": "500m"}}
    status = {"phase": phase if end else "Running" if bound else "Pending", "conditions": []}
    if bound is not None:
        status["conditions"].append({"type": "PodScheduled", "status": "True", "lastTransitionTime": at(bound)})
        status["containerStatuses"] = [{"state": {"terminated": {"finishedAt": at(end)}} if end else {"running": {"startedAt": at(bound)}}}]
    return {"kind": "Pod", "metadata": {"namespace": space, "name": name, "creationTimestamp": at(created), "labels": labels},
            "spec": dict({"containers": [{"resources": asked}]}, **spec), "status": status}
gang = {"training.kubeflow.org/job-name": "llm", "kueue.x-k8s.io/queue-name": "main"}
items = [node("a1", 8, "NVIDIA-A100"), node("a2", 8, "NVIDIA-A100"), node("h1", 4, "NVIDIA-H100"), node("cpu1", 0, "")]
items += [pod("nlp", "one", 2, 0, 5, 65), pod("nlp", "llm-0", 8, 30, 100, 400, gang, priority=7), pod("nlp", "llm-1", 8, 31, 101, 401, gang)]
items += [pod("vision", "bad", 1, 10, 12, 20, phase="Failed", nodeSelector={"nvidia.com/gpu.product": "NVIDIA-H100"}),
          pod("vision", "runs", 1, 50, 51), pod("vision", "waits", 4, 60), pod("vision", "web", 0, 1, 2)]
items += [{"kind": "Workload", "metadata": {"namespace": "nlp", "name": "pytorchjob-llm-1", "creationTimestamp": at(20), "ownerReferences": [{"name": "llm"}]},
           "spec": {"queueName": "main"}},
          {"kind": "Workload", "metadata": {"namespace": "nlp", "name": "held", "creationTimestamp": at(25)}, "spec": {"queueName": "main"}},
          {"kind": "LocalQueue", "metadata": {"namespace": "nlp", "name": "main"}, "spec": {"clusterQueue": "research"}},
          {"kind": "Cohort", "metadata": {"name": "lab"}, "spec": {"parentName": "all", "fairSharing": {"weight": "1500m"}, "resourceGroups": [{"flavors": [
              {"name": "a100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": "3", "lendingLimit": "1"}]}]}]}},
          {"kind": "ClusterQueue", "metadata": {"name": "other"}, "spec": {"cohortName": "lab", "queueingStrategy": "StrictFIFO", "stopPolicy": "Hold",
           "preemption": {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any", "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 100}},
           "resourceGroups": [{"flavors": [
              {"name": "a100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 1, "borrowingLimit": 2, "lendingLimit": 0}]},
              {"name": "h100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 1, "borrowingLimit": 1}]}]}]}},
          {"kind": "ClusterQueue", "metadata": {"name": "research"}, "spec": {"cohort": "lab", "fairSharing": {"weight": 3},
           "preemption": {"withinClusterQueue": "Never", "reclaimWithinCohort": "LowerOrNewerEqualPriority", "borrowWithinCohort": {"policy": "LowerPriority"}},
           "resourceGroups": [{"flavors": [
              {"name": "a100", "resources": [{"name": "cpu", "nominalQuota": 64}, {"name": "nvidia.com/gpu", "nominalQuota": "12"}]},
              {"name": "h100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 2}]}]}]}},
          {"kind": "Service", "metadata": {"name": "x"}}]
json.dump({"apiVersion": "v1", "kind": "List", "items": items}, sys.stdout, indent=1)
END
expect 0 import kubernetes --objects=list.json -o site
for text in "3 gangs of 7 pods from 2026-03-01 10:00:00Z on; 3 nodes with 20 GPUs, 3 quotas" "1 pods and 1 nodes without GPUs, 1 objects" \
    "no end (still running, or lost): 1" "a pod that was never bound: 1" "a workload without pods: 1"; do
    says err.txt "$text"
done
says site/cluster.cfg 'name = "a1"; count = 2; gpus = 8; gpu_type = "NVIDIA-A100"; cpus = 63'
says site/cluster.cfg 'name = "kueue"; cohorts = "cohorts.csv"; fair_sharing = "both"'
for text in "fair sharing: both (taken so: Kueue's configuration" "1 queues with a stopPolicy" "1 quotas of other resources"; do says err.txt "$text"; done
cat <<'END' | cmp - site/cohorts.csv ||
name,parent,gpus,borrow,lend,weight,within,reclaim,borrowing,order
cohort/lab,cohort/all,3,,1,1.5,,,,
other,cohort/lab,2,3,,1,LowerPriority,Any,100,StrictFIFO
research,cohort/lab,14,,,3,,LowerOrNewerEqualPriority,LowerPriority,
END
    fail "cohorts: $(cat site/cohorts.csv)"
python3 - <<'END' || fail "the trace: $(cat site/trace.csv)"
import csv
rows = {r["job_id"]: r for r in csv.DictReader(l for l in open("site/trace.csv") if l[0] != "#")}
assert set(rows) == {"nlp/one", "nlp/llm", "vision/bad"}, rows
llm = rows["nlp/llm"]
assert float(llm["submit_time"]) == 20 and float(llm["queue"]) == 81 and float(llm["duration"]) == 300, llm
assert llm["num_gpu"] == "16" and llm["vc"] == "research" and llm["class"] == "nlp" and llm["priority"] == "7" and llm["num_cpu"] == "8", llm
assert rows["nlp/one"]["vc"] == "nlp" and rows["nlp/one"]["queue"] == "5", rows
assert rows["vision/bad"]["status"] == "failed" and "H100" in str(rows["vision/bad"]), rows
END
checks=$((checks + 2))
expect 0 fidelity site
says out.txt "over 3 jobs"

# Kueue's own configuration says whether it shares fairly, and how; a policy that it does not have is an error.
cat >config.py <<'END'
import json, sys
items = json.load(open("list.json"))["items"]
items.append({"kind": "ConfigMap", "metadata": {"name": "kueue-manager-config"}, "data": {"controller_manager_config.yaml": sys.argv[1].replace("\\n", "\n")}})
print(json.dumps({"items": items}))
END
head='apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\n'
for case in 'both:fairSharing:\n  enable: true\n' 'final:fairSharing:\n  preemptionStrategies: [LessThanOrEqualToFinalShare]\n' 'none:integrations:\n  frameworks: []\n' \
    'initial:fairSharing:\n  preemptionStrategies:\n  - LessThanInitialShare\n# LessThanOrEqualToFinalShare\n' 'none:fairSharing:\n  enable: false\n' \
    'none:# fairSharing:\n#   enable: true\nqueueVisibility:\n  enable: false\n' 'both:fairSharing:\n  enable: true\nother:\n  enable: false\n'; do
    python3 config.py "$head${case#*:}" >config.json
    expect 0 import kubernetes --objects=config.json -o config
    says config/cluster.cfg "fair_sharing = \"${case%%:*}\""
done
sed 's/"LowerOrNewerEqualPriority"/"Lowest"/' list.json >policy.json
expect 4 import kubernetes --objects=policy.json -o none
says err.txt "reclaimWithinCohort: 'Lowest' is no policy of preemption"

# Members that are not what they should be count for nothing; what is written of the rest is the same.
python3 - <<'END' >odd.json
import json
items = json.load(open("list.json"))["items"]
def odd(**of): items.append(dict(of, metadata={"name": "odd", "namespace": "nlp", "creationTimestamp": "2026-03-01T10:00:30Z", "ownerReferences": 7}))
for groups in (5, [5], [{"flavors": "x"}], [{"flavors": [{"resources": 1}]}]):
    odd(kind="ClusterQueue", spec={"resourceGroups": groups})
odd(kind="Pod", spec={"containers": "x"}, status={"conditions": {}, "containerStatuses": 1})
odd(kind="Workload", spec=[])
for spec in (5, {"resources": "x", "parentQueue": 7, "priority": "high"}, {"resources": {"gpu": {"quota": "8", "limit": 1e300, "overQuotaWeight": None}}, "priority": 1e30}):
    odd(apiVersion="scheduling.run.ai/v2", kind="Queue", spec=spec)
odd(apiVersion="scheduling.run.ai/v2alpha2", kind="PodGroup", spec={"queue": {}})
odd(kind="Node", status={"allocatable": {"nvidia.com/gpu": "1e30", "cpu": "1e30"}})
print(json.dumps({"items": items}))
END
mkdir read
for name in trace.csv cluster.cfg; do
    cp odd.json read/$name
    expect 5 import kubernetes --objects=read/$name -o read
    says err.txt "is also an input: it would be replaced"
    cmp odd.json read/$name
done
expect 0 import kubernetes --objects=odd.json -o odd
cmp site/trace.csv odd/trace.csv || fail "odd members"
says err.txt "3 nodes with 20 GPUs"
says err.txt "2 numbers that are none, taken as 0 (the first: nvidia.com/gpu: 1e30)"
says odd/queues.csv "odd,,8,1e+09,0,1000000000000000"
expect 0 fidelity odd

# The same objects again, a history of several dumps one behind the other: each pod and node once, with the end that the later one
# knows. Pods that were started anew or one after the other are as many as ran at once. What has no date or ends before it starts, other
# names of GPUs and quantities that are none are counted.
{ printf '\357\273\277'; cat list.json; } >marked.json
expect 0 import kubernetes --objects=marked.json -o marked
cmp site/trace.csv marked/trace.csv || fail "a byte order mark"
cat list.json list.json >twice.json
expect 0 import kubernetes --objects=twice.json -o twice
says err.txt "listed before: 6 pods, 4 nodes"
cmp site/trace.csv twice/trace.csv || fail "the same list twice"
cmp site/cluster.cfg twice/cluster.cfg || fail "the same nodes twice"
python3 - <<'END'
import copy, json
items = json.load(open("list.json"))["items"]
pods = {i["metadata"]["name"]: i for i in items if i["kind"] == "Pod"}
def like(name, new, at=(), gpus=None, uid=None, **meta):
    pod = copy.deepcopy(pods[name])
    pod["metadata"].update(name=new, **meta)
    if uid: pod["metadata"]["uid"] = uid
    bound, end = at or (None, None)
    stamp = lambda s: "2026-03-01T10:%02d:%02dZ" % (s // 60, s % 60)
    if bound is not None: pod["status"]["conditions"][0]["lastTransitionTime"] = stamp(bound)
    if end is not None: pod["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"] = stamp(end)
    if gpus is not None: pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = gpus
    items.append(pod)
    return pod
job = {"labels": {"job-name": "tries"}, "creationTimestamp": "2026-03-01T10:02:00Z"}
like("one", "tries-a", (130, 200), uid="u1", **job)
like("one", "tries-b", (210, 300), uid="u2", **job)
like("one", "tries-c", (210, 280), uid="u3", **job)
like("one", "seen", (400, 500), uid="u4")["status"]["containerStatuses"] = [{"state": {"running": {}}}]
like("one", "seen", (400, 500), uid="u4")
like("one", "seen", (400, 500), uid="u4")["status"]["containerStatuses"] = [{"state": {"running": {}}}]
like("one", "seen", (520, 530), uid="u5")  # another pod of the name
for made, bound, end, uid in ((600, 610, 700, "j1"), (900, 910, 1000, "j2")):
    again = {"labels": {"job-name": "again"}, "creationTimestamp": "2026-03-01T10:%02d:%02dZ" % (made // 60, made % 60)}
    for i in range(2): like("one", "again-%d" % i, (bound, end), uid=uid + str(i), ownerReferences=[{"name": "again", "uid": uid}], **again)
    items.append({"kind": "Workload", "metadata": {"namespace": "nlp", "name": "w" + uid, "creationTimestamp": again["creationTimestamp"],
                  "ownerReferences": [{"name": "again", "uid": uid}]}, "spec": {"queueName": "main"}})
like("one", "backwards", (500, 400))
del like("one", "undated", (500, 600))["metadata"]["creationTimestamp"]
like("one", "mig", (500, 600))["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/mig-1g.5gb": 1}}
like("one", "odd", (500, 600), gpus="8x")
like("one", "first", (500, 600))["spec"]["initContainers"] = [{"resources": {"limits": {"nvidia.com/gpu": "4"}}},
    {"restartPolicy": "Always", "resources": {"limits": {"nvidia.com/gpu": 1}}}]
json.dump({"items": items}, open("history.json", "w"))
END
expect 0 import kubernetes --objects=history.json -o history
for text in "listed before: 2 pods" "1 gangs had pods one after the other" \
    "2 gangs were made anew under the name of one before" "1 containers that ask for GPUs by another name (the first: nvidia.com/mig-1g.5gb)" \
    "1 numbers that are none, taken as 0 (the first: nvidia.com/gpu: 8x)" "a pod without creationTimestamp: 1" "the end lies before the start: 1"; do says err.txt "$text"; done
python3 - <<'END' || fail "the trace of a history: $(cat history/trace.csv)"
import csv
rows = {r["job_id"]: r for r in csv.DictReader(l for l in open("history/trace.csv") if l[0] != "#")}
tries = rows["nlp/tries"]
assert tries["num_gpu"] == "4" and float(tries["duration"]) == 90 and float(tries["submit_time"]) + float(tries["queue"]) == 210, tries
assert float(rows["nlp/seen"]["duration"]) == 100 and rows["nlp/seen"]["num_gpu"] == "2", rows["nlp/seen"]
assert float(rows["nlp/seen:2"]["duration"]) == 10, rows["nlp/seen:2"]
for name, start, duration in (("nlp/again", 610, 90), ("nlp/again:2", 910, 90)):
    row = rows[name]
    assert float(row["submit_time"]) == start - 10 and float(row["queue"]) == 10 and float(row["duration"]) == duration, row
    assert row["num_gpu"] == "4" and row["vc"] == "research", row
assert rows["nlp/first"]["num_gpu"] == "4" and not {"nlp/backwards", "nlp/undated", "nlp/odd", "nlp/mig"} & set(rows), rows
END
checks=$((checks + 3))

# More is promised than there is.
sed 's/"nominalQuota": 2$/"nominalQuota": 28/; s/"nominalQuota": 2}/"nominalQuota": 28}/' list.json >more.json
expect 0 import kubernetes --objects=more.json -o more
says err.txt "quotas of 45 GPUs, more than there are: who is first has them"
says more/cohorts.csv "research,cohort/lab,40,,"
expect 0 fidelity more
sed 's/"name": "research"/"name": "re,search"/' list.json >comma.json
expect 4 import kubernetes --objects=comma.json -o none
says err.txt "is not a name of a ClusterQueue"

# KAI: queues by the pods' label or their PodGroup, gangs by the annotation, parts of GPUs counted; Volcano's objects of the same kinds are
# others. What is given out last goes to the eldest queue, so that they stand by age.
python3 - <<'END' >kai.json
import json
items = json.load(open("list.json"))["items"]
def queue(name, made, parent=None, api="scheduling.run.ai/v2", priority=None, **gpu):
    spec = {"resources": {"gpu": gpu, "cpu": {"quota": -1, "limit": -1, "overQuotaWeight": 1}}} if gpu else {}
    if parent: spec["parentQueue"] = parent
    if priority is not None: spec["priority"] = priority
    if name == "team-a": spec["preemptMinRuntime"] = "4h"
    items.append({"apiVersion": api, "kind": "Queue", "metadata": {"name": name, "creationTimestamp": made}, "spec": spec})
queue("team-b", "2026-02-03T00:00:00Z", "dept", quota=1, limit=12, overQuotaWeight=0.5, priority=50)
queue("team-a", "2026-02-02T00:00:00Z", "dept", quota=4.5, limit=-1, overQuotaWeight=2)
queue("dept", "2026-02-01T00:00:00Z", quota=-1, limit=-1, overQuotaWeight=1)
queue("nothing", "2026-02-04T00:00:00Z")
queue("volcano", "2026-02-04T00:00:00Z", api="scheduling.volcano.sh/v1beta1")
for pod in items:
    if pod["metadata"]["name"].startswith("llm-") and pod["kind"] == "Pod":
        pod["metadata"]["annotations"] = {"pod-group-name": "pg-llm"}
        pod["metadata"]["labels"] = {}
    if pod["metadata"]["name"] == "one": pod["metadata"]["labels"] = {"kai.scheduler/queue": "team-b"}
    if pod["metadata"]["name"] == "web": pod["metadata"]["annotations"] = {"gpu-fraction": "0.5"}
for api, name in (("scheduling.run.ai/v2alpha2", "pg-llm"), ("scheduling.volcano.sh/v1beta1", "pg-other")):
    items.append({"apiVersion": api, "kind": "PodGroup", "metadata": {"namespace": "nlp", "name": name, "creationTimestamp": "2026-03-01T10:00:25Z"},
                  "spec": {"queue": "team-a", "minMember": 2}})
print(json.dumps({"items": items}))
END
expect 0 import kubernetes --objects=kai.json -o kai
for text in "1 pods with a part of a GPU" "3 quotas of Kueue beside KAI's" "1 queues with least run times" "3 objects of other kinds"; do says err.txt "$text"; done
says kai/cluster.cfg 'name = "fair-share"; queues = "queues.csv"'
printf 'name,parent,gpus,limit,weight,priority\ndept,,-1,-1,1,100\nteam-a,dept,4.5,-1,2,100\nteam-b,dept,1,12,0.5,50\nnothing,,0,0,0,100\n' |
    cmp - kai/queues.csv || fail "queues: $(cat kai/queues.csv)"
python3 - <<'END' || fail "the trace of KAI: $(cat kai/trace.csv)"
import csv
rows = {r["job_id"]: r for r in csv.DictReader(l for l in open("kai/trace.csv") if l[0] != "#")}
assert set(rows) == {"nlp/one", "nlp/pg-llm", "vision/bad"}, rows
assert rows["nlp/pg-llm"]["vc"] == "team-a" and rows["nlp/pg-llm"]["num_gpu"] == "16" and rows["nlp/pg-llm"]["queue"] == "76", rows
assert rows["nlp/one"]["vc"] == "team-b" and rows["vision/bad"]["vc"] == "vision", rows
END
checks=$((checks + 2))
expect 0 fidelity kai
sed 's/"name": "team-a"/"name": "team,a"/' kai.json >comma.json
expect 4 import kubernetes --objects=comma.json -o none
says err.txt "is not a name of a Queue"
for of in '"parentQueue": "dept"/"parentQueue": "team-a"' '"parentName": "all"/"parentName": "lab"'; do
    sed "s/$of/g" "$(grep -q Queue <<<"$of" && echo kai.json || echo list.json)" >circle.json
    expect 4 import kubernetes --objects=circle.json -o none
    says err.txt "is within itself"
done
expect 0 whatif kai --load 0.7 --both scheduler.reclaim=false

expect 2 import kubernetes -o none
head -c 2000 list.json >cut.json
expect 4 import kubernetes --objects=cut.json -o none
says err.txt "cut.json:"
echo '{"kind": "List", "items": []}' >empty.json
expect 4 import kubernetes --objects=empty.json -o none
says err.txt "kubectl get"
echo '[]' >array.json
expect 4 import kubernetes --objects=array.json -o none
expect 4 import kubernetes --objects=missing.json -o none
expect 5 import kubernetes --objects=list.json -o list.json/none
test ! -e none || fail "a site of nothing"
echo "$checks checks"
