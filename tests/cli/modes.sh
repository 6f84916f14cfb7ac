#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The two engines, written apart, agree where the reference has no defect, and differ where it has:
# per-job start, end and waiting time of every job of the shipped sample, from the results file of one and the
# log of the other.
set -eu
dlsim=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/modes.cfg" <<'CFG'
schema_version = 1;
cluster = { nodes = ( { name = "n"; count = 32; gpus = 8; gpu_type = "V100"; rack_size = 32;
                        cpus = 96; memory = "256 GiB"; } ); };
CFG
trace=$DLSIM_SOURCE/traces/samples/philly_like_5000.csv
# The same jobs as the other simulator reads them; it wants a model of each.
awk -F, '/^#/ { next }
         !head { head = 1; print "job_id,num_gpu,submit_time,duration,model_name,iterations,interval"; next }
         { print $1 "," $2 "," $3 "," $4 ",resnet50,1,1" }' "$trace" >"$dir/jobs.csv"
# Of every job: id, start, end, time pending, preemptions.
ours() { # scheduler placement
    "$dlsim" --config="$dir/modes.cfg" --trace="$trace" --scheduler="$1" --placement="$2" \
        --set scheduler.restore_cost=0 --quiet --force -o "$dir/a.h5" >/dev/null
    "$dlsim" inspect "$dir/a.h5" --jobs=100000 2>/dev/null |
        awk 'NR > 1 && /^[0-9]/ { print $1, $5, $6, $7, $8 }' | sort -n
}
theirs() { # schedule scheme
    "$dlsim" tiresias --trace_file="$dir/jobs.csv" --num_switch=1 --num_node_p_switch=32 --num_gpu_p_node=8 \
        --num_cpu_p_node=96 --mem_p_node=256 --schedule="$1" --scheme="$2" --log_path="$dir/log"
    tr -d '\r' <"$dir/log/job.csv" | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { print $at["job_id"], $at["start_time"], $at["end_time"], $at["pending_time"], $at["preempt"] }' | sort -n
}
bad=0
same() { # scheduler schedule placement expect
    ours "$1" "$3" >"$dir/a"
    theirs "$2" "$3" >"$dir/b"
    n=$(wc -l <"$dir/a")
    differ=$(diff "$dir/a" "$dir/b" | grep -c '^<' || true)
    echo "$1/$3: $n jobs, $differ differ"
    [ "$n" = 5000 ] && [ "$(wc -l <"$dir/b")" = 5000 ] || bad=1
    if [ "$4" = equal ]; then
        [ "$differ" = 0 ] || bad=1
    else
        [ "$differ" != 0 ] || bad=1
    fi
}
same fifo fifo count equal
same fjf fjf count equal
same sjf sjf count equal
same srtf shortest count equal
same srsf shortest-gpu count equal
same dlas dlas count equal
same fifo fifo yarn equal
same fjf fjf yarn equal
same dlas-gpu dlas-gpu count differ
exit $bad
