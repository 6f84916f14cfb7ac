# SPDX-License-Identifier: GPL-3.0-or-later
# A Slurm in the test's folder, of one node that is this machine or of emulated ones with 8 GPUs, for scripts that have read cli.sh. Nothing here needs
# rights or leaves anything behind; without the programs the test is skipped.

slurm_needs() {
    for program in "$@"; do
        command -v "$program" >/dev/null || {
            echo "skipped: no $program"
            exit 77
        }
    done
}

slurm_port=$((20000 + $$ % 20000))
slurm_daemons=
# Late steps still write below the folder while the daemons end.
slurm_end() {
    for daemon in $slurm_daemons; do
        kill "$daemon" 2>/dev/null || true
    done
    wait
    rm -rf "$work" || {
        sleep 1
        rm -rf "$work"
    }
}

# slurm_start STORAGE [LINE]...: controller and node, with these lines in slurm.conf, until the node
# is idle. slurm_nodes=N: N nodes n01, n02, ... of 8 GPUs; gres.conf is the caller's.
slurm_start() {
    local host storage=$1
    host=$(hostname -s)
    shift
    slurm_needs slurmctld slurmd sbatch
    mkdir state spool
    cat >slurm.conf <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SlurmctldPort=$slurm_port
SlurmdPort=$((slurm_port + 1))
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=$storage
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
    for line in "$@"; do
        case $line in SchedulerType=*) sed -i '/^SchedulerType=/d' slurm.conf ;; esac
        echo "$line" >>slurm.conf
    done
    local names=$host i
    if [ "${slurm_nodes:-0}" -gt 0 ]; then
        names=$(seq -f 'n%02g' "$slurm_nodes")
        printf 'GresTypes=gpu\nSlurmdParameters=config_overrides\n' >>slurm.conf
        sed -i "s|^SlurmdSpoolDir=.*|SlurmdSpoolDir=$work/spool.%n|; s|slurmd.pid|slurmd.%n.pid|; s|slurmd.log|slurmd.%n.log|" slurm.conf
        i=0
        for name in $names; do
            i=$((i + 1))
            echo "NodeName=$name NodeHostname=$host NodeAddr=127.0.0.1 Port=$((slurm_port + 10 + i)) CPUs=64" \
                "SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000 Gres=gpu:8 State=UNKNOWN" >>slurm.conf
        done
    else
        echo "NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN" >>slurm.conf
    fi
    # slurmd wants a plugin for control groups although nothing here uses them.
    printf 'CgroupPlugin=cgroup/v1\nCgroupMountpoint=/sys/fs/cgroup\nCgroupAutomount=no\n' >cgroup.conf
    export SLURM_CONF=$work/slurm.conf
    trap slurm_end EXIT
    slurmctld -D >ctld.out 2>&1 &
    local ctld=$!
    local slurmd
    slurm_daemons="$ctld $slurm_daemons"
    for name in $names; do
        mkdir -p "spool.$name"
        slurmd ${slurm_nodes:+-N "$name"} -D >"slurmd.$name.out" 2>&1 &
        slurmd=$!
        slurm_daemons="$slurmd $slurm_daemons"
    done
    for _ in $(seq 150); do
        case $(sinfo -h -o %t 2>/dev/null | sort -u) in idle) return ;; esac
        kill -0 $ctld 2>/dev/null && kill -0 $slurmd 2>/dev/null || break
        sleep 0.1
    done
    echo "skipped: Slurm does not start here: $(tail -n 2 slurmctld.log slurmd.log 2>&1 | tr '\n' ' ')"
    exit 77
}

# slurm_accounting: a data base and slurmdbd on it, before slurm_start accounting_storage/slurmdbd.
slurm_accounting() {
    slurm_needs slurmdbd mariadbd mariadb mariadb-install-db sacct sacctmgr
    mkdir db
    trap slurm_end EXIT
    mariadb-install-db --no-defaults --user="$(id -un)" --datadir="$work/db" \
        --auth-root-authentication-method=normal --skip-test-db \
        --innodb-log-file-size=4M >install.log 2>&1 || {
        echo "skipped: no data base can be made here: $(tail -n 2 install.log | tr '\n' ' ')"
        exit 77
    }
    mariadbd --no-defaults --user="$(id -un)" --datadir="$work/db" --socket="$work/db.sock" \
        --port=$((slurm_port + 2)) --bind-address=127.0.0.1 --pid-file="$work/db.pid" \
        --innodb-buffer-pool-size=32M --innodb-flush-log-at-trx-commit=0 >db.log 2>&1 &
    slurm_daemons="$!"
    for _ in $(seq 150); do
        mariadb --no-defaults --socket="$work/db.sock" -u root \
            -e "grant all on *.* to 'slurm'@'localhost' identified by 'x'" 2>/dev/null && break
        sleep 0.1
    done
    cat >slurmdbd.conf <<END
AuthType=auth/none
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$((slurm_port + 3))
SlurmUser=$(id -un)
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$((slurm_port + 2))
StorageUser=slurm
StoragePass=x
LogFile=$work/slurmdbd.log
PidFile=$work/slurmdbd.pid
END
    chmod 600 slurmdbd.conf
    SLURM_CONF=$work/slurm.conf slurmdbd -D >dbd.out 2>&1 &
    slurm_daemons="$! $slurm_daemons"
    for _ in $(seq 150); do
        grep -qs 'slurmdbd version .* started' slurmdbd.log && return
        sleep 0.1
    done
    echo "skipped: slurmdbd does not start here: $(tail -n 2 slurmdbd.log db.log 2>&1 | tr '\n' ' ')"
    exit 77
}
