# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim sweep status with the accounting of a real slurmdbd: tasks that end well, fail, wait as one
# entry of an array, are cancelled and are put back into the queue.
. "$DLSIM_SOURCE/tests/support/cli.sh"
. "$DLSIM_SOURCE/tests/support/slurm.sh"
slurm_needs slurmctld slurmd sbatch
slurm_accounting
slurm_start accounting_storage/slurmdbd "AccountingStorageHost=127.0.0.1" \
    "AccountingStoragePort=$((slurm_port + 3))"

cat >my.cfg <<END
sweep: {
    base = "$source/configs/quickstart.cfg";
    set = ("trace.path=$sample");
    axes = ({ key = "scheduler.name"; values = ["fifo", "srtf", "dlas-gpu"]; });
};
END
# until TEXT: the status says it; the accounting lags by seconds.
until_says() {
    for _ in $(seq 300); do
        "$dlsim" sweep status my.cfg >out.txt 2>err.txt || true
        grep -qF -- "$1" out.txt && checks=$((checks + 1)) && return
        sleep 0.1
    done
    fail "no \"$1\" in: $(cat out.txt err.txt); sacct: $(sacct -n -P -X -a -o JobID,State | tr '\n' ' ')"
}
expect 0 sweep submit my.cfg --slurm --yes --chunk=1
job=$(cat my.sweep/slurm/jobs)
until_says "slurm jobs $job: 3 COMPLETED"
until_says "3 points, 3 finished"

# Another array of the same sweep, as a user might have added: one fails, those behind it fill the
# node and the rest waits.
cat >tasks.sh <<'END'
#!/bin/sh
case $SLURM_ARRAY_TASK_ID in 0) exit 3 ;; *) sleep 300 ;; esac
END
more=$(sbatch --parsable --requeue --cpus-per-task="$(nproc)" --array=0-40:2 -o /dev/null tasks.sh)
echo "$more" >>my.sweep/slurm/jobs
until_says "slurm jobs $job,$more: 3 COMPLETED, 1 FAILED, 1 RUNNING, 19 PENDING"
scontrol requeue "${more}_2"
until_says " REQUEUED"
scancel "$more"
until_says " CANCELLED"
echo "$checks checks"
