# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim operators: the commands of docs/operator.md, its table, answers that must hold, refusals.
. "$DLSIM_SOURCE/tests/support/cli.sh"
doc=$source/docs/operator.md
hardware=$source/configs/hardware

# The table in the documentation is what the command prints, and every target is met.
"$dlsim" operators validate --hardware="$hardware" >now.md || fail "a target is missed"
cp now.md overlap.md
sed -n '/<!-- operators validate -->/,/<!-- end -->/p' "$doc" | sed '1d;$d' >doc.md
diff doc.md now.md >&2 || fail "docs/operator.md is not current"
"$dlsim" operators validate --sized --hardware="$hardware" >now.md || fail "sized: a target is missed"
sed -n '/<!-- operators validate --sized -->/,/<!-- end -->/p' "$doc" | sed '1d;$d' >doc.md
diff doc.md now.md >&2 || fail "docs/operator.md is not current: sized"
(cd "$hardware/measured" && "$dlsim" operators kernels vidur_products.csv.gz xla_products.csv.gz) | grep -v '| all' >now.md
sed -n '/<!-- operators kernels -->/,/<!-- end -->/p' "$doc" | sed '1d;$d' >doc.md
diff doc.md now.md >&2 || fail "docs/operator.md is not current: products that others measured"
"$dlsim" operators calibrate --sized --hardware="$hardware" -o sized.cfg
# Hosts whose launches were measured (docs/measured.md) are no calibration's.
grep -v launch_s "$hardware/operator-sized.cfg" | cmp sized.cfg - || fail "operator-sized.cfg is not the calibration"
grep -q launch_s "$hardware/operator-sized.cfg" || fail "no host with a cost of a launch"
points=$("$dlsim" operators validate --points --hardware="$hardware" |
    grep -cE '\| (judge|calibrate) \|')
test "$points" = 368 || fail "$points points"
# All-reduce in buckets: columns of the page's table are the judged errors of the overlap, of the shipped constants, of its own.
"$dlsim" operators calibrate --buckets --hardware="$hardware" -o buckets.cfg
"$dlsim" operators validate --buckets --hardware="$hardware" >shipped.md 2>/dev/null && fail "a target that is missed is not said"
"$dlsim" operators validate --buckets --constants=buckets.cfg --hardware="$hardware" >own.md || fail "buckets: a target is missed"
grep -h -e '^| one node, all' -e '^| several' overlap.md shipped.md own.md | awk -F' *[|] *' '
    { split($4, judged, " "); row[$2] = row[$2] " | " judged[1] }
    END { for (name in row) print "| " name row[name] " |" }' | sort >now.md
grep -e '^| one node, all-reduce.* [0-9.]* |$' -e '^| several nodes.* [0-9.]* |$' "$doc" | sort >doc.md
diff doc.md now.md >&2 || fail "docs/operator.md is not current: buckets"
test "$(wc -l <now.md)" = 4 || fail "rows of buckets: $(cat now.md)"

# Every command of the page runs.
cp -r "$source/configs" .
run_page "$doc"
test "$(wc -l <commands.txt)" -ge 7 || fail "commands are missing"
test -s operator.cfg || fail "calibrate wrote nothing"

# Numbers that must hold.
value() { awk -v key="$1" '$1 == key { print $2 }' out.txt; }
dlsim operators step --model=resnet50 --gpu=P100 --batch=64 >out.txt
awk -v s="$(value step_s)" 'BEGIN { exit !(s > 0.27 && s < 0.32) }' || # 292.2 ms published
    fail "resnet50 on P100: $(value step_s) s"
one=$(value step_s)
dlsim operators step --model=resnet50 --gpu=P100 --batch=64 --gpus=8 --fabric=dgx1_p100 >out.txt
awk -v a="$one" -v b="$(value step_s)" 'BEGIN { exit !(b > a && b < 1.2 * a) }' || fail "8 GPUs"
one_link() {
    dlsim operators step --model=vgg16 --gpu=H100 --gpus=32 --nodes=4 "$@" >out.txt
    value exchange_s
}
awk -v slow="$(one_link --network=eth10)" -v fast="$(one_link --network=ib_ndr)" \
    -v two="$(one_link --network=ib_ndr --algorithm=hierarchical)" \
    'BEGIN { exit !(slow > 20 * fast && two != fast) }' || fail "links"
dlsim operators step --model=bert_large --gpu=T4 --batch=64 >out.txt
test "$(value fits)" = no || fail "64 sequences of BERT-large fit a T4"
for what in step profile; do
    expect 4 operators $what --model=resnet50 --gpu=T4 --precision=bf16 --hardware="$hardware"
    says err.txt "T4 has no units for bf16"
done

dlsim graph zoo vgg16 --batch=64 -o vgg16.h5 >/dev/null
expect 4 operators step --model=mistral_7b --gpu=A100 # of the zoo, not written as layers
says err.txt "unknown model \"mistral_7b\" ('dlsim operators list' shows"
dlsim operators step --model=vgg16 --gpu=P100 --batch=64 >out.txt
layers=$(value step_s)
dlsim operators step --graph=vgg16.h5 --gpu=P100 >out.txt
awk -v a="$layers" -v b="$(value step_s)" 'BEGIN { exit !(b > 0.97 * a && b < 1.03 * a) }' ||
    fail "vgg16 as a graph: $(value step_s) s, as layers: $layers s"

# Published facts of burst and idle phases on our own workloads.
for model in resnet50 resnet152 vgg16 inception3 alexnet bert_base; do
    for batch in 8 32; do
        for gpu in V100 RTX2080TI TITAN-RTX; do
            dlsim operators profile --model=$model --gpu=$gpu --batch=$batch --gpus=4 \
                --servers=1 --fabric=p100_servers
        done
    done
done >profiles.txt
awk '/^(gpu|gpu_mem|net_rx|net_tx) / { n++; bib += $2 == "BIB" }
    /^net_tx / { idle += $3; burst += $4 }
    END {
        printf "BIB %.1f %%, sending bursts %.0f %% shorter than pauses\n", 100 * bib / n,
            100 * (1 - burst / idle)
        exit !(n == 144 && bib > 0.9 * n && burst < idle)
    }' profiles.txt || fail "burst and idle phases"
dlsim operators profile --model=resnet50 --gpu=V100 --seed=4 >a.txt
dlsim operators profile --model=resnet50 --gpu=V100 --seed=4 >b.txt
cmp a.txt b.txt || fail "the same seed, other samples"
grep -q '^net_tx I ' a.txt || fail "one worker uses no network"

# The samples as a file: what is found in them is what was printed.
dlsim operators profile --model=resnet50 --gpu=V100 --gpus=2 --servers=1 -o samples.h5 >a.txt
dlsim perf analyze samples.h5 --json >b.json
for resource in gpu_mem net_tx; do
    printed=$(awk -v r=$resource '$1 == r { printf "%.3e %.3e", $3, $4 }' a.txt)
    found=$(python3 - $resource <<'END'
import json, sys
for r in json.load(open("b.json"))["resources"]:
    if r["resource"] == sys.argv[1]:
        print("%.3e %.3e" % (r["idle_s"], r["burst_s"]))
END
    )
    test -n "$printed" && test "$printed" = "$found" || fail "$resource: $printed printed, $found in the file"
done

# The published points are a table like any other: what cannot be is named with its place.
mkdir -p configs/hardware/measured
points=model,gpu,source,precision,gpus,batch_per_gpu,step_ms,fitted
for row in resnet50,P100,XYZ,fp32,1,32,164.1,1 resnet50,P100,TFB,fp8,1,32,164.1,1 resnet50,P100,TFB,fp32,1,32,0,1; do
    printf '%s\n%s\n' "$points" "$row" >configs/hardware/measured/published.csv
    expect 4 operators validate --hardware="$DLSIM_SOURCE/configs/hardware"
    says err.txt "measured/published.csv:2:"
done
rm -r configs

# Measured operations take the place of the formula. The CPU is slower than any GPU.
dlsim graph zoo lenet --batch=8 -o lenet8.h5
dlsim operators measure --graph=lenet8.h5 --gpu=K80 --device=cpu --seconds=0.0001 -o ops.h5 >out.txt
grep -q '^measured  *[0-9]* operations of lenet@8 fp32' out.txt || fail "measure: $(cat out.txt)"
# A module and no GPU, or neither.
CUDA_VISIBLE_DEVICES='' expect 6 operators measure --graph=lenet8.h5 --gpu=K80 --hardware="$hardware" -o none.h5
dlsim operators step --graph=lenet8.h5 --gpu=K80 >out.txt
formula=$(value step_s)
dlsim operators step --graph=lenet8.h5 --gpu=K80 --operators=ops.h5 >out.txt
awk -v a="$formula" -v b="$(value step_s)" 'BEGIN { exit !(b > 2 * a) }' || fail "ops.h5 changes nothing"
dlsim operators step --graph=lenet8.h5 --gpu=P100 --operators=ops.h5 >out.txt
other=$(value step_s)
dlsim operators step --graph=lenet8.h5 --gpu=P100 >out.txt
test "$other" = "$(value step_s)" || fail "times of a K80 are used for a P100"
dlsim operators profile --graph=lenet8.h5 --gpu=K80 --operators=ops.h5 --samples=100 >out.txt

# Measured kernels: what the shipped constants say of rows that they themselves made is right.
cat >rows.csv <<'CSV'
gpu,op,b,m,n,k,latency_ms,kernel
CSV
for m in 128 256 384 512 640 768 896 1024 1152 1280 1408 1536 1664 1792 1920 2048 2176 2304 2432 2560; do
    for n in 64 128 256 512 1024; do
        # 15 TFLOP/s above a floor of 50 us
        awk -v m=$m -v n=$n 'BEGIN { printf "V100-PCIE,linear,1,%d,%d,2048,%.6f,volta_sgemm_128x64_tn\n", m, n,
            0.05 + 2 * m * n * 2048 / 12e9 }' >>rows.csv
    done
done
dlsim operators fit-kernels rows.csv -o fitted.cfg >out.txt
awk -F'|' '$2 ~ /linear/ && $3 ~ /all/ { exit !($4 > 10 && $5 < 5) }' out.txt || fail "fit-kernels: $(cat out.txt)"
dlsim operators kernels rows.csv --constants=fitted.cfg >again.txt
diff out.txt again.txt || fail "fitted constants say something else when they are read"
dlsim operators kernels rows.csv >out.txt
awk -F'|' '$2 ~ /linear/ && $3 ~ /all/ { exit !($5 < 20) }' out.txt || fail "kernels: $(cat out.txt)"
# Tiles are counted among the rows that name one: as many without a name take none away.
awk -F, -v OFS=, 'NR > 4 && NR < 8 { sub("128x64", "64x64") } { print } NR > 1 { $8 = ""; $5 += 8; print }' rows.csv >both.csv
dlsim operators fit-kernels both.csv -o both.cfg >out.txt
grep -q 'tiles = "128x64 64x64"' both.cfg || fail "tiles: $(grep tiles both.cfg)"
echo 'V100-PCIE,linear,1,8,8,8,0,x' >>rows.csv
expect 4 operators kernels rows.csv
says err.txt "rows.csv:102:26"

# A host that runs PyTorch, fitted to its steps: the shipped one's to those that may fit, a new one is added; without steps there is none.
steps="$DLSIM_SOURCE/configs/hardware/measured/h100_steps.csv.gz"
dlsim operators fit-host "$steps" --host=pytorch-2.11.0-slow-vm -o host.cfg
sed 's/; launch_s = 2.*//' host.cfg >a.txt
sed 's/; launch_s = 2.*//' "$DLSIM_SOURCE/configs/hardware/operator-sized.cfg" | diff - a.txt || fail "fit-host changes more than its host"
printf 'model,gpu,batch,precision,framework,step_ms,busy_ms\n%s,H100,8,bf16,mine,%s\n' resnet50 20,5 vgg16 7,6.5 >steps.csv
printf 'vgg16,H100,8,bf16,mine,7,6.5\nresnet50,H100,8,fp16,mine,99,5\nvgg16,H100,64,bf16,mine,24,\n' >>steps.csv
dlsim operators fit-host steps.csv --host=mine --force -o host.cfg
dlsim operators step --sized --constants=host.cfg --host=mine --model=resnet50 --gpu=H100 --batch=8 --precision=bf16 >out.txt || fail "a new host"
expect 4 operators fit-host steps.csv --host=nonesuch --force -o host.cfg
says err.txt "nonesuch: no step of it"

# The table of kernels in the documentation, where the measured kernels are; the sanitizers have seen the code above.
kernels=${DLSIM_SHARED:-/nowhere}/data/measured/kernels
if [ "${DLSIM_SANITIZE:-0}" = 1 ]; then
    echo "the table of kernels is left to the optimised build"
elif test -r "$kernels/linear.csv.gz"; then
    dlsim operators kernels "$kernels"/*.csv.gz >out.txt
    # family rows median mean p90 bias, of all GPUs
    awk -F' *[|] *' '$3 == "all" { print $4, $5, $6, $7, $8 }' out.txt >now.txt
    sed -n 's/,//g; /^| kernels | rows | median/,/^$/p' "$doc" |
        awk -F' *[|] *' '$3 + 0 > 0 { gsub(",", "", $3); print $3, $4, $5, $6, $7 }' >documented.txt
    test "$(wc -l <now.txt)" = 6 && diff documented.txt now.txt >&2 || fail "the table of kernels is not current"
else
    echo "skipped: measured kernels not found (DLSIM_SHARED)"
fi

# Refusals: exit code, and a word that helps.
refuse() {
    code=$1 word=$2
    shift 2
    set +e
    "$dlsim" operators "$@" >out.txt 2>err.txt </dev/null
    got=$?
    set -e
    test $got = "$code" || fail "operators $*: exit code $got"
    grep -q -- "$word" err.txt || fail "operators $*: $(cat err.txt)"
}
refuse 2 calibrate
refuse 2 validate guess
refuse 2 output calibrate
refuse 2 gpu step --model=resnet50
refuse 2 network step --model=resnet50 --gpu=V100 --gpus=4 --nodes=2
refuse 2 multiple step --model=resnet50 --gpu=V100 --gpus=4 --nodes=3 --network=eth10
refuse 2 hierarchical step --model=resnet50 --gpu=V100 --algorithm=star
refuse 4 "mean" step --model=resnet50 --gpu=V100 --gpus=4 --nodes=2 --network=eth11
refuse 2 servers step --model=resnet50 --gpu=V100 --async
refuse 2 fp32 step --precision=fp64
refuse 2 batch step --batch=0
refuse 4 resnet50 step --model=resnet5 --gpu=V100
refuse 4 A100 step --model=resnet50 --gpu=A101
refuse 4 nobody step --model=resnet50 --gpu=V100 --host=nobody
refuse 2 graph step --model=vgg16 --graph=vgg16.h5 --gpu=P100
refuse 4 operator.cfg step --graph=operator.cfg --gpu=P100
refuse 3 gpus.cfg list --hardware=nowhere
refuse 3 broken.cfg list --constants=broken.cfg
refuse 4 missing.h5 step --model=resnet50 --gpu=K80 --operators=missing.h5
refuse 4 HDF5 step --model=resnet50 --gpu=K80 --operators=operator.cfg
refuse 4 format step --model=resnet50 --gpu=K80 --operators=lenet8.h5
refuse 5 folder profile --model=alexnet --gpu=K80 -o no/folder.h5
refuse 2 output measure --model=lenet --gpu=K80
refuse 2 device measure --model=lenet --gpu=K80 -o x.h5 --device=tpu
refuse 2 seconds measure --model=lenet --gpu=K80 -o x.h5 --device=cpu --seconds=0
refuse 4 zoo measure --model=resnet51 --gpu=K80 -o x.h5 --device=cpu
refuse 6 fp32 measure --model=lenet --gpu=K80 -o x.h5 --device=cpu --precision=fp16
export DLSIM_METER_MODULE=$PWD/missing.so
refuse 6 missing.so measure --model=lenet --gpu=K80 -o x.h5
export DLSIM_METER_MODULE=libm.so.6
refuse 6 interface measure --model=lenet --gpu=K80 -o x.h5
test ! -e x.h5 || fail "a failed measurement left a file"
echo "operators: good"
