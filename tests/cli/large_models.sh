# SPDX-License-Identifier: GPL-3.0-or-later
# Large models in the program: the page's commands; run times follow the ways of dividing, the network and the place; names
# that are none.
. "$DLSIM_SOURCE/tests/support/cli.sh"
cp -r "$source/configs" "$source/traces" .
run_page "$source/docs/large-models.md"

# seconds MODEL GPUS [OPTION]...: of one step, alone.
seconds() {
    printf 'job_id,num_gpu,submit_time,duration,iterations,model_name\na,%d,0,100,1000,%s\n' "$2" "$1" >job.csv
    shift 2
    expect 0 run -q --config=configs/large-models.cfg --trace=job.csv --set failures.preset=none --set checkpoint.period=0 \
        --set perf.residual_sigma=0 --set perf.network_residual_sigma=0 --json "$@"
    python3 -c 'import json; print(json.load(open("out.txt"))["makespan_s"] / 1000)'
}
check() {
    python3 -c "assert $1" || fail "$1"
    checks=$((checks + 1))
}
base=$(seconds llm-l40-h6144-a48-tp8-b256-re1 64)
# Narayanan et al. 2021, 18.4 billion: 135 TFLOP/s of a GPU at 4 sequences a GPU.
check "abs($base / (96 * 256 * 2048 * 40 * 6144**2 * (1 + 2048 / (6 * 6144) + 51200 / (16 * 40 * 6144)) / (64 * 135e12)) - 1) < 0.06"
check "$(seconds llm-l40-h6144-a48-tp8-b256-re1 128) < 0.6 * $base"
check "$(seconds llm-l40-h6144-a48-tp16-b256-re1 64) > 1.2 * $base"
check "$(seconds llm-l40-h6144-a48-tp8-b256-re1 64 --set 'cluster.nodes[0].nic=10 Gb/s') > 1.05 * $base"
check "$(seconds llm-l40-h6144-a48-tp8-b256-re0 64) < 0.85 * $base"
# Fused attention, in a world too: of long sequences a third less time.
long=llm-l40-h6144-a48-s8192-tp8-b256-re1
check "$(seconds $long-fa2 64) < $(seconds $long-fa1 64) and $(seconds $long-fa1 64) < 0.9 * $(seconds $long 64)"
check "1.05 < $(seconds llm-l40-h6144-a48-tp8-pp8-b64-re1 64) / ($base / 4) < 1.3"
# Interleaved stages, and NVLink domains of 18 nodes of 4 GPUs: one, two.
check "$(seconds llm-l40-h6144-a48-tp8-pp4-vp5-b32-re1 64) < 0.95 * $(seconds llm-l40-h6144-a48-tp8-pp4-b32-re1 64)"
small=(--set 'cluster.nodes[0].gpus=4' --set 'cluster.nodes[0].count=36' --set 'cluster.nodes[0].rack_size=18' --set 'cluster.nodes[0].nic=800 Gb/s')
for gpus in 64 144; do
    alone=$(seconds llm-l40-h6144-a48-tp16-b144-re1 $gpus "${small[@]}")
    check "1.2 * $(seconds llm-l40-h6144-a48-tp16-b144-re1 $gpus "${small[@]}" --set 'cluster.rack_nvlink=28800 Gb/s') < $alone"
done
# As large as the memory.
printf 'job_id,num_gpu,submit_time,duration,iterations,model_name\na,8,0,100,1000,llm-l96-h12288-a96-tp8-b8\n' >job.csv
expect 0 run -q --config=configs/large-models.cfg --trace=job.csv --json
python3 -c 'import json; assert json.load(open("out.txt"))["parts"][0]["infeasible"] == 1' || fail "175 billion parameters on 8 GPUs"
for name in llm-l40 llm-l40-h6144-a48-q3 llm-l40-h6144-a48-tp0 llm-l40-h6144-a48-e8-ep3 llm-l40-h6144-a48-vp2; do
    printf 'job_id,num_gpu,submit_time,duration,iterations,model_name\na,64,0,100,1000,%s\n' "$name" >job.csv
    expect 4 run -q --config=configs/large-models.cfg --trace=job.csv
    says err.txt "$name"
done
printf 'job_id,num_gpu,submit_time,duration,iterations,model_name\na,12,0,100,1000,llm-l40-h6144-a48-tp8\n' >job.csv
expect 4 run -q --config=configs/large-models.cfg --trace=job.csv
says err.txt "tp x pp"
# ZeRO divides by all of the job's GPUs: 7 billion parameters with their states are 115 GB on one, 40 GB on each of eight.
for case in "z0 8 1" "z1 1 1" "z1 8 0" "z3 4 0"; do
    read -r zero gpus none <<<"$case"
    printf 'job_id,num_gpu,submit_time,duration,model_name\na,%d,0,100,llm-l32-h4096-a32-%s\n' "$gpus" "$zero" >job.csv
    expect 0 run -q --config=configs/large-models.cfg --trace=job.csv --json
    check "$(python3 -c 'import json; print(json.load(open("out.txt"))["parts"][0]["infeasible"])') == $none"
done
# Jobs of Acme, in the form of its trace, get models by their GPUs and run as long as they did.
python3 - >kalos.csv <<'PY'
print("job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,shared_mem_per_pod,type,state,submit_time,start_time,end_time,fail_time,stop_time,duration,queue,gpu_time")
for job, gpus in enumerate((1, 8, 64, 1024)):
    print(f"dlc{job},u1,{(gpus + 7) // 8},{gpus},{15 * gpus},1000,100.0,Pretrain,COMPLETED,2023-05-20 03:00:00+00:00,"
          "2023-05-20 03:00:15+00:00,2023-05-20 05:05:00+00:00,,,7500,15.0,1.0")
PY
expect 0 run -q --config=configs/acme-kalos.cfg --trace=kalos.csv -o kalos.h5
expect 0 export --csv kalos.h5 -o kalos_jobs.csv -q
python3 - <<'PY' || fail "jobs of Acme: $(cut -d, -f1-8,18- kalos_jobs.csv)"
import csv
rows = list(csv.DictReader(open("kalos_jobs.csv")))
assert [r["model"].split("-")[1] for r in rows] == ["l24", "l32", "l60", "l82"], rows
assert all(r["state"] == "finished" and r["end_us"] == "7485000000" for r in rows), rows
PY
checks=$((checks + 1))
echo "$checks checks"
