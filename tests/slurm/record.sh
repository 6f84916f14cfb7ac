#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Records what a real Slurm does: emulated nodes of 8 GPUs (device files that exist, jobs that sleep) with
# slurmdbd and MariaDB, as root. Leaves in FOLDER what `dlsim import slurm` reads.
#
#   tests/slurm/record.sh FOLDER NODES SEED JOBS SECONDS USERS [LINE OF slurm.conf]...
#
# SETUP: commands before the first job, DURING: while jobs come; with either what sacctmgr has on QoS, events of nodes and
# reservations is kept. DUPLICATES=1: every run of a job that was requeued.
# USERS 0: all jobs are root's; up to 6: as many users in three accounts with shares 40, 20, 40. It takes
# SECONDS and as long again as the queue needs to drain. SUBMIT='--exclusive ...' in the environment: more options for every
# job of GPUs. WITHOUT_GPUS, PARTITIONS: see submit.py; partitions are made by lines of slurm.conf. KEEP_LOG=1: what `dlsim import slurm --log` reads of the controller's log, too; KEEP_LOG=all: all of it.
set -eu
folder=$(realpath -m "$1") nodes=$2 seed=$3 jobs=$4 seconds=$5 users=$6
shift 6
here=$(dirname "$(realpath "$0")")
mkdir -p "$folder"
work=$(mktemp -d)
chmod 711 "$work" # jobs of other users start in it
. "$here/../support/slurm.sh"
cd "$work"
slurm_accounting
mkdir dev
for i in 0 1 2 3 4 5 6 7; do mknod "dev/gpu$i" c 1 3; done
printf 'Name=gpu File=%s/dev/gpu[0-7]\n' "$work" >gres.conf
[ -z "${KEEP_LOG-}" ] || set -- "$@" "SlurmctldDebug=${LOG_LEVEL:-debug}" DebugFlags=Backfill
slurm_nodes=$nodes slurm_start accounting_storage/slurmdbd AccountingStorageHost=127.0.0.1 \
    "AccountingStoragePort=$((slurm_port + 3))" AccountingStorageTRES=gres/gpu "$@"
if [ "$users" -gt 0 ]; then
    for account in vision:40 text:20 speech:40; do
        sacctmgr -i add account "${account%:*}" fairshare="${account#*:}" >/dev/null
    done
    sacctmgr -i add user games,man account=vision >/dev/null
    sacctmgr -i add user lp,mail account=text >/dev/null
    sacctmgr -i add user news,uucp account=speech >/dev/null
fi
clean='s/ NodeHostName=[^ ]*/ NodeHostName=host/; s/ OS=.* RealMemory=/ RealMemory=/'
scontrol show nodes -o | sed "$clean" >"$folder/nodes.txt"
[ -z "${PARTITIONS-}" ] || scontrol show partitions -o >"$folder/partitions.txt"
scontrol show config | grep -E '^(BOOT_TIME|Priority|Scheduler|SLURM_VERSION|Preempt|Select|Batch|JobRequeue)' >"$folder/config.txt"
eval "${SETUP-:}" >setup.log 2>&1
(eval "${DURING-:}") >during.log 2>&1 &
python3 "$here/submit.py" "$seed" "$jobs" "$seconds" "$nodes" "$users"
while [ -n "$(squeue -h)" ]; do sleep 2; done
sleep 5
lines='Running job scheduler|_attempt_backfill: beginning|_read_last_decay|_slurm_rpc_submit_batch_job: JobId|sched: Allocate|Started JobId|_job_complete: JobId=.*done|Created reservation|_slurm_rpc_epilog_complete: JobId|preempted JobId'
[ "${KEEP_LOG-}" != all ] || lines=.
[ -z "${KEEP_LOG-}" ] || grep -E "$lines" slurmctld.log | sed "s|$work||g" | gzip -9n >"$folder/slurmctld.log.gz"
sacct -X -a -P -S 2020-01-01 -o "JobID,User,Account,Partition,QOS,State,Submit,Eligible,Start,End,\
TimelimitRaw,NNodes,NCPUS,ReqTRES,AllocTRES,NodeList,Priority,Flags,Reservation${COLUMNS_MORE-}" ${DUPLICATES:+-D} | gzip -9n >"$folder/sacct.txt.gz"
if [ -n "${SETUP-}${DURING-}" ]; then
    sacctmgr -P show qos >"$folder/qos.txt"
    sacctmgr -P show event Start=2020-01-01 >"$folder/events.txt"
fi
[ "$users" = 0 ] || sshare -a -P >"$folder/sshare.txt"
if zcat "$folder/sacct.txt.gz" | cut -d'|' -f6 | tail -n +2 | grep -qvx 'COMPLETED\|TIMEOUT'; then
    echo "some job did not run as it should: $folder/sacct.txt.gz" >&2
    exit 1
fi
