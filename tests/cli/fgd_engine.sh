#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Requests for parts of GPUs in the engine: the placement fgd puts pods that come one after the other and stay
# where the replay of the published experiments does, under every score; under all schedulers and placements parts
# never add up to more than a GPU, and slices of MIG lie at their places.
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
    expect 0 --config=cluster.cfg --trace=trace.csv --scheduler=fifo --set scheduler.discipline=fit --placement=fgd \
        --set cluster.gpu_parts=any --set placement.score=$score --set placement.exact=false --set run.audit=true --until=900 --quiet --force -o run.h5
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

# Jobs that come and go, most of them on parts of GPUs: no GPU is ever given away more than whole.
awk -F, 'NR == 1 { print "job_id,num_gpu,submit_time,duration,num_cpu,mem_mib,gpu_type"; next } {
    printf "%s,%.3f,%d,%d,%.3f,%d,%s\n", $1, $4 * $5 / 1000, NR, 20 + 37 * NR % 400, $2 / 1000, $3, $6
}' pods.csv >trace.csv
# runs MODE OPTION..: all jobs run, GPUs are shared, and nobody has more of one than there is.
runs() {
    local mode=$1
    shift
    expect 0 --config=cluster.cfg --trace=trace.csv --set cluster.gpu_parts=$mode "$@" --set run.audit=true \
        --quiet --force -o run.h5
    expect 0 export --csv --table=allocations run.h5 --force -o allocations.csv
    awk -F, -v mode=$mode 'NR == FNR { if (FNR > 1) { n = FNR - 2; milli[n] = $5; if (mode == "mig" && $5 < 1000)
                for (k = 1; k <= 7; k++) if (k != 5 && k != 6 && 7 * $5 <= 1000 * k) { milli[n] = int(1000 * k / 7); break } }
            next }
        FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        "guest" in at && $at["guest"] + 0 { next }
        { for (bit = 1; bit <= 128; bit *= 2) if (int($at["gpu_mask"] / bit) % 2) {
            gpu = $at["node"] "_" bit
            printf "%s %.0f 1 %d %d\n%s %.0f 0 %d %d\n", gpu, $at["start_us"], $at["job"], milli[$at["job"]], \
                gpu, $at["end_us"], $at["job"], -milli[$at["job"]]
        } }' pods.csv allocations.csv | sort -k1,1 -k2,2n -k3,3n |
        awk '$1 != gpu { gpu = $1; sum = n = 0 }
            { sum += $5; n += $3 ? 1 : -1; ran[$4]; over += sum > 1000; together += n > 1 }
            END { print length(ran), over + 0, together + 0 }' >result.txt
    read -r ran over together <result.txt
    echo "$mode $*: $ran ran, $over over, $together shared"
    test "$ran" -eq 260 && test "$over" -eq 0 && test "$together" -gt 50 || fail "$mode $*: $(cat result.txt)"
    checks=$((checks + 1))
}
for mode in mig any; do
    for score in fgd random; do
        runs $mode --scheduler=fifo --set scheduler.discipline=fit --placement=fgd --set placement.score=$score
    done
    for scheduler in srsf antman muri-s; do
        runs $mode --scheduler=$scheduler
    done
    runs $mode --scheduler=sjf --set scheduler.discipline=easy
    runs $mode --scheduler=srtf --placement=random --set failures.gpu_mtbf=600 --set failures.repair=30
done

# A fraction above one is rounded up, and counted; without parts so is a part of a GPU.
printf 'job_id,num_gpu,submit_time,duration\na,1.5,0,10\nb,0.5,0,10\n' >above.csv
expect 0 --config=cluster.cfg --trace=above.csv --scheduler=fifo --set cluster.gpu_parts=any --force -o above.h5
says err.txt "fractional GPU request rounded up"
expect 0 export --csv --table=allocations above.h5 --force -o allocations.csv
grep -qE '^0,.*,2,1' allocations.csv || fail "1.5 GPUs: $(cat allocations.csv)"
expect 0 --config=cluster.cfg --trace=trace.csv --scheduler=fifo --force -o whole.h5
says err.txt "fractional GPU request rounded up"
echo "$checks checks"
