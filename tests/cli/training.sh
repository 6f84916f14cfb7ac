# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim train and evaluate: from a dataset to settings of an inspector, interruptions, mistakes.
. "$DLSIM_SOURCE/tests/support/cli.sh"
# Every command of docs/training.md.
ln -s "$source/configs" configs
run_page "$source/docs/training.md" 's/--graphs=60/--graphs=36/'
graphs=$((${DLSIM_SANITIZE:-0} ? 36 : 60))

first=V100-P1w2-ho-PCIe
second=2080Ti-P5w10-he-1G
expect 0 dataset build -o d.h5 --graphs=$graphs --samples=100 --groups=8 --features=total \
    --hardware="$source/configs/hardware" --setting=$first --setting=$second -q

quick="--dataset=d.h5 --arch=hidden=16 --lr=0.002 --batch=16"
# shellcheck disable=SC2086
expect 0 train $quick --setting=$first --epochs=30 --force -o base.h5 --curves=curves.h5 --threads=1
says err.txt "$first: 30 epochs, best validation loss"
empty out.txt
expect 0 model show base.h5
says out.txt "$first"
says out.txt "V100-PCIE"

# The same with two threads, and with an interruption in between.
# shellcheck disable=SC2086
expect 0 train $quick --setting=$first --epochs=30 -o two.h5 --threads=2 -q
empty err.txt
cmp base.h5 two.h5 || fail "the number of threads changes the weights"
# shellcheck disable=SC2086
expect 0 train $quick --setting=$first --epochs=12 -o half.h5 --checkpoint=c.h5 --checkpoint-every=6 -q
# shellcheck disable=SC2086
expect 0 train $quick --setting=$first --epochs=30 -o whole.h5 --checkpoint=c.h5 --resume -q
cmp base.h5 whole.h5 || fail "a training that resumed differs"
# shellcheck disable=SC2086
expect 4 train $quick --setting=$first --epochs=30 --seed=7 -o whole.h5 --checkpoint=c.h5 --resume
says err.txt "another training"

# Ctrl-C and kill leave a checkpoint and no weights.
for signal in INT TERM; do
    rm -f int.h5
    # shellcheck disable=SC2086
    "$dlsim" train $quick --setting=$first --epochs=100000 --patience=0 -o never.h5 \
        --checkpoint=int.h5 --checkpoint-every=100000 -q 2>err.txt &
    for _ in $(seq 1200); do # until it minds SIGTERM
        test $((0x$(sed -n 's/^SigCgt:\t//p' /proc/$!/status) >> 14 & 1)) -eq 1 && break
        sleep 0.05
    done
    sleep 0.5
    kill -$signal $!
    code=0
    wait $! || code=$?
    test $code -eq 130 || fail "$signal: exit code $code: $(cat err.txt)"
    test -s int.h5 || fail "no checkpoint after $signal"
    test ! -e never.h5 || fail "weights of an interrupted training"
done

# Transfer: one file with both settings; resuming trains only what is missing.
expect 0 train --dataset=d.h5 --base=base.h5 --transfer --settings=all --epochs=10 --force -o all.h5
says err.txt "$second: 10 epochs"
expect 0 train --dataset=d.h5 --base=base.h5 --transfer --settings=all --epochs=10 -o all.h5 --resume
empty err.txt
for tune in mlp conv+gru all base; do
    expect 0 train --dataset=d.h5 --base=base.h5 --tune=$tune --setting=$second --epochs=2 --force -o t.h5 -q
    expect 0 evaluate --weights=t.h5 --dataset=d.h5 --setting=$second
done

# On a device, here an emulated one: the same course but for rounding, and the checkpoint of either is
# taken up by the other.
if [ -n "${DLSIM_CUDA_EMULATED:-}" ]; then
    export DLSIM_CUDA_MODULE=$DLSIM_CUDA_EMULATED
    # shellcheck disable=SC2086
    expect 0 train $quick --setting=$first --epochs=4 -o cpu.h5 --checkpoint=cc.h5
    cp err.txt cpu.txt
    # shellcheck disable=SC2086
    expect 0 train $quick --setting=$first --epochs=4 -o cuda.h5 --checkpoint=gc.h5 --backend=cuda
    paste cpu.txt err.txt | awk '
        { n = 0; for (i = 1; i < NF; i++) { if ($i == "loss") { loss[n++] = $(i + 1) } }
          d = loss[0] - loss[1]; exit !(n == 2 && d * d < 1e-10 * loss[0] * loss[0]) }' ||
        fail "CPU and CUDA: $(cat cpu.txt err.txt)"
    # shellcheck disable=SC2086
    expect 0 train $quick --setting=$first --epochs=6 -o x1.h5 --checkpoint=gc.h5 --resume -q
    # shellcheck disable=SC2086
    expect 0 train $quick --setting=$first --epochs=6 -o x2.h5 --checkpoint=cc.h5 --resume -q --backend=cuda
    expect 0 train --dataset=d.h5 --base=base.h5 --transfer --setting=$second --epochs=2 -o x3.h5 \
        --backend=cuda
    says err.txt "$second: 2 epochs"
    expect 0 train --dataset=d.h5 --together --settings=all --arch=hidden=16 --epochs=2 -o x4.h5 \
        --hardware="$source/configs/hardware" --backend=cuda -q
    expect 6 train --dataset=d.h5 --setting=$first -o x.h5 --backend=cuda --precision=f64
    says err.txt "by the CPU only"
    expect 6 train --dataset=d.h5 --setting=$first -o x.h5 --backend=cuda --arch="conv=gat hidden=16"
    says err.txt "--backend=cpu"
    unset DLSIM_CUDA_MODULE
fi
DLSIM_CUDA_MODULE=none.so expect 6 train --dataset=d.h5 --setting=$first -o x.h5 --backend=cuda
says err.txt "does not open"
expect 2 train --dataset=d.h5 --setting=$first -o x.h5 --backend=gpu
expect 5 train --dataset=d.h5 --setting=$first -o x.h5 --curves=x.h5
says err.txt "x.h5: another option writes it, too: it would be replaced"
test ! -e x.h5 || fail "a file that two options write"

expect 0 evaluate --weights=all.h5 --dataset=d.h5
says out.txt "$first"
says out.txt "$second"
says out.txt "average"
expect 0 evaluate --weights=all.h5 --dataset=d.h5 --setting=$second --metrics --split=val
says out.txt "gpu_mem_peak"
expect 0 evaluate --weights=all.h5 --dataset=d.h5 --families
says out.txt "share"
awk 'NR > 1 { all += $6 } END { exit !(NR > 2 && all > 99.5 && all < 100.5) }' out.txt ||
    fail "--families: $(cat out.txt)"
expect 0 evaluate --weights=all.h5 --dataset=d.h5 --setting=$first --as=$second
expect 0 evaluate --weights=all.h5 --dataset=d.h5 --baselines --hardware="$source/configs/hardware"
says out.txt "paleo"
! grep -q habitat out.txt || fail "Habitat's scaling of what is not there: $(cat out.txt)"
test "$(wc -l <out.txt)" -eq 4 || fail "--baselines: $(cat out.txt)"
expect 0 dataset build -o v100.h5 --graphs=$graphs --samples=100 --groups=8 --features=total \
    --hardware="$source/configs/hardware" --setting=$first --settings=all --setting=V100-w1 -q
expect 0 evaluate --weights=base.h5 --dataset=v100.h5 --setting=$first --setting=V100-w1 --as=$first \
    --baselines --hardware="$source/configs/hardware"
! grep -qi nan out.txt || fail "--baselines: $(cat out.txt)"
grep '^V100-w1 ' out.txt | awk '{ exit !($9 == 0) }' || fail "Habitat from a V100 to a V100: $(cat out.txt)"

# Learned baselines, from a dataset of V100 and RTX 2080 Ti.
hardware="--hardware=$source/configs/hardware"
small="--dataset=v100.h5 --rows=1000 --epochs=10 --width=16 --depth=2 $hardware"
for how in justus habitat; do
    # shellcheck disable=SC2086
    expect 0 train --baseline=$how $small -o $how.h5
    empty err.txt
    test "$(wc -l <out.txt)" -eq "$(test $how = justus && echo 6 || echo 4)" || fail "$how: $(cat out.txt)"
    # shellcheck disable=SC2086
    expect 0 train --baseline=$how $small --force -o again.h5 -q
    empty out.txt
done
# shellcheck disable=SC2086
expect 0 evaluate --weights=base.h5 --dataset=v100.h5 --setting=$first --setting=V100-w1 --as=$first $hardware \
    --learned=justus.h5 --learned=habitat.h5
head -1 out.txt | grep -q 'habitat_nets *justus$' || fail "--learned: $(cat out.txt)"
# A step on one V100: scaled from itself by Habitat, from nothing by Justus.
grep '^V100-w1 ' out.txt | awk '{ exit !($9 == 0 && $11 == 0 && $13 > 0 && $13 < 0.4) }' ||
    fail "--learned: $(cat out.txt)"
# shellcheck disable=SC2086
expect 4 evaluate --weights=base.h5 --dataset=v100.h5 $hardware --learned=justus.h5 --learned=justus.h5
says err.txt "second file"
# shellcheck disable=SC2086
expect 4 evaluate --weights=base.h5 --dataset=v100.h5 $hardware --learned=base.h5
says err.txt "base.h5"
# shellcheck disable=SC2086
expect 0 train --baseline=justus $small --without-gpu=V100 -o without.h5
# shellcheck disable=SC2086
expect 4 train --baseline=justus $small --without-gpu=Abacus -o never.h5
says err.txt "Abacus"
expect 2 train --baseline=oracle --dataset=v100.h5 -o never.h5
expect 2 train --baseline=justus --dataset=v100.h5
expect 2 train --baseline=justus --dataset=v100.h5 -o never.h5 --lr=fast
expect 4 train --baseline=justus --dataset=base.h5 -o never.h5
test ! -e never.h5 || fail "a file of a baseline that was not trained"
for model in alpha beta1 gamma; do
    mkdir -p profiles/$model
    {
        echo 'node1 -- Input -- forward_compute_time=9, backward_compute_time=0, activation_size=1204224, parameter_size=0'
        for i in 2 3 4 5 6 7 8 9; do
            echo "node$i -- Linear(in_features=$((i * 100)), out_features=10) -- forward_compute_time=$i.5, backward_compute_time=1, activation_size=80, parameter_size=0"
        done
    } >profiles/$model/graph.txt
done
# shellcheck disable=SC2086
expect 0 train --baseline=justus --profiles=profiles --gpu=V100 $hardware --epochs=200 --batch=4
test "$(wc -l <out.txt)" -eq 5 || fail "--profiles: $(cat out.txt)"
says out.txt "mean of the errors"
expect 2 train --baseline=justus --profiles=profiles --gpu=V100 -o never.h5
expect 2 train --baseline=habitat --profiles=profiles --gpu=V100
expect 4 train --baseline=justus --profiles=elsewhere --gpu=V100
rm -r profiles/gamma
expect 4 train --baseline=justus --profiles=profiles --gpu=V100
says err.txt "three families"
expect 0 train --baseline=justus --help
says out.txt "--without-gpu"

expect 0 evaluate --weights=all.h5 --dataset=d.h5 --json
if command -v python3 >/dev/null; then
    python3 - out.txt <<'EOF' || fail "evaluate --json"
import json, sys
with open(sys.argv[1]) as f:
    root = json.load(f)
assert root["split"] == "test" and len(root["settings"]) == 2
for s in root["settings"]:
    for who in ("inspector", "noise_floor", "operator_model", "nearest", "mean"):
        t = s[who]
        counted = [m["by_range"] for m in t.values() if isinstance(m, dict) and m["counted"]]
        assert 0 < t["nrmse"] < 10 and len(counted) >= 12
    assert s["noise_floor"]["nrmse"] < s["operator_model"]["nrmse"] < s["nearest"]["nrmse"]
EOF
fi

# One inspector of several settings answers for another one, too.
expect 0 dataset build -o many.h5 --graphs=$graphs --samples=100 --groups=8 --features=total \
    --hardware="$source/configs/hardware" --settings=all --setting=V100-w1 --setting=A100-w1 \
    --setting=H100-w1 --setting=V100-w8-ar-eth10 --setting=A100-w8-ar-eth100 -q
hardware=--hardware=$source/configs/hardware
many="--dataset=many.h5 --settings=all --together --arch=hidden=16 --lr=0.002 --epochs=8 $hardware"
# shellcheck disable=SC2086
expect 0 train $many --without=V100-w8-ar-eth10 --force -o together.h5
says err.txt "all settings: 8 epochs"
expect 0 model show together.h5
says out.txt "told of a setting: gpu_fp32 gpu_bandwidth"
expect 0 evaluate --weights=together.h5 --dataset=many.h5 "$hardware"
test "$(wc -l <out.txt)" -eq 7 || fail "--together: $(cat out.txt)"
! grep -qi nan out.txt || fail "--together: $(cat out.txt)"
expect 0 graph group resnet50 --batch=32 --weights=together.h5 -o r.h5
expect 0 predict --weights=together.h5 --input=r.h5 --setting=A100-w8-ar-ibhdr "$hardware" -q
test "$(wc -l <out.txt)" -eq 1 || fail "a setting of configs/settings: $(cat out.txt)"
expect 0 predict --weights=together.h5 --input=r.h5 "$hardware" -q
test "$(wc -l <out.txt)" -gt 100 || fail "all settings: $(cat out.txt)"
expect 2 predict --weights=together.h5 --input=r.h5 --setting=A100-w9 "$hardware" -q
says err.txt "A100-w9"
expect 3 predict --weights=together.h5 --input=r.h5 --setting=A100-w1 --hardware=nowhere -q
expect 0 predict --whatif --model=resnet50 --weights=together.h5 --gpu=H200 --workers=3
# What it has not seen, beside the nearest setting's inspector.
expect 0 train --dataset=many.h5 --setting=V100-w1 --arch=hidden=16 --epochs=2 -o own.h5 -q
expect 0 train --dataset=many.h5 --settings=all --base=own.h5 --tune=mlp --epochs=2 -o owns.h5 -q
expect 0 evaluate --weights=together.h5 --dataset=many.h5 --nearest=owns.h5 "$hardware"
says out.txt "V100-w8-ar-eth10       A100-w8-ar-eth100"
test "$(wc -l <out.txt)" -eq 3 || fail "evaluate --nearest: $(cat out.txt)"
expect 4 evaluate --weights=owns.h5 --dataset=many.h5 --nearest=owns.h5 "$hardware"
# shellcheck disable=SC2086
expect 0 train $many --leave-out=2 --seed=1 --force -o again.h5 -q
expect 0 evaluate --weights=again.h5 --dataset=many.h5 --nearest=owns.h5 "$hardware"
test "$(wc -l <out.txt)" -eq 4 || fail "--leave-out: $(cat out.txt)"
expect 2 train --dataset=many.h5 --setting=V100-w1 --leave-out=2 -o x.h5
# shellcheck disable=SC2086
expect 0 train $many --without=V100-w8-ar-eth10 --force -o again.h5 --threads=2 -q
cmp together.h5 again.h5 || fail "--together depends on the number of threads"
# shellcheck disable=SC2086
expect 0 train $many --without=V100 --force -o again.h5 -q
cmp -s together.h5 again.h5 && fail "--without=V100 leaves out no more than a setting"
expect 0 train --dataset=many.h5 --base=together.h5 --transfer --partition=0.25 --epochs=2 \
    --setting=V100-w8-ar-eth10 "$hardware" -o tuned.h5 -q
expect 0 model show tuned.h5
says out.txt "V100-w8-ar-eth10"
expect 4 train --dataset=many.h5 --base=tuned.h5 --transfer --partition=0.75 --epochs=2 \
    --setting=V100-w1 "$hardware" -o x.h5
says err.txt "0.25"
expect 4 train --dataset=many.h5 --settings=all --together --without=V1000 -o x.h5
says err.txt "V1000"
expect 3 train --dataset=many.h5 --settings=all --together --hardware=nowhere -o x.h5
expect 2 train --dataset=many.h5 --settings=all --together --base=base.h5 -o x.h5
expect 2 train --dataset=many.h5 --setting=V100-w1 --partition=0.5 -o x.h5
expect 2 train --dataset=many.h5 --setting=V100-w1 --without=V100 -o x.h5
expect 2 train --dataset=many.h5 --setting=V100-w1 --base=base.h5 --transfer --partition=2 -o x.h5

# The design studies.
for study in depth readout conv init data; do
    # shellcheck disable=SC2086
    expect 0 train $quick --setting=$first --epochs=1 --study=$study -q
    test "$(wc -l <out.txt)" -ge 2 || fail "--study=$study: $(cat out.txt)"
done
expect 0 train --dataset=d.h5 --base=base.h5 --setting=$second --setting=$first --study=transfer \
    --share=0.4 --epochs=2 --arch=hidden=16 --seeds=2 -q
says out.txt "times faster"
test "$(grep -c transfer out.txt)" -eq 10 || fail "--study=transfer: $(cat out.txt)"
expect 2 train --dataset=d.h5 --setting=$first --study=transfer
expect 2 train --dataset=d.h5 --setting=$first --study=depht
expect 2 train --dataset=d.h5 --dataset=d.h5 --setting=$first --study=depth
expect 2 train --dataset=d.h5 --setting=$first --study=depth -o x.h5

# Mistakes.
expect 2 train --dataset=d.h5 --setting=$first
expect 2 train --dataset=d.h5 --setting=$first -o x.h5 --base=base.h5
says err.txt "--transfer"
expect 2 train --dataset=d.h5 --setting=$first -o x.h5 --tune=conv+mpl
says err.txt "conv+mlp"
expect 2 train --dataset=d.h5 --setting=$first --setting=$second -o x.h5
expect 2 train --dataset=d.h5 --setting=$first -o x.h5 --lr=fast
expect 4 train --dataset=d.h5 --setting=V100-P1w3 -o x.h5
expect 4 train --dataset=nowhere.h5 --setting=$first -o x.h5
expect 4 train --dataset=d.h5 --setting=$first -o x.h5 --arch="conv=gat hidden=16 reference=1"
says err.txt "reference"
expect 5 train --dataset=d.h5 --setting=$first -o no/such/folder/x.h5 --epochs=1 --arch=hidden=16
test ! -e x.h5 || fail "weights after a mistake"
expect 2 evaluate --weights=all.h5
expect 4 evaluate --weights=all.h5 --dataset=d.h5 --as=nobody
expect 0 dataset build -o other.h5 --graphs=$graphs --samples=100 --groups=8 \
    --hardware="$source/configs/hardware" --setting=$first -q
expect 4 evaluate --weights=all.h5 --dataset=other.h5
says err.txt "features"
expect 4 train --dataset=other.h5 --setting=$first --base=base.h5 --transfer -o x.h5
expect 0 dataset build -o like.h5 --graphs=$graphs --samples=100 --weights=base.h5 \
    --hardware="$source/configs/hardware" --setting=$first -q
expect 0 evaluate --weights=all.h5 --dataset=like.h5
expect 4 dataset build --force -o like.h5 --weights=nothing.h5
echo "$checks checks"
