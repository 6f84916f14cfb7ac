# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim dataset: building, reading back, the same bytes for the same seed, mistakes.
. "$DLSIM_SOURCE/tests/support/cli.sh"
hw=--hardware="$source/configs/hardware"
# Every command of docs/dataset.md, and its table.
ln -s "$source/configs" configs
run_page "$source/docs/dataset.md"
tail -n 1 commands.txt | grep -q facts || fail "the last command of docs/dataset.md is not 'facts'"
cp out.txt facts.txt
sed -n '/<!-- dataset facts -->/,/<!-- end -->/p' "$source/docs/dataset.md" | sed '1d;$d' >published.txt
cmp facts.txt published.txt || fail "the table of docs/dataset.md is not what dataset facts prints"

small="--graphs=60 --samples=400 --groups=16 $hw"

# shellcheck disable=SC2086
expect 0 dataset build -o a.h5 $small --setting=V100-P1w2-ho-PCIe --setting=2080Ti-P5w10-he-1G
mv a.h5 first.h5
# shellcheck disable=SC2086
expect 0 dataset build -o a.h5 $small --setting=V100-P1w2-ho-PCIe --setting=2080Ti-P5w10-he-1G
cmp a.h5 first.h5 || fail "two builds of one seed differ"
expect 0 dataset show a.h5
says out.txt "60 graphs, 8 features a group (work), seed 1"
says out.txt "V100-P1w2-ho-PCIe"
says out.txt "2080Ti-P5w10-he-1G"
expect 0 dataset show a.h5 --json
says out.txt '"nrmse_floor":'
if command -v python3 >/dev/null; then
    python3 - out.txt <<'EOF' || fail "show --json"
import json, sys
with open(sys.argv[1]) as f:
    root = json.load(f)
assert root["graphs"] == 60 and len(root["settings"]) == 2
for s in root["settings"]:
    assert s["train"] + s["val"] + s["test"] + s["left_out"] == 60
    for p in s["patterns"].values():
        assert abs(p["I"] + p["B"] + p["BIB"] - 1) < 1e-9
EOF
fi
expect 0 dataset show a.h5 --setting=V100-P1w2-ho-PCIe
! grep -q "^2080Ti" out.txt || fail "a setting that was not asked for"

# Random models are for training and validation.
# shellcheck disable=SC2086
expect 0 dataset build -o random.h5 $small --setting=V100-P1w2-ho-PCIe --random-models=60 --features=kernels
expect 0 dataset show random.h5
says out.txt "120 graphs, 23 features a group (kernels), seed 1"
grep -q '^random-transformer .*train' out.txt || fail "no random models for training"
grep -q '^random-.*val' out.txt || fail "no random models for validation"
! grep -q '^random-.*test' out.txt || fail "random models for testing"
mv random.h5 first.h5
# shellcheck disable=SC2086
expect 0 dataset build -o random.h5 $small --setting=V100-P1w2-ho-PCIe --random-models=60 --features=kernels
cmp random.h5 first.h5 || fail "two builds with random models differ"
expect 2 dataset build -o random.h5 --random-models=-1

# All settings that are shipped can be built.
expect 0 dataset build -o all.h5 --graphs=34 --samples=20 --groups=4 "$hw" --settings=all \
    --split=random --features=driple -q
expect 0 dataset show all.h5
test "$(grep -c 'ps-sync\|allreduce\| one ' out.txt)" -ge 100 || fail "settings are missing"
says out.txt "34 graphs, 3 features a group (driple), seed 1"

cat >mine.cfg <<'EOF'
settings = ( { name = "T4-w4"; gpu = "T4"; workers = 4; servers = 0; nodes = 2;
               exchange = "allreduce"; link = "pcie3"; network = "eth25"; } );
EOF
expect 0 dataset build -o mine.h5 --graphs=34 --samples=20 --groups=4 "$hw" --settings=mine.cfg \
    --split=random --grouping=proportional --interval=0.01 --noise=0 --residual=0
expect 0 dataset show mine.h5
says out.txt "T4-w4"

# --buckets is buckets = true of every setting with all-reduce.
sed 's/network =/buckets = true; &/' mine.cfg >buckets.cfg
labels() { # OPTION...
    expect 0 dataset build --force -o t4.h5 --graphs=34 --samples=20 --groups=4 "$hw" --split=random --noise=0 --residual=0 "$@"
    expect 0 dataset show t4.h5 --json
    sed 's/"command":[^,]*,//' out.txt
}
formula=$(labels --settings=mine.cfg)
buckets=$(labels --settings=buckets.cfg)
test "$formula" != "$buckets" || fail "buckets change nothing"
test "$(labels --settings=mine.cfg --buckets)" = "$buckets" || fail "--buckets is not buckets = true"
checks=$((checks + 2))

# Measured operations change the labels of the GPU that they were measured on: LeNet at a batch of 64
# is the fastest of this seed's graphs, and slow on a CPU.
expect 0 operators measure "$hw" --model=lenet --batch=64 --gpu=T4 --device=cpu --seconds=0.0001 -o ops.h5
least_s() { # OPTION...
    expect 0 dataset build --force -o t4.h5 --graphs=34 --samples=20 --groups=4 "$hw" --settings=mine.cfg \
        --split=random --seed=5 --residual=0 "$@"
    expect 0 dataset show t4.h5 --json
    grep -o '"iteration_least_s":[^,]*' out.txt
}
formula=$(least_s)
test "$formula" = "$(least_s)" || fail "two builds differ"
test "$formula" != "$(least_s --operators=ops.h5)" || fail "measured operations change nothing"
expect 4 dataset build -o x.h5 "$hw" --operators=mine.cfg

# Mistakes, each with its place.
bad() { # words of the setting, what is said
    sed "s/$1/" mine.cfg >bad.cfg
    expect 3 dataset build -o x.h5 "$hw" --settings=bad.cfg
    says err.txt "bad.cfg:1"
    says err.txt "$2"
}
bad 'T4"; w/T5"; w' "T5"
bad 'eth25/eth26' "eth26"
bad 'nodes = 2/nodes = 3' "share 3 nodes"
bad 'servers = 0/servers = 1' "servers go with"
bad 'allreduce/broadcast' "broadcast"
bad 'allreduce/one' "one worker"
bad 'workers = 4/workers = 0' "workers"
bad 'T4-w4/T4\/w4' "without"
bad 'name = "T4-w4";/' "name"
expect 4 dataset build -o x.h5 "$hw" --setting=nobody
says err.txt "nobody"
expect 4 dataset build -o x.h5 "$hw" --graphs=100000
says err.txt "the zoo has"
expect 4 dataset build -o x.h5 "$hw" --graphs=3
expect 3 dataset build -o x.h5 --hardware=nowhere
expect 5 dataset build -o nowhere/x.h5 "$hw" --graphs=34 --samples=20 --groups=4 \
    --setting=V100-P1w2-ho-PCIe
expect 2 dataset build
expect 2 dataset build -o x.h5 --split=half
expect 2 dataset build -o x.h5 --features=3
expect 2 dataset build -o x.h5 --noise=2
expect 2 dataset build -o x.h5 --interval=soon
expect 2 dataset
expect 2 dataset show
expect 2 dataset facts -o x.h5
expect 4 dataset facts "$hw" --graphs=34 --samples=20 --groups=4 --split=random \
    --setting=V100-P1w2-ho-PCIe
says err.txt "does not fit any GPU"
expect 4 dataset show nothing.h5
test ! -e x.h5 || fail "a failed build left a file"
echo "$checks checks"
