# SPDX-License-Identifier: GPL-3.0-or-later
# A real Slurm of two emulated nodes with users and accounts, recorded by tests/slurm/record.sh, imported and
# replayed.
. "$DLSIM_SOURCE/tests/support/cli.sh"
. "$DLSIM_SOURCE/tests/support/slurm.sh"
slurm_needs slurmctld slurmd slurmdbd mariadbd mariadb mariadb-install-db sacct sacctmgr
test "$(id -u)" -eq 0 || { echo "skipped: device files and other users want root"; exit 77; }

code=0
bash "$source/tests/slurm/record.sh" "$work/live" 2 1051 8 6 6 SchedulerType=sched/backfill SchedulerParameters=bf_interval=1 \
    PriorityType=priority/multifactor PriorityWeightFairshare=1000 >record.txt 2>&1 || code=$?
if test $code -eq 77; then
    cat record.txt
    exit 77
fi
test $code -eq 0 || fail "the recording: $(tail -n 5 record.txt)"
expect 0 import slurm --sacct=live/sacct.txt.gz --nodes=live/nodes.txt --conf=live/config.txt --shares=live/sshare.txt -o site
says err.txt "8 jobs of GPUs"
says err.txt "2 nodes with 16 GPUs"
says site/cluster.cfg 'bf_interval = "1 s"'
says site/shares.csv "speech,uucp,1"
expect 0 fidelity site --json
python3 - <<'END' || fail "the replay: $(cat out.txt)"
import json
f = json.load(open("out.txt"))
assert f["jobs"] == 8 and f["left_out"] == 0, f
assert f["groups"][0]["start_off_median_s"] < 10, f["groups"][0] # a busy machine's Slurm is late
END
echo "$checks checks"
