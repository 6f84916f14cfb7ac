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
check "1.05 < $(seconds llm-l40-h6144-a48-tp8-pp8-b64-re1 64) / ($base / 4) < 1.3"
# As large as the memory.
printf 'job_id,num_gpu,submit_time,duration,iterations,model_name\na,8,0,100,1000,llm-l96-h12288-a96-tp8-b8\n' >job.csv
expect 0 run -q --config=configs/large-models.cfg --trace=job.csv --json
python3 -c 'import json; assert json.load(open("out.txt"))["parts"][0]["infeasible"] == 1' || fail "175 billion parameters on 8 GPUs"
for name in llm-l40 llm-l40-h6144-a48-q3 llm-l40-h6144-a48-tp0 llm-l40-h6144-a48-e8-ep3; do
    printf 'job_id,num_gpu,submit_time,duration,iterations,model_name\na,64,0,100,1000,%s\n' "$name" >job.csv
    expect 4 run -q --config=configs/large-models.cfg --trace=job.csv
    says err.txt "$name"
done
printf 'job_id,num_gpu,submit_time,duration,iterations,model_name\na,12,0,100,1000,llm-l40-h6144-a48-tp8\n' >job.csv
expect 4 run -q --config=configs/large-models.cfg --trace=job.csv
says err.txt "tp x pp"
echo "$checks checks"
