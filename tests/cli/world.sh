# SPDX-License-Identifier: GPL-3.0-or-later
# Runs in a world where placement matters: the shipped studies, truth models from the command line, bad input.
. "$DLSIM_SOURCE/tests/support/cli.sh"
study=$source/configs/placement-study.cfg
python=/usr/bin/python3
measured=$source/configs/placement-measured.cfg

# Half the measured speed over nodes, for every type and job of Gavel that the trace may draw.
python3 - <<'END' || fail "no table"
import json
models = {"ResNet-18": [16, 32, 64, 128, 256], "ResNet-50": [16, 32, 64, 128], "Transformer": [16, 32, 64, 128, 256],
          "LM": [5, 10, 20, 40, 80], "Recommendation": [512, 1024, 2048, 4096, 8192], "CycleGAN": [0], "A3C": [0]}
table = {}
for gpu, speed in ("v100", 8.0), ("p100", 5.0), ("k80", 1.0):
    for spread in False, True:
        jobs = table.setdefault(gpu + ("_unconsolidated" if spread else ""), {})
        for model, batches in models.items():
            for batch in batches:
                name = f"{model} (batch size {batch})" if batch else model
                for gpus in (1, 2, 4, 8):
                    jobs[f"('{name}', {gpus})"] = {"null": speed * gpus / (2 if spread and gpus > 1 else 1)}
json.dump(table, open("throughputs.json", "w"))
END
"$dlsim" trace generate --profile=philly --jobs=120 --gpus=64 --load=0.9 --max-duration=4h --seed=3 -q -o small.csv

digest() {
    "$dlsim" run --json -q "$@" | grep -o '"digest": *"[0-9a-f]*"'
}
# Both load, run to the end, give the same twice, and care for the placement.
for config in "$study" "$measured --set perf.table=throughputs.json"; do
    set -- -c ${config%% *} --trace=small.csv ${config#"${config%% *}"}
    expect 0 run "$@"
    says out.txt "120 completed"
    a=$(digest "$@")
    test -n "$a" && test "$a" = "$(digest "$@")" || fail "two runs differ"
    test "$a" != "$(digest "$@" --placement=random)" || fail "random placement changes nothing"
    "$dlsim" run --json -q "$@" --set run.audit=true >/dev/null || fail "an audit fails"
done
expect 0 config --check "$study" "$measured"

# The residual depends on the seed; contention can be left out; each truth is another world.
set -- -c "$study" --trace=small.csv
a=$(digest "$@")
test "$a" != "$(digest "$@" --seed=2)" || fail "the seed changes nothing"
test "$a" != "$(digest "$@" --set perf.contention=false --placement=random)" || fail "contention changes nothing"
test "$a" != "$(digest "$@" --set perf.model=trace)" || fail "the truth changes nothing"
set -- "$@" --set perf.residual_sigma=0
b=$(digest "$@" --placement=random)
test "$b" != "$(digest "$@" --placement=random --set perf.network_residual_sigma=0)" ||
    fail "the residual between nodes changes nothing"
b=$(digest "$@")
test "$b" = "$(digest "$@" --set perf.interference_slope=0)" ||
    fail "nobody shares a GPU, but interference counts"
# Links that are not half used and nobody else's: their bandwidth matters to gangs in several nodes alone.
printf 'job_id,num_gpu,submit_time,duration,model_name,batch_size\n1,4,0,100,vgg16,128\n2,16,0,100,vgg16,512\n' >two.csv
run_two() { # the run times of both jobs, with so much network
    "$dlsim" run -c "$source/configs/muri_64gpu.cfg" --trace=two.csv -q --set perf.model=operator --scheduler=fifo \
        --set "perf.hardware=$source/configs/hardware" \
        --set perf.residual_sigma=0 --set perf.network_residual_sigma=0 --set "cluster.nodes[0].nic=$1" -o "two$2.h5" --force
    $python - "two$2.h5" <<'END'
import sys, h5py
f = h5py.File(sys.argv[1])
jobs = next(iter(f["runs"].values()))["jobs"]
print(*(int(x) for x in jobs["end_us"][:] - jobs["submit_us"][:]))
END
}
if $python -c 'import h5py' 2>/dev/null; then
    fast=$(run_two '10 Gb/s' a) slow=$(run_two '5 Gb/s' b)
    test "${fast% *}" = "${slow% *}" || fail "the network changes a job in one node: $fast, $slow"
    test "${fast#* }" != "${slow#* }" || fail "the network does not change a job in two nodes: $fast"
fi

# The example of docs/world.md is a table.
if $python -c 'import h5py' 2>/dev/null; then
    awk '/^```python$/ {on = 1; next} /^```$/ {on = 0} on' "$source/docs/world.md" >example.py
    $python example.py || fail "the example of docs/world.md"
    expect 0 run -c "$source/configs/muri_64gpu.cfg" --trace=two.csv --set perf.model=table \
        --set perf.table=throughputs.h5
    says out.txt "2 completed"
fi

# A gang on as few nodes as there can be is packed, where nodes of a type differ in size, too: 16 GPUs on 8 and four times 2.
cat >sizes.json <<'END'
{"v100": {"('ResNet-50 (batch size 32)', 16)": {"null": 160}, "('ResNet-50 (batch size 32)', 4)": {"null": 40}},
 "v100_unconsolidated": {"('ResNet-50 (batch size 32)', 16)": {"null": 40}, "('ResNet-50 (batch size 32)', 4)": {"null": 10}}}
END
cat >sizes.cfg <<'END'
schema_version = 1;
cluster: { nodes = ( { count = 1; gpus = 8; gpu_type = "V100"; nic = "10 Gb/s"; },
                     { count = 4; gpus = 2; gpu_type = "V100"; nic = "10 Gb/s"; } ); };
perf: { model = "table"; table = "sizes.json"; };
END
header=job_id,num_gpu,submit_time,duration,model_name,batch_size
printf '%s\n' $header 0,16,0,100,resnet50,512 1,8,200,1000,resnet50,256 2,4,200,100,resnet50,128 >sizes.csv
expect 0 run -c sizes.cfg --trace=sizes.csv --quiet --force -o sizes.h5
expect 0 export --csv --table=jobs sizes.h5 --force -o sizes.out
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { t = ($at["end_us"] - $at["start_us"]) / 1e6 }
    $at["id"] == 0 && t == 100 && $at["fastest_us"] == 100e6 { n++ } # packed
    $at["id"] == 2 && t > 399 && $at["fastest_us"] == 100e6 { n++ }  # a node would have held it
    END { exit n != 2 }' sizes.out || fail "nodes of two sizes: $(cat sizes.out)"

# ---- bad input -----------------------------------------------------------------------------------
expect 4 run -c "$measured" --trace=small.csv
says err.txt "throughputs.json: the table of throughputs cannot be read"
echo '{"v100": 1}' >bad.json
expect 4 run -c "$measured" --trace=small.csv --set perf.table=bad.json
says err.txt "expected an object of jobs"
expect 3 run -c "$study" --trace=small.csv --set perf.model=table
says err.txt "perf.table"
expect 3 run -c "$study" --trace=small.csv --set perf.reference_gpu=B9000
says err.txt "B9000"
expect 3 run -c "$study" --trace=small.csv --set perf.fabric=string
says err.txt "string"
expect 3 run -c "$study" --trace=small.csv --set perf.table=throughputs.json --set perf.model=table
says err.txt "nothing in the table was measured on the GPU type"
# A model that fits into the memory of no GPU, and one that fits on some types only.
printf 'job_id,num_gpu,submit_time,duration,model_name,batch_size\n1,4,0,100,llama_7b,4\n2,1,0,100,bert_large,1\n3,1,0,100,gpt2_medium,1\n' >large.csv
expect 0 run -c "$study" --trace=large.csv
says err.txt "1 of 3 jobs can never run on this cluster and are left out: models that do not fit into the memory of GPUs (1, the first is 1 of 4 GPUs)"
says out.txt "2 completed, 1 infeasible"
