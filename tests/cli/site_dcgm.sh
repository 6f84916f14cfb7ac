# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim import dcgm: answers of Prometheus and tables as profiles of jobs, by labels and by who had a node; what a run's
# energy is with them; odd samples are counted, what is not what it is said to be is an error.
. "$DLSIM_SOURCE/tests/support/cli.sh"

python3 - <<'END'
import csv, json
T = 1772359200
def series(name, values, **labels):
    return {"metric": dict(labels, __name__=name), "values": [[T + 30 * i, str(v)] for i, v in enumerate(values)]}
V = dict(modelName="V100", Hostname="n01.site.org", gpu="0")
result = [series("DCGM_FI_DEV_GPU_UTIL", [80, 100, "NaN"], hpc_job="7", **V),
          series("DCGM_FI_DEV_FB_USED", [1000, 3000, 2147483632 * 10], hpc_job="7", **V),
          series("DCGM_FI_DEV_POWER_USAGE", [100, 150, 200], hpc_job="7", **V),
          series("DCGM_FI_DEV_POWER_USAGE", [200, 250, 300], hpc_job="7", **dict(V, gpu="1")),
          series("DCGM_FI_DEV_SM_CLOCK", [1400], hpc_job="7", **V),
          series("DCGM_FI_PROF_GR_ENGINE_ACTIVE", [0.25, 0.75], exported_pod="llm-0", exported_namespace="nlp", Hostname="n02"),
          series("DCGM_FI_DEV_GPU_UTIL", [60], exported_pod="both", exported_namespace="nlp", Hostname="n02"),
          series("DCGM_FI_PROF_GR_ENGINE_ACTIVE", [0.2, 0.2], exported_pod="both", exported_namespace="nlp", Hostname="n02"),
          series("DCGM_FI_DEV_GPU_UTIL", [10] * 6, Hostname="n03", instance="10.0.0.3:9400")]
answer = {"status": "success", "data": {"resultType": "matrix", "result": result}}
json.dump(answer, open("answer.json", "w"))
json.dump({"status": "error", "errorType": "bad_data", "error": "no"}, open("error.json", "w"))
json.dump({"status": "success", "data": {"resultType": "vector", "result": [{"metric": {}, "value": [1, "2"]}]}}, open("vector.json", "w"))
json.dump({"status": "success", "data": {"resultType": "matrix", "result": []}}, open("empty.json", "w"))
json.dump({"data": {"result": [series("DCGM_FI_DEV_GPU_UTIL", [1], hpc_job="1")] + [{"metric": {"__name__": "DCGM_FI_DEV_GPU_UTIL"}, "values": [3]}]}}, open("pair.json", "w"))
open("cut.json", "w").write(json.dumps(answer)[:500])
# who had n03: job 8 alone for the first two samples, with 9 for two more, 9 alone for one, then nobody
with open("sacct.txt", "w") as f:
    f.write("JobID|Start|End|NodeList\n")
    f.write(f"8|{T}|{T+100}|n[01-03]\n8.batch|{T}|{T+100}|n03\n9|{T+40}|{T+130}|n03,n04\n10|Unknown|Unknown|None assigned\n11|{T}|{T+9}\n"
            f"12|noon|{T+9}|n05\n13|{T}|Unknown|n05\n")
with open("wide.csv", "w") as f:
    f.write("timestamp,Hostname,gpu,hpc_job,DCGM_FI_DEV_GPU_UTIL,DCGM_FI_DEV_POWER_USAGE\n")
    f.write("2026-03-01T10:00:00,n01,0,7,50,100\n2026-03-01T10:00:30,n01,0,7,,\n2026-03-01T10:01:00,n01,0,7,70,120\nyesterday,n01,0,7,1,1\n")
with open("long.csv", "w") as f:
    f.write("time,node,metric,value\n")
    for i in range(3): f.write(f"{T+1+i},n04,DCGM_FI_DEV_FB_USED,{100*i}\n{T+60+i},n04,DCGM_FI_DEV_FB_USED,{1000*i}\n")
    f.write(f"{T},n04,DCGM_FI_DEV_SM_CLOCK,1\n{T+9999},n05,DCGM_FI_DEV_FB_USED,7\n")
END
# profile JOB ROW: a line of profiles.csv
profile() { grep -qx "$1" site/profiles.csv || fail "no line '$1' in $(cat site/profiles.csv)"; }

expect 0 import dcgm --metrics=answer.json --sacct=sacct.txt -o site
for text in "23 samples, 18 of them of 5 jobs" "no value (none, or beyond what can be): 2, the first: DCGM_FI_DEV_GPU_UTIL 7, value 3" \
    "of other metrics: 1" "of no job: 1" "several jobs shared: 2" 'energy.profiles = "site/profiles.csv"'; do
    says err.txt "$text"
done
profile '7,V100,6,0.9,3000,200'
profile 'nlp/llm-0,,2,0.5,,'
profile 'nlp/both,,2,0.6,,' # the share of time alone, where both are there
profile '8,,2,0.1,,'
profile '9,,1,0.1,,'
expect 0 import dcgm --metrics=answer.json -q -o site
test "$(wc -l <site/profiles.csv)" -eq 4 || fail "without the accounting: $(cat site/profiles.csv)"
expect 0 import dcgm --metrics=wide.csv -o site
profile '7,,2,0.6,,110'
says err.txt "(none, or beyond what can be): 4, the first: wide.csv:3"
expect 0 import dcgm --metrics=long.csv --sacct=sacct.txt -o site
profile '9,,3,,2000,'
profile '13,,1,,7,' # it runs yet
says err.txt "of no job: 3"
says err.txt "rows of the accounting left out, without a node or a start: 3, the first: sacct.txt:5"
gzip -k answer.json
expect 0 import dcgm --metrics=answer.json.gz -o zipped

# Prologs write the number of an array's task, which the accounting calls otherwise.
printf 'JobID|JobIDRaw|Start|End|NodeList\n20_1|21|100|200|n07\n20_2|20|100|200|n08\n20_2.batch|20.batch|100|200|n08\n' >array.txt
printf 'time,hpc_job,DCGM_FI_DEV_GPU_UTIL\n120,21,10\n120,20,20\n120,22,30\n' >array.csv
expect 0 import dcgm --metrics=array.csv --sacct=array.txt -o site
profile '20_1,,1,0.1,,'
profile '20_2,,1,0.2,,'
profile '22,,1,0.3,,'

# Pods of a gang have names of their own: by pods.csv their samples are the gang's. A gang that was made anew has pods of
# the same names, which count for it from when they begin.
python3 - <<'END'
import json
def at(s): return "2026-03-01T10:%02d:%02dZ" % (s // 60, s % 60)
T = 1772359200
def pod(name, uid, owner, gang, bound, end):
    return {"kind": "Pod", "metadata": {"namespace": "nlp", "name": name, "uid": uid, "creationTimestamp": at(bound),
            "labels": {"training.kubeflow.org/job-name": gang}, "ownerReferences": [{"name": gang, "uid": owner}]},
            "spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": 4}}}]},
            "status": {"phase": "Succeeded", "conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": at(bound)}],
                       "containerStatuses": [{"state": {"terminated": {"finishedAt": at(end)}}}]}}
items = [{"kind": "Node", "metadata": {"name": "a1", "labels": {"nvidia.com/gpu.product": "A"}}, "status": {"allocatable": {"nvidia.com/gpu": "8"}}},
         pod("llm-0", "u1", "o1", "llm", 100, 200), pod("llm-1", "u2", "o1", "llm", 100, 200), pod("llm-0", "u3", "o2", "llm", 300, 400),
         pod("llm-1", "u4", "o2", "llm", 300, 400)]
json.dump({"kind": "List", "items": items}, open("gangs.json", "w"))
def power(name, rows):
    return {"metric": {"__name__": "DCGM_FI_DEV_POWER_USAGE", "exported_pod": name, "exported_namespace": "nlp"},
            "values": [[T + s, str(v)] for s, v in rows]}
json.dump({"data": {"result": [power("llm-0", [(90, 100), (150, 100), (350, 300)]), power("llm-1", [(150, 160), (300, 500)]),
                               power("alone", [(1, 50)])]}}, open("gangs.metrics.json", "w"))
END
expect 0 import kubernetes --objects=gangs.json -o gangs -q
test "$(wc -l <gangs/pods.csv)" -eq 5 || fail "pods: $(cat gangs/pods.csv)"
expect 0 import dcgm --metrics=gangs.metrics.json --pods=gangs/pods.csv -o site
profile 'nlp/llm,,3,,,120'
profile 'nlp/llm:2,,2,,,400'
profile 'nlp/alone,,1,,,50'
expect 0 --config=gangs/cluster.cfg --set=energy.account=true --set=energy.gpus=A=100:500 --set=energy.profiles="$PWD/site/profiles.csv" -q
printf 'pod,job_id,start\nnlp/llm-0,x,noon\n' >noon.csv
expect 4 import dcgm --metrics=gangs.metrics.json --pods=noon.csv -o none
says err.txt "noon.csv: line 2: start is no time"

# What is not what it is said to be.
for file in error.json vector.json empty.json pair.json cut.json sacct.txt missing.json; do
    expect 4 import dcgm --metrics=$file -o none
    says err.txt "$file"
done
expect 2 import dcgm --metrics=answer.json
expect 4 import dcgm --metrics=answer.json --sacct=wide.csv -o none
expect 5 import dcgm --metrics=answer.json -o answer.json/none
test ! -e none || fail "a site of nothing"
mkdir read
cp wide.csv read/profiles.csv
expect 5 import dcgm --metrics=read/profiles.csv -o read
says err.txt "is also an input: it would be replaced"
cmp wide.csv read/profiles.csv

# Energy by profiles: power of the type that it was measured on becomes a part between rest and most, and that the power
# on another; jobs without a profile have energy.utilisation.
cat >two.cfg <<'END'
schema_version = 1;
cluster: { nodes = ({ name = "a"; count = 1; gpus = 8; gpu_type = "A"; }, { name = "b"; count = 1; gpus = 8; gpu_type = "B"; });
           gpu_types = ({ name = "A"; }, { name = "B"; }); };
trace: { path = "trace.csv"; };
scheduler: { name = "fifo"; };
placement: { name = "first-fit"; };
energy: { account = true; gpus = "A=50:250; B=100:500"; utilisation = 0.5; profiles = "profiles.csv"; };
END
printf 'job_id,num_gpu,submit_time,duration,gpu_type\none,8,0,100,A\ntwo,8,0,100,B\nthree,1,200,10,A\nfour,2,200,10,B\n' >trace.csv
printf 'job_id,gpu_type,samples,utilisation,memory_mib,power_w\none,A,3,0.1,,150\ntwo,A,3,0.1,,100\nfour,,3,0.75,,\nfive,,3,,,\n' >profiles.csv
expect 0 --config=two.cfg -o run.h5 -q
expect 0 export --csv run.h5 -o jobs.csv -q
python3 - <<'END' || fail "energy: $(cat jobs.csv)"
import csv
j = {r["id"]: float(r["energy_j"]) for r in csv.DictReader(open("jobs.csv"))}
want = {"one": 8 * 100 * 150, "two": 8 * 100 * (100 + 0.25 * 400), "three": 10 * 150, "four": 2 * 10 * (100 + 0.75 * 400)}
assert all(abs(j[k] - w) < 1e-6 * w for k, w in want.items()), (j, want)
END
# bad ROW TEXT: a table that is refused
bad() {
    printf 'job_id,utilisation,power_w\n%b\n' "$1" >bad.csv
    expect 4 --config=two.cfg --set=energy.profiles=bad.csv -q
    says err.txt "$2"
}
bad 'one,0.5,\none,0.6,' "bad.csv:3"
bad 'one,1.5,' "a part of 1"
bad 'one,0.5,much' "watts"
bad 'other,0.5,' "bad.csv: has none of the trace's jobs"
printf 'job_id,power_w,gpu_type\none,100,V1O0\n' >bad.csv
expect 4 --config=two.cfg --set=energy.profiles=bad.csv -q
says err.txt "column 'gpu_type': \"V1O0\" is a GPU type of which no power is known"
expect 0 --config=two.cfg --set=energy.profiles=bad.csv '--set=energy.gpus="A=100:500; B=100:500; V1O0=10:300"' -q
expect 4 --config=two.cfg --set=energy.profiles=none.csv -q
echo "$checks checks"
