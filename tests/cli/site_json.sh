# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim import slurm of `sacct --json`: the same jobs by -P and by --json give the same site to the byte but for the Z of UTC, by what Slurm itself printed of one
# recording, and for the others by the fields that the data_parser of 23.11 has (numbers as {set, infinite, number}, states and flags as lists).
. "$DLSIM_SOURCE/tests/support/cli.sh"

recordings=$source/tests/slurm
# same FOLDER ACCOUNTING [OPTION ..]: sites t and j of sacct.txt and the JSON
same() {
    local from=$1 json=$2
    shift 2
    rm -rf t j
    expect 0 import slurm --sacct="$from/sacct.txt.gz" --nodes="$from/nodes.txt" --conf="$from/config.txt" "$@" -o t
    sed 's/^.*: \([0-9]* jobs of\)/\1/' err.txt >t.txt
    expect 0 import slurm --sacct="$json" --nodes="$from/nodes.txt" --conf="$from/config.txt" "$@" -o j
    sed 's/^.*: \([0-9]* jobs of\)/\1/; s/\(:[0-9][0-9]\)Z on/\1 on/' err.txt >j.txt # JSON's times are of UTC
    sed -i '1s/Z$//' j/trace.csv
    diff -r t j || fail "$from: the accounting as JSON makes another site"
    diff <(sed 's/, first in line.*//' t.txt) <(sed 's/, first in line.*//' j.txt) || fail "$from: the reports differ"
}
cat >to_json.py <<'END'
import calendar, gzip, json, sys, time
def number(text):
    return {"set": text != "", "infinite": False, "number": int(text) if text else 0}
def seconds(text):
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%S")) if text[0] in "12" else 0
def tres(text):
    out = []
    for cell in text.split(",") if text else []:
        key, value = cell.split("=")
        kind, _, name = key.partition("/")
        count = float(value.rstrip("KMGT")) * {"K": 1 / 1024, "G": 1024, "T": 1048576}.get(value[-1], 1)
        out.append({"type": kind, "name": name, "id": 1, "count": int(count)})
    return out + [{"type": "energy", "name": "", "id": 3, "count": -2}]
flags = {"SchedMain": "STARTED_ON_SCHEDULE", "SchedBackfill": "STARTED_ON_BACKFILL", "SchedSubmit": "STARTED_ON_SUBMIT", "StartRecieved": "START_RECEIVED"}
rows = [line.rstrip("\n").split("|") for line in gzip.open(sys.argv[1], "rt")]
jobs = []
for cells in rows[1:]:
    r = dict(zip(rows[0], cells))
    jobs.append({"account": r["Account"], "allocation_nodes": int(r["NNodes"]), "array": {"job_id": 0, "task_id": number(""), "task": ""},
                 "flags": [flags[f] for f in r["Flags"].split(",") if f], "het": {"job_id": 0, "job_offset": number("")},
                 "job_id": int(r["JobID"]), "name": r.get("JobName", ""), "nodes": r["NodeList"], "partition": r["Partition"],
                 "priority": number(r["Priority"]), "qos": r["QOS"], "reservation": {"id": 0, "name": r["Reservation"]}, "restart_cnt": 0,
                 "state": {"current": [r["State"].split(" ")[0]], "reason": "None"}, "steps": [], "submit_line": r.get("SubmitLine", ""),
                 "time": {"elapsed": seconds(r["End"]) - seconds(r["Start"]), "eligible": seconds(r["Eligible"]), "end": seconds(r["End"]), "limit": number(r["TimelimitRaw"]),
                          "start": seconds(r["Start"]), "submission": seconds(r["Submit"]), "suspended": 0},
                 "tres": {"allocated": tres(r["AllocTRES"]), "requested": tres(r["ReqTRES"])}, "user": r["User"]})
json.dump({"meta": {"slurm": {"release": "23.11.4"}}, "jobs": jobs, "warnings": [], "errors": []}, sys.stdout, indent=int(sys.argv[2]) or None)
END

# By Slurm itself (22.05), and from standard input, the same.
same "$recordings/basic" "$recordings/basic/sacct.json.gz"
gunzip -c "$recordings/basic/sacct.json.gz" >basic.json
same "$recordings/basic" - <basic.json

# Jobs without GPUs, partitions, memory, dependencies, preemption by QoS, reservations, nodes out of service, shares.
for name in policies mixed mixed_fair partitions multifactor; do
    python3 to_json.py "$recordings/$name/sacct.txt.gz" 2 >$name.json
    set --
    for option in partitions qos reservations events; do
        [ ! -e "$recordings/$name/$option.txt" ] || set -- "$@" --$option="$recordings/$name/$option.txt"
    done
    [ ! -e "$recordings/$name/sshare.txt" ] || set -- "$@" --shares="$recordings/$name/sshare.txt"
    same "$recordings/$name" $name.json "$@"
done
test -s t/shares.csv || fail "nothing to compare"

# Parts of heterogeneous jobs and tasks of arrays have the ids of the table; what would part cells does not.
python3 - <<'END' >odd.json
import json
def job(i, **more):
    return dict({"job_id": i, "user": "a|b", "name": "two\nlines", "account": "ml", "partition": "main", "nodes": "n01", "state": {"current": "COMPLETED"}, "allocation_nodes": 1,
         "submit_line": "sbatch --dependency=afterok:7_3 " + "x" * 70000, "time": {"submission": 1000, "eligible": 1000, "start": 1010, "end": 1100, "limit": 5},
         "tres": {"allocated": [{"type": "gres", "name": "gpu", "count": 2}]}}, **more)
unset = {"set": False, "infinite": False, "number": 0}
jobs = [job(1, array={"job_id": 7, "task_id": {"set": True, "infinite": False, "number": 3}}, het={"job_id": 0, "job_offset": unset}),
        job(8, array={"job_id": 0, "task_id": None}, het={"job_id": 8, "job_offset": 0}), job(9, het={"job_id": 8, "job_offset": {"set": True, "number": 1}})]
json.dump({"jobs": jobs, "meta": {"Slurm": {}}}, __import__("sys").stdout, indent=1)
END
expect 0 import slurm --sacct=odd.json --nodes="$recordings/basic/nodes.txt" -o odd
says err.txt "a part of a heterogeneous job, replayed on its own: 2, first in line $(grep -n '"job_id": 8' odd.json | head -1 | awk -F: '{ print $1 - 1 }')"
for id in 7_3 8+0 8+1; do
    says odd/trace.csv "$id,"
done
says odd/trace.csv "a_b"
says odd/jobs.csv "7_3,,,,7_3"
echo "$checks checks"
