#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Requests for parts of GPUs in the engine: the scheduler fgd places pods that come one after the other and stay
# where the replay of the published experiments does, under every score; parts never add up to more than a GPU.
. "$DLSIM_SOURCE/tests/support/cli.sh"

# Nodes of three kinds, and pods of parts of a GPU, whole ones and gangs, more than there is room for.
awk 'BEGIN {
    print "sn,cpu_milli,memory_mib,gpu,model"
    for (i = 0; i < 12; i++)
        printf "n%02d,%d,%d,%d,%s\n", i, i % 3 ? 96000 : 64000, i % 3 ? 393216 : 262144, i % 4 ? 8 : 4, \
            i < 5 ? "T4" : "V100"
}' >nodes.csv
awk 'BEGIN {
    srand(7)
    print "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec"
    for (i = 0; i < 260; i++) {
        r = rand()
        gpus = r < 0.9 ? 1 : r < 0.95 ? 2 : r < 0.98 ? 4 : 8
        milli = gpus > 1 || rand() < 0.2 ? 1000 : 130 + 10 * int(75 * rand())
        spec = rand() < 0.2 ? "V100" : rand() < 0.1 ? "T4|V100" : ""
        printf "p%03d,%d,%d,%d,%d,%s\n", i, gpus * (1000 + 1000 * int(6 * rand())), \
            gpus * 1024 * (2 + int(20 * rand())), gpus, milli, spec
    }
}' >pods.csv
{
    echo 'schema_version = 1;'
    echo 'cluster: { nodes = ('
    awk -F, 'NR > 1 {
        printf "%s{ name = \"%s\"; count = 1; gpus = %d; gpu_type = \"%s\"; cpus = %g; memory = \"%d MiB\"; }\n", \
            (NR > 2 ? "," : ""), $1, $4, $5, $2 / 1000, $3
    }' nodes.csv
    echo '); };'
} >cluster.cfg
awk -F, 'NR == 1 { print "job_id,num_gpu,submit_time,duration,num_cpu,mem_mib,gpu_type"; next } {
    printf "%s,%.3f,%d,1000000,%.3f,%d,%s\n", $1, $4 * $5 / 1000, NR, $2 / 1000, $3, $6
}' pods.csv >trace.csv

for score in fgd bestfit dotproduct gpupacking gpuclustering; do
    expect 0 fgd --nodes=nodes.csv pods.csv --policy=$score -q --force -o want.csv
    expect 0 --config=cluster.cfg --trace=trace.csv --scheduler=fgd --set scheduler.score=$score \
        --set scheduler.exact=false --set run.audit=true --until=900 --quiet --force -o run.h5
    expect 0 export --csv --table=allocations run.h5 --force -o allocations.csv
    awk -F, 'NR == FNR { if (FNR > 1) want[$1] = $2; next }
        FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { got[sprintf("p%03d", $at["job"])] = $at["node"]; placed++ }
        END {
            for (p in want) {
                if (want[p] != "" && sprintf("n%02d", got[p]) != want[p] || want[p] == "" && p in got) wrong++
                pods++
            }
            print pods + 0, placed + 0, wrong + 0
        }' want.csv allocations.csv >result.txt
    read -r pods placed wrong <result.txt
    echo "$score: $pods pods, $placed placed, $wrong elsewhere"
    test "$pods" -eq 260 && test "$placed" -gt 100 && test "$placed" -lt 260 && test "$wrong" -eq 0 ||
        fail "$score: $(cat result.txt)"
    checks=$((checks + 1))
done

# Jobs that come and go: no GPU is ever given away more than whole, and slices of MIG are sevenths.
awk -F, 'NR == 1 { print "job_id,num_gpu,submit_time,duration,num_cpu,mem_mib,gpu_type"; next } {
    printf "%s,%.3f,%d,%d,%.3f,%d,%s\n", $1, $4 * $5 / 1000, NR, 20 + 37 * NR % 400, $2 / 1000, $3, $6
}' pods.csv >trace.csv
for option in mig=false mig=true strict=true score=random; do
    expect 0 --config=cluster.cfg --trace=trace.csv --scheduler=fgd --set scheduler.$option --set run.audit=true \
        --quiet --force -o run.h5
    expect 0 export --csv --table=allocations run.h5 --force -o allocations.csv
    awk -F, -v mig=$option 'NR == FNR { if (FNR > 1) { n = FNR - 2; milli[n] = $5; if (mig == "mig=true" && $5 < 1000)
                for (k = 1; k <= 7; k++) if (k != 5 && k != 6 && 7 * $5 <= 1000 * k) { milli[n] = int(1000 * k / 7); break } }
            next }
        FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { r++; job[r] = $at["job"]; node[r] = $at["node"]; from[r] = $at["start_us"]; to[r] = $at["end_us"]; mask[r] = $at["gpu_mask"]
          jobs[job[r]] = 1 }
        END {
            for (i = 1; i <= r; i++) for (bit = 1; bit <= 128; bit *= 2) {
                if (int(mask[i] / bit) % 2 == 0) continue
                sum = shared = 0
                for (k = 1; k <= r; k++)
                    if (node[k] == node[i] && int(mask[k] / bit) % 2 && from[k] <= from[i] && from[i] < to[k]) {
                        sum += milli[job[k]]
                        shared++
                    }
                if (sum > 1000) over++
                if (shared > 1) together++
            }
            for (j in jobs) ran++
            print ran + 0, over + 0, together + 0
        }' pods.csv allocations.csv >result.txt
    read -r ran over together <result.txt
    echo "$option: $ran ran, $over over, $together shared"
    test "$ran" -eq 260 && test "$over" -eq 0 && test "$together" -gt 50 || fail "$option: $(cat result.txt)"
    checks=$((checks + 1))
done

# Without parts a fraction is a whole GPU, and says so.
expect 0 --config=cluster.cfg --trace=trace.csv --scheduler=fifo --force -o whole.h5
says err.txt "fractional GPU request rounded up"
echo "$checks checks"
