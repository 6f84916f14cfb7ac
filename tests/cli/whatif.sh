# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim predict --whatif: the questions, by every predictor that needs no trained weights, and what is
# refused.
. "$DLSIM_SOURCE/tests/support/cli.sh"
ln -s "$source/configs" configs

for who in operator paleo habitat; do
    expect 0 predict --whatif --model=resnet50 --batch=32 --gpu=V100 --workers=2 --ps=1 --source=$who
    for row in "as asked" "on P100" "on A100" "one more worker" "one more parameter server" \
        "twice the batch" "half the batch"; do
        says out.txt "$row"
    done
    expect 0 predict --whatif --model=resnet50 --source=$who --json
    tr -d '\n' <out.txt | tr -s ' ' >flat.txt
    says flat.txt '"what": "as asked", "gpu": "V100", "workers": 1, "nodes": 1, "ps": 0, "batch": 32'
    if command -v python3 >/dev/null; then
        python3 - out.txt <<'END' || fail "$who: the JSON"
import json, sys
answers = {a["what"]: a for a in json.load(open(sys.argv[1]))["answers"]}
assert answers["as asked"]["speed"] == 1
assert answers["on A100"]["speed"] > 1.1 > 0.95 > answers["on P100"]["speed"]
assert 0.8 < answers["twice the batch"]["speed"] < 1.3
END
    fi
done
# A server beside one worker is a way to go, as are servers of which workers need not wait.
for who in operator paleo habitat; do
    for how in "" --async; do
        expect 0 predict --whatif --model=vgg16 --batch=8 --gpu=V100 --link=pcie3 --source=$who --json
        cp out.txt one.json
        expect 0 predict --whatif --model=vgg16 --batch=8 --gpu=V100 --link=pcie3 --ps=1 $how --source=$who --json
        command -v python3 >/dev/null || continue
        python3 - one.json out.txt $who <<'END' || fail "$who: a server beside one worker $how"
import json, sys
one, beside = ({a["what"]: a for a in json.load(open(f))["answers"]} for f in sys.argv[1:3])
if "ps-async" != beside["as asked"]["exchange"]:
    assert one["one more parameter server"]["iteration_s"] == beside["as asked"]["iteration_s"]
a, b = one["as asked"], beside["as asked"]
there_and_back_s = 2 * 4 * 138.36e6 / 11.97e9
assert there_and_back_s < b["iteration_s"] < a["iteration_s"] + 1.05 * there_and_back_s, (a, b)
if sys.argv[3] == "operator":
    sent = b["net_tx_active"] * b["net_tx_peak"]
    assert abs(sent / (4 * 138.36e6) - 1) < 0.05, sent
END
    done
done
# Over a slow network a second machine hardly helps VGG; a measured step is scaled.
expect 0 predict --whatif --model=vgg16 --workers=2 --nodes=2 --network=eth1 --source=operator
# Names are looked up, also where the question asked has no need of them.
for option in link network; do
    expect 4 predict --whatif --model=vgg16 --source=operator --$option=eth01
    says err.txt 'unknown link "eth01" (did you mean '
done
for name in resnet-51:resnet50 openai-community/gpt2-xxl:gpt2_xl; do
    expect 4 predict --whatif --model=${name%:*}
    says err.txt "unknown model \"${name%:*}\" (did you mean '${name#*:}'?)"
done
expect 0 predict --whatif --model=vgg16 --source=habitat --measured=P100:32:0.2 --gpu=P100 --json
tr -d '\n' <out.txt | tr -s ' ' >flat.txt
says flat.txt '"gpu": "P100", "workers": 1, "nodes": 1, "ps": 0, "batch": 32, "exchange": "one", "iteration_s": 0.2,'

# Who runs it and how images lie is heeded as in a file of measured steps.
cat >one.csv <<'END'
model,batch_per_gpu,image,gpu,framework,layout,precision,step_ms
resnet50,64,192,A100,pytorch-2.11.0-slow-vm,nchw,fp16,50
END
for who in operator driple; do
    expect 0 evaluate --measured --no-points --sources=$who --json one.csv
    cp out.txt measured.json
    expect 0 predict --whatif --model=resnet50 --batch=64 --gpu=A100 --precision=fp16 --source=$who --json
    cp out.txt unsaid.json
    expect 0 predict --whatif --model=resnet50 --batch=64 --image=192 --gpu=A100 --precision=fp16 \
        --framework=pytorch-2.11.0-slow-vm --channels-first --source=$who --json
    python3 - <<'END' || fail "$who: framework and layout"
import json

said, unsaid = (json.load(open(name))["answers"][0]["iteration_s"] for name in ("out.txt", "unsaid.json"))
judged = 0.05 * json.load(open("measured.json"))["groups"][0]["bias"]
assert abs(said / judged - 1) < 1e-9 and abs(said / unsaid - 1) > 0.01, (said, judged, unsaid)
END
done
# Scores of 2^31 numbers: 16,384 patches, 8 heads.
expect 4 predict --whatif --model=cait_s24 --batch=1 --gpu=A100 --image=2048
says err.txt "cait_s24: does not fit its memory: 7"
# A step of one sample of 8,192 tokens holds 246 GiB with all scores, 54 without.
expect 4 predict --whatif --model=llama3_2_1b --batch=1 --gpu=H200 --precision=bf16 --source=operator
says err.txt "does not fit its memory: 2"
expect 0 predict --whatif --model=llama3_2_1b --batch=1 --gpu=H200 --precision=bf16 --source=operator --fused-attention
grep -Eq '^as asked .* (4|5)[0-9]\.[0-9] ' out.txt || fail "fused attention: $(cat out.txt)"
# A large model has FlashAttention-2 then, if its name says none.
for name in llm-l12-h1024-a16-s8192-b1 llm-l12-h1024-a16-s8192-b1-fa2 llm-l12-h1024-a16-s8192-b1-fa1; do
    expect 0 predict --whatif --model=$name --gpu=H100 --precision=bf16 --source=operator --fused-attention --json
    sed 's/"model": *"[^"]*"//' out.txt >$name.json
done
cmp llm-l12-h1024-a16-s8192-b1.json llm-l12-h1024-a16-s8192-b1-fa2.json || fail "a large model's attention stays as it is"
cmp -s llm-l12-h1024-a16-s8192-b1-fa1.json llm-l12-h1024-a16-s8192-b1-fa2.json && fail "which version the name says is not heard"
expect 4 predict --whatif --model=llama3_2_1b --batch=1 --sequence=512 --gpu=A100 --source=habitat --fused-attention
says err.txt "fused attention in fp32 on A100: not known"
expect 0 predict --whatif --model=bert-base --batch=8 --sequence=384 --source=operator --framework=PyTorch
says out.txt ", one, PyTorch; operator says:"
expect 0 predict --whatif --model=resnet18 --source=operator
says out.txt "resnet18 (the zoo's resnet18_cifar, 32 pixels an edge), batch 32"
expect 0 predict --whatif --model=resnet18 --image=224 --source=operator
says out.txt "resnet18 (the zoo's resnet18_imagenet, 224 pixels an edge), batch 32"
expect 0 predict --whatif --model=vgg16 --source=operator
says out.txt "vgg16, batch 32"
expect 4 predict --whatif --model=opt-6.7b --batch=1 --gpu=V100 --source=operator # whose network has not its name
says err.txt " GiB (the zoo's opt_67b, 2048 tokens)"
expect 4 predict --whatif --model=bart-large --image=224 --source=operator # no size that it does not have
says err.txt "bart_large sees no images (the zoo's bart_large, 512 tokens)"
expect 4 predict --whatif --model=stable-diffusion-2 --sequence=77 --source=operator
says err.txt "stable_diffusion_2 has no sequence length (the zoo's stable_diffusion_2, 768 pixels an edge)"
expect 0 predict --whatif --model=clip --batch=1 --sequence=1 --source=operator
says out.txt "clip (the zoo's clip_vit_base_patch32, 224 pixels an edge, 1 token), batch 1"
for model in stable_diffusion_1 stable_diffusion_2; do
    expect 4 predict --whatif --model=$model --image=500 --source=operator
    says err.txt "an image's edge must be a multiple of 64 pixels"
done

expect 2 predict --whatif
says err.txt "model is needed"
expect 2 predict --whatif --model=vgg16 --async
expect 2 predict --whatif --model=vgg16 --measured=P100:0.2
for slip in 1e308 1e-300 nan 0; do
    expect 2 predict --whatif --model=vgg16 --source=habitat --measured=P100:32:$slip
done
expect 2 predict --whatif --model=vgg16 --workers=0
expect 4 predict --whatif --model=nonesuch --source=operator
says err.txt "nonesuch"
expect 4 predict --whatif --model=vgg16 --source=oracle
expect 4 predict --whatif --model=vgg16 --gpu=V101 --source=operator
says err.txt "V100"
expect 4 predict --whatif --model=vgg16 --workers=3 --nodes=2 --source=operator
expect 4 predict --whatif --model=vgg16 --weights=/nowhere.h5

# A question that has no answer does not take those with one along.
for who in operator driple; do
    expect 0 predict --whatif --model=resnet152 --gpu=P100 --batch=64 --source=$who --to-gpus=V100,K80
    says out.txt "on V100"
    grep -q "on K80 *does not fit its memory: 1[0-9].[0-9] GiB" out.txt || fail "$who: K80"
    grep -q "twice the batch *does not fit its memory: 2[0-9].[0-9] GiB" out.txt || fail "$who: twice the batch"
    expect 0 predict --whatif --model=resnet152 --gpu=P100 --batch=64 --source=$who --to-gpus=V100,K80 --json
    says out.txt '"unanswered": "does not fit its memory: 1'
    expect 4 predict --whatif --model=resnet152 --gpu=K80 --batch=64 --source=$who
    says err.txt "does not fit its memory"
done
# Whoever is asked, memory is one count: that of what the backward pass reads.
for who in operator paleo habitat driple; do
    expect 0 predict --whatif --model=gpt2_large --gpu=A100-PCIE --batch=2 --source=$who
    expect 0 predict --whatif --model=bert_large --gpu=V100-PCIE --batch=16 --source=$who
done
# What is printed is what --json has, and no time is negative.
expect 0 predict --whatif --model=resnet50 --source=driple --json
grep -q '": -[0-9]' out.txt && fail "negative numbers"
# The shipped inspector is told the step in every precision; one that is not refuses tf32, in a run as well.
for who in driple operator; do
    expect 0 predict --whatif --model=resnet50 --gpu=A100 --precision=tf32 --source=$who
done
absolute=$source/predictor/inspectors/dlsim.h5
expect 4 predict --whatif --model=resnet50 --gpu=A100 --precision=tf32 --weights="$absolute"
says err.txt "the inspector does not know tf32"
# Paleo is calibrated per precision, but to nothing in bf16; Habitat's step of a V100 cannot be one in bf16.
expect 4 predict --whatif --model=resnet50 --gpu=A100 --precision=bf16 --source=paleo
says err.txt "paleo was calibrated to no step in bf16"
expect 4 predict --whatif --model=resnet50 --gpu=A100 --precision=bf16 --source=habitat
says err.txt "V100 has no units for bf16"
expect 0 predict --whatif --model=resnet50 --gpu=A100 --precision=bf16 --source=habitat --measured=H100:32:0.01 \
    --to-gpus=V100,H100
grep -q "on V100 *V100 has no units for bf16" out.txt || fail "bf16 on a V100"
# Without units for tf32 a GPU computes in fp32, at the fraction of its peak that it reaches in fp32.
for who in operator paleo habitat; do
    for precision in fp32 tf32; do
        expect 0 predict --whatif --model=resnet50 --gpu=V100 --to-gpus=P100 --precision=$precision --source=$who
        grep -E "^(as asked|on P100)" out.txt >$precision.txt
    done
    cmp -s fp32.txt tf32.txt || fail "$who: tf32 on a V100"
done
expect 4 run --config="$source/configs/placement-study.cfg" --placement=driple --predictor=driple \
    --set perf.numeric=tf32 --set trace.max_jobs=20 --set predictor.weights="$absolute"
says err.txt "the inspector does not know tf32"

# The commands of the documentation, as they are printed.
run_page "$source/docs/predictors.md" 's/--rows=2000/--rows=200/'

# The study of docs/placement-study.md resolves.
expect 0 sweep plan "$source/configs/studies/placement-predictors.cfg" --count
says out.txt 240
echo "$checks checks"
