# SPDX-License-Identifier: GPL-3.0-or-later
# Configurations: shipped ones load, the manual is current, all problems are listed at once.
. "$DLSIM_SOURCE/tests/support/cli.sh"

expect 0 config --check "$source"/configs/*.cfg
test "$(grep -c ': good$' out.txt)" -eq "$(ls "$source"/configs/*.cfg | wc -l)" || fail "$(cat out.txt)"

expect 0 config --defaults
cp out.txt defaults.cfg
expect 0 config --check defaults.cfg
expect 0 --config=defaults.cfg --trace="$sample" -q

expect 0 config --markdown
cmp out.txt "$source/docs/config.md" ||
    fail "docs/config.md is not current: dlsim config --markdown > docs/config.md"

expect 0 config --explain scheduler.restore_cost
says out.txt "62 s"
expect 0 config --explain cluster.nodes.count
expect 0 config --explain 'cluster.nodes[3].count'
expect 0 config --explain cluster
says out.txt "nodes"
expect 0 config --explain scheduler.queue_limits
says out.txt "option of dlas-gpu"
expect 2 config --explain 'cluster.nodes['

# A list that is too long is told what is too long of it.
expect 3 config --check "$source/configs/quickstart.cfg" --set "scheduler.queue_limits=[$(seq -s, 33)]"
says err.txt "expected up to 32 ascending numbers"
expect 0 config --check "$source/configs/quickstart.cfg" --set "scheduler.queue_limits=[$(seq -s, 32)]"

# Quantities of policies have units as keys have, and patience is a key like any other.
expect 0 config --resolve "$source/configs/quickstart.cfg" --set scheduler.name=gandiva \
    --set 'scheduler.slice=5 min' --set run.patience=5e3
says out.txt 'slice = "300 s";'
says out.txt 'patience = 5000;'
cp out.txt plain.txt
expect 0 config --resolve "$source/configs/quickstart.cfg" --set 'scheduler.name="gandiva"' \
    --set 'scheduler.slice="5 min"' --set run.patience=5e3
cmp out.txt plain.txt || fail "a value in quotes is another"
expect 3 config --resolve "$source/configs/quickstart.cfg" --set scheduler.name=gandiva --set 'scheduler.slice=5 GB'
says err.txt "'scheduler.slice' \"5 GB\""

expect 3 config --check "$source/configs/quickstart.cfg" --set 'cluster.nodes[0].count=0'
says err.txt "a cluster without GPUs: no group of nodes has any"

# One file, many mistakes, one line each with its place.
cat >wrong.cfg <<'END'
schema_version = 1;
sed = 3;
cluster: {
    rack_uplink = "100 Gbit";
    nodes = (
        { count = 9000000000; gpus = 8; gpu_type = "V100"; },
        { count = 4; gpus = 65; gpu_type = "V1000"; rack_sise = 3; },
        { gpus = 4; gpu_type = "P100"; memory = "64"; }
    );
};
scheduler: { name = "srtf"; quantum = 60; restore_cost = true; };
run: { seed = "one"; until = "7 fortnights"; };
results: { warmup = -5; allocations = 1; };
END
expect 3 config --check wrong.cfg
says err.txt "wrong.cfg:2: unknown key 'sed'"
says err.txt "wrong.cfg:4: 'cluster.rack_uplink' \"100 Gbit\" has the unknown unit 'Gbit'"
says err.txt "wrong.cfg:6: the number 9000000000 does not fit 32 bits"
says err.txt "wrong.cfg:7: 'cluster.nodes[1].gpus' is \"65\": expected integer 1..64"
says err.txt "wrong.cfg:7: unknown GPU type 'V1000' (did you mean 'V100'?)"
says err.txt "wrong.cfg:7: unknown key 'cluster.nodes[1].rack_sise' (did you mean 'rack_size'?)"
says err.txt "wrong.cfg:8: 'cluster.nodes[2].count' is missing"
says err.txt "wrong.cfg:8: 'cluster.nodes[2].memory' \"64\" has no unit"
says err.txt "wrong.cfg:11: unknown key 'scheduler.quantum': srtf has no such option"
says err.txt "wrong.cfg:11: 'scheduler.restore_cost' is true or false: expected time"
says err.txt "wrong.cfg:12: 'run.seed' is text: expected integer"
says err.txt "wrong.cfg:12: 'run.until' \"7 fortnights\" has the unknown unit"
says err.txt "wrong.cfg:13: 'results.warmup'"
says err.txt "wrong.cfg:13: 'results.allocations' is an integer: expected true or false"
says err.txt "14 problems"
test "$(grep -c '^wrong.cfg:' err.txt)" -eq 14 || fail "not one line per problem: $(cat err.txt)"

# A policy's file is found beside the configuration that names it; one of the command line, here.
mkdir far
printf '100\n200\n' >far/past.txt
printf 'job_id,num_gpu,submit_time,duration\n1,4,0,100\n2,4,0,100\n' >far/two.csv
cat >far/own.cfg <<'END'
schema_version = 1;
cluster: { nodes = ( { count = 2; gpus = 4; gpu_type = "V100"; } ); };
trace: { path = "two.csv"; };
scheduler: { name = "gittins"; samples = "past.txt"; };
END
expect 0 run -c far/own.cfg -q
expect 0 run -c far/own.cfg -q --set scheduler.samples=far/past.txt
expect 4 run -c far/own.cfg -q --set scheduler.samples=past.txt
says err.txt "past.txt: cannot be opened"
# NVLink domains of a node.
for wrong in "nvlink_gpus=3: not NVLink domains of 3" "nvlink_gpus=4: a link between them" "nvlink_between=1 GB/s: their size" \
    "nvlink_gpus=-1: integer 0..64" "nvlink_between=nan: nvlink_between"; do
    expect 3 config --check "$source/configs/quickstart.cfg" --set "cluster.nodes[0].${wrong%%: *}"
    says err.txt "${wrong#*: }"
done
expect 0 config --check "$source/configs/quickstart.cfg" --set 'cluster.nodes[0].nvlink_gpus=4' --set 'cluster.nodes[0].nvlink_between=16 GB/s'
# A list by names has each once, in whatever case.
for twice in 'perf.speeds=V100=1; A100=2 v100=3' 'energy.gpus=V100=40:250;V100=50:300' 'trace.stand_ins=My net=vgg16; my net = lenet' \
    'predictor.software=bert: pytorch; BERT : pytorch fp16' 'perf.variability_classes=bert=A; *=B; *=C'; do
    expect 3 config --check "$source/configs/quickstart.cfg" --set "$twice"
    says err.txt "is there twice"
done
for twice in 'fair-share quotas=a:1,b:2,a:3' 'gavel-cost prices=V100:1 v100:2'; do
    expect 3 run -q -c "$source/configs/quickstart.cfg" --trace="$sample" --scheduler="${twice%% *}" --set "scheduler.${twice#* }"
    says err.txt "is there twice"
done
# A program far from the source finds its data by the link that its build folder has.
mkdir afield
cp "$dlsim" afield/dlsim
printf 'job_id,num_gpu,submit_time,duration\na,1,0,100\n' >one.csv
far="--config=$source/configs/quickstart.cfg --trace=one.csv --set perf.model=operator --set trace.assign=tiresias -q"
# shellcheck disable=SC2086
! afield/dlsim $far 2>err.txt || fail "data without a source"
says err.txt "share/dlsim/configs/hardware"
ln -s "$source" afield/source
# shellcheck disable=SC2086
afield/dlsim $far 2>err.txt || fail "data by the link: $(cat err.txt)"
echo "$checks checks"
