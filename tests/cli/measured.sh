# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim evaluate --measured: groups, errors, what is not answered, and bad rows with line and column.
. "$DLSIM_SOURCE/tests/support/cli.sh"
ln -s "$source/configs" configs

expect 0 evaluate --measured --sources=operator,paleo
says out.txt "368 measured steps, 0 rows left out"
says out.txt "all that fitted nothing"

# What a file lacks: said as COLUMN=VALUE, of a column that there may be, with a value that it may hold.
printf 'model,gpu,batch_per_gpu,step_ms\nresnet50,V100,32,200\n' >bare.csv
for default in gpus gpsu=2; do
    expect 2 evaluate --measured --no-points --sources=operator bare.csv --default=$default
    says err.txt "expected COLUMN=VALUE, of a column that the files may have"
done
expect 0 evaluate --measured --no-points --sources=operator bare.csv --default=gpus=2
says out.txt "1 measured steps, 0 rows left out"
expect 0 evaluate --measured --no-points --sources=operator bare.csv --default=gpus=two
says err.txt "bare.csv:2: 'two' for 'gpus' is no whole number that it may be"

# Two times the operator model's own answer, a half of it, and what nobody knows.
cat >steps.csv <<'END'
# a comment
model,gpu,gpus,batch_per_gpu,precision,framework,step_ms
resnet50,V100,1,32,fp32,f,200
resnet50,V100,1,64,fp32,f,400
resnet50,P100,1,32,fp32,f,300
nonesuch,V100,1,32,fp32,f,10
resnet50,A100,1,32,tf32,f,50
resnet50,A100,1,32,bf16,f,25
END
expect 0 evaluate --measured --no-points --sources=driple,operator,paleo,habitat,justus --json --details steps.csv
cp out.txt all.json
if command -v python3 >/dev/null; then
    python3 - all.json <<'END' || fail "the JSON"
import json, math, sys
j = json.load(open(sys.argv[1]))
groups = {(g["source"], g["group"]): g for g in j["groups"]}
rows = j["steps"]
assert j["rows"] == 6 and j["left_out"] == []
fp32 = groups["operator", "steps, one GPU, fp32"]
assert fp32["rows"] == 4 and fp32["answered"] == 3
assert fp32["unanswered"] == [{"why": 'unknown model "nonesuch"', "rows": 1}], fp32["unanswered"]
off = sorted(abs(r["operator"] / r["measured_s"] - 1) for r in rows if r["precision"] == "fp32" and r["model"] == "resnet50")
assert abs(fp32["median"] - off[1]) < 1e-9 and abs(fp32["mean"] - sum(off) / 3) < 1e-9
logs = [math.log(r["operator"] / r["measured_s"]) for r in rows if r["precision"] == "fp32" and r["model"] == "resnet50"]
assert abs(fp32["bias"] - math.exp(sum(logs) / 3)) < 1e-9
# One pair of GPUs of equal batch.
v, p = rows[0], rows[2]
assert fp32["gpu_pairs"] == 1 and fp32["in_order"] == 1
ratio = v["operator"] / p["operator"] / (200 / 300)
assert abs(fp32["ratio_median"] - (max(ratio, 1 / ratio) - 1)) < 1e-9
assert groups["driple", "steps, one GPU, tf32"]["answered"] == groups["driple", "steps, one GPU, bf16"]["answered"] == 1
assert groups["paleo", "steps, one GPU, bf16"]["unanswered"] == [{"why": "paleo was calibrated to no step in bf16", "rows": 1}]
assert groups["paleo", "steps, one GPU, tf32"]["answered"] == groups["operator", "steps, one GPU, bf16"]["answered"] == 1
assert groups["justus", "all that fitted nothing"]["answered"] == 0
assert groups["habitat", "steps, one GPU, tf32"]["unanswered"][0]["why"] == "not measured on another GPU"
END
fi

# Whose kernels: PyTorch's where the framework says so, of networks with layers of TensorFlow's benchmarks, too; it has one ResNet-50. Without
# the host's time the same.
cat >whose.csv <<'END'
model,gpu,batch,framework,step_ms,busy_ms
resnet50,V100,64,NGC PyTorch,200,200
resnet50_v15,V100,64,pytorch-2,200,200
resnet50,V100,64,TensorFlow,200,200
resnet50,V100,64,,200,200
END
for busy in "" --busy; do
    expect 0 evaluate --measured --no-points $busy --sources=driple,operator,paleo --json --details whose.csv
    if command -v python3 >/dev/null; then
        python3 - out.txt <<'END' || fail "whose kernels $busy"
import json, sys
rows = json.load(open(sys.argv[1]))["steps"]
for source in ("driple", "operator"):
    torch, v15, tensorflow, unsaid = (row[source] for row in rows)
    assert torch == v15 and tensorflow == unsaid and abs(torch / unsaid - 1) > 0.01, rows
assert len({row["paleo"] for row in (rows[0], rows[2], rows[3])}) == 1, rows
END
    fi
done

# A host is told of what it launches: of a forward pass less than half, and no parameters.
printf '%s\n' model,gpu,batch,framework,precision,mode,step_ms resnet50,H100,8,pytorch-2.11.0-slow-vm,bf16,training,40 \
    resnet50,H100,8,pytorch-2.11.0-slow-vm,bf16,forward,40 >host.csv
expect 0 evaluate --measured --no-points --sources=operator --json --details host.csv
if command -v python3 >/dev/null; then
    python3 - out.txt <<'END' || fail "a host's forward pass"
import json, sys
whole, forward = (row["operator"] for row in json.load(open(sys.argv[1]))["steps"])
assert 0.005 < forward < 0.25 * whole and whole > 0.035, (whole, forward)
END
fi

# Columns and words in other people's spellings mean the same, whatever their order, case, quotes and line ends.
printf '%s\n' model,gpu,batch,sequence,precision,mode,optimiser,compiled,fitted,layout,gpus,exchange,parallelism,step_ms \
    bert_base,A100-80GB,8,256,bf16,forward,none,1,1,nchw,1,one,dp,50 \
    bert_base,A100-80GB,32,256,fp16,training,sgd,0,0,nhwc,4,allreduce,dp,50 >ours.csv
{ printf '\357\273\277'; printf '%s\r\n' '# theirs' '"Step_ms" , note,Dtype,Phase,MODEL,GPU Name,Batch,seq_len,mode,Optimizer,torch_compile,fitted,memory_format,World Size,parallelism' '' \
    '50,"a, ""b""",torch.bfloat16,,google-bert/bert-base-uncased,NVIDIA A100-SXM4-80GB,8,256,Inference,None,True,yes,torch.contiguous_format,1,' \
    ' 50.0 ,,16-mixed,,bert-base-uncased,"NVIDIA A100-SXM4-80GB",32,256,train,SGD,off,no,channels_last,4,DDP'; } >theirs.csv
for name in ours theirs; do
    expect 0 evaluate --measured --no-points --sources=operator --json --details $name.csv
    cp out.txt $name.json
done
if command -v python3 >/dev/null; then
    python3 - ours.json theirs.json <<'END' || fail "columns and words in other spellings"
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
drop = lambda j: [{k: v for k, v in row.items() if k not in ("model", "group")} for row in j["steps"]]
assert len(a["steps"]) == 2 and drop(a) == drop(b) and a["left_out"] == b["left_out"] == [], (drop(a), drop(b))
assert [row["group"].split(", ", 1)[1] for row in b["steps"]] == ["one GPU, bf16, forward, fitted", "one node, fp16"]
END
fi

# Columns between semicolons and tabs, and data sets by their families.
printf 'model;gpu;batch;dataset;step_ms\nresnet50;V100;32;CIFAR-100;"50"\nresnet50;V100;32;;50,5\n' >semicolons.csv
printf 'model\tgpu\tbatch\timage\tstep_ms\nresnet50\tV100\t32\t32\t50\n' >tabs.tsv
expect 0 evaluate --measured --no-points --sources=operator --json --details semicolons.csv tabs.tsv
says err.txt "semicolons.csv:3:19: column 'step_ms': '50,5' is not a number"
if command -v python3 >/dev/null; then
    python3 - out.txt <<'END' || fail "semicolons and tabs"
import json, sys
a, b = (row["operator"] for row in json.load(open(sys.argv[1]))["steps"])
assert a == b < 0.02, (a, b)
END
fi

# Times in other units by the names of their columns, with units in brackets, and '|' between columns: the same. "steps" are no seconds.
for file in 'step_ms,100' 'step_s,0.1' 'step_time_us,100000' '"Step Time (ms)",100' 'Step_Time_US,1e5'; do
    printf 'model,gpu,num_gpu,batch_size_per_gpu,%s\nresnet50,V100,4,32,%s\n' "${file%,*}" "${file#*,}" >unit.csv
    expect 0 evaluate --measured --no-points --sources=operator --json --details unit.csv
    grep -o '"measured_s": [^,]*' out.txt | sort -u >unit.txt
    test "$(cat unit.txt)" = '"measured_s": 0.1' || fail "$file: $(cat unit.txt)"
done
printf 'model|gpu|batch|step_ms\nresnet50|V100|32|100\n' >bars.csv
expect 0 evaluate --measured --no-points --sources=operator bars.csv
says out.txt "1 measured steps, 0 rows left out"
for file in 'steps' 'Step Time (s)' 'step_time'; do
    printf 'model,gpu,batch,%s\nresnet50,V100,32,100\n' "$file" >unit.csv
    expect 4 evaluate --measured --no-points --sources=operator unit.csv
    says err.txt "unit.csv:1: the header lacks the column 'step_ms' (or step_time_ms, step_s, step_time_s, step_us, step_time_us)"
done
printf 'model,gpu,batch,step_s\nresnet50,V100,32,0\n' >unit.csv
expect 0 evaluate --measured --no-points --sources=operator unit.csv
says err.txt "unit.csv:2:18: column 'step_s': '0' is too small, expected seconds above 0"
# Steps whose times are called latencies are no kernels.
printf 'model,gpu,batch,latency_ms\nresnet50,V100,32,100\n' >latency.csv
expect 4 evaluate --measured --no-points --sources=operator latency.csv
says err.txt "latency.csv:1: the header lacks the column 'step_ms' (or"

# Columns whose name another has are told, what nobody predicts is refused, and so is a number beyond what it may be.
cat >beside.csv <<'END'
model,model_name,gpu,gpus,nodes,batch,grad_accum,step_ms
resnet50,vgg16,V100,4,1,128,1,110
resnet50,vgg16,V100,4,1,128,8,110
resnet50,vgg16,V100,4,8,128,1,110
END
expect 0 evaluate --measured --no-points --sources=operator beside.csv
says out.txt "1 measured steps, 2 rows left out"
says err.txt "doubtful: beside.csv: column 'model_name' is not read: 'model' is"
says err.txt "beside.csv:3:29: column 'grad_accum': no source predicts steps that add up gradients of 8 batches"
says err.txt "beside.csv:4:23: column 'nodes': '8' is too large, expected a whole number 1..4"

# A header alone says nothing, of steps or kernels.
printf 'model,gpu,batch,step_ms\n\n# none yet\n' >steps_none.csv
printf 'gpu,op,latency_ms\n' >kernels_none.csv
for file in steps_none kernels_none; do
    expect 4 evaluate --measured --no-points --sources=operator bare.csv $file.csv
    says err.txt "$file.csv: there is no row below the header"
done

# What is not understood is refused, and not taken for what is usual.
cat >words.csv <<'END'
model,gpu,batch,batch_per_gpu,gpus,precision,mode,compiled,fitted,amp,layout,exchange,parallelism,step_ms,attention
resnet50,A100,32,,1,fp8,,,,,,,,50,
resnet50,A100,32,,1,,profiling,,,,,,,50,
resnet50,A100,32,,1,,,maybe,,,,,,50,
resnet50,A100,32,,1,,,,2,,,,,50,
resnet50,A100,32,,1,,,,,O3,,,,50,
resnet50,A100,32,,1,,,,,,nc32hw,,,50,
resnet50,A100,32,,4,,,,,,,gossip,,50,
resnet50,A100,32,,4,,,,,,,ps-sync,,50,
resnet50,A100,32,,4,,,,,,,one,,50,
resnet50,A100,32,16,4,,,,,,,,,50,
resnet50,A100,,16,64,,,,,,,,,50,
resnet50,A100,,,1,,,,,,,,,50,
resnet18,A100,32,,1,,,,,,,,,50,
resnet50,A100,32,,8,,,,,,,,dp4,50,
bert_base,A100,32,,1,bf16,,,,,,,,50,flash_attention_3
bert_base,V100,32,,1,fp16,,,,,,,,50,flash_attention_2
END
expect 0 evaluate --measured --no-points --sources=operator --json words.csv
line=2
for why in "'precision': \"fp8\" is not" "'mode': \"profiling\" is not" "'compiled': \"maybe\" is not" "'fitted': \"2\" is not" "'amp': \"O3\" is not" \
    "'layout': \"nc32hw\" is not" "'exchange': \"gossip\" is not" "'exchange': ps-sync with how many servers" "'exchange': 4 GPUs exchange" \
    "'batch': 32 on all GPUs are not 16 on each of 4" "'gpus': 64 GPUs on how many nodes" "'batch': no batch is given" "'model': resnet18 of how large images"; do
    grep -F "words.csv:$line:" err.txt | grep -qF -- "$why" || fail "words.csv:$line: $why: $(cat err.txt)"
    line=$((line + 1))
done
says err.txt "'attention': \"flash_attention_3\" is not"
says out.txt 'parallelism \"dp4\" on 8 GPUs'
says out.txt 'fused attention in fp16 on V100: not known'
printf 'model,gpu,batch_size,gpus,step_ms\nresnet50,A100,32,1,50\nresnet50,A100,32,2,50\n' >sizes.csv
expect 0 evaluate --measured --no-points --sources=operator sizes.csv
says out.txt "1 measured steps, 1 rows left out"
says err.txt "sizes.csv:3:15: column 'batch_size': of all 2 GPUs (name the column 'batch') or of each"

# What others measured of the same job: the geometric mean of their rows, of another framework, too, not of another batch.
cat >again.csv <<'END'
model,gpu,batch,framework,step_ms
resnet50,V100,32,a,100
resnet50,V100,32,b,200
resnet50,V100,32,c,400
resnet50,V100,64,a,300
END
expect 0 evaluate --measured --no-points --sources=again --json --details again.csv
if command -v python3 >/dev/null; then
    python3 - out.txt <<'END' || fail "what others measured"
import json, sys
said = [r["again"] for r in json.load(open(sys.argv[1]))["steps"]]
assert [round(1e3 * s, 3) for s in said[:3]] == [282.843, 200, 141.421] and said[3] is None, said
END
fi

# GPU memory in place of the time: 2,050 and 256 MiB, three words a parameter and what lives at once; also of jobs whose time a source refuses. Of four
# stages each GPU has a quarter.
cat >memory.csv <<'END'
model,dataset,gpu,batchsize,amp,gmem
resnet50,ImageNet,A100,32,0,5518
resnet50,ImageNet,A100,32,1,3838
efficientnet_b0,CIFAR-10,A100,32,0,2308
efficientnet_b0,ImageNet,A100,32,0,2308
PPO,LunarLander,A100,32,0,2051
resnet50,ImageNet,A100,64,0,0
END
expect 0 evaluate --measured --memory --sources=operator,paleo --json --details memory.csv
says err.txt "memory.csv:7:29: column 'gmem': '0' is too small, expected MiB above 0"
if command -v python3 >/dev/null; then
    python3 - out.txt <<'END' || fail "memory"
import json, sys
r = json.load(open(sys.argv[1]))["steps"]
full, half, small, large, none = (x["operator"] for x in r)
assert r[0]["measured_bytes"] == 5518 * 2**20 and all(x["paleo"] == x["operator"] for x in r)
process = 2306 * 2**20
assert process + 12 * 25.5e6 < full < 6e9 and half < 0.8 * full and 0 < small - process < 0.1 * (large - process) and none is None
END
fi
# The time in which the GPU computes in place of the step; rows without are passed over, rows that fitted stand apart.
cat >busy.csv <<'END'
model,fitted,gpu,batch,step_ms,busy_ms
resnet50,1,V100,32,500,100
resnet50,,V100,32,500,
resnet50,0,V100,32,500,200
END
expect 0 evaluate --measured --busy --sources=operator --json --details busy.csv
if command -v python3 >/dev/null; then
    python3 - out.txt <<'END' || fail "busy time"
import json, sys
j = json.load(open(sys.argv[1]))
assert [round(x["measured_s"], 6) for x in j["steps"]] == [0.1, 0.2]
assert [g["rows"] for g in j["groups"][:3]] == [1, 1, 1] and "fitted" in j["groups"][0]["group"], j["groups"]
END
fi
expect 0 evaluate --measured --no-points --sources=operator --markdown --groups busy.csv
says out.txt "| busy, one GPU, fp32, fitted | 1 | 0 |"
cat >stages.csv <<'END'
model,gpu,gpus,batch,parallelism,optimiser,memory_mib
gpt2_large,H100,1,4,dp,none,10000
gpt2_large,H100,4,4,pp4_1,none,10000
END
expect 0 evaluate --measured --memory --no-points --sources=operator --json --details stages.csv
if command -v python3 >/dev/null; then
    python3 - out.txt <<'END' || fail "memory of stages"
import json, sys
whole, part = (x["operator"] - 2050 * 2**20 for x in json.load(open(sys.argv[1]))["steps"])
assert whole > 10e9 and abs(whole / part - 4) < 1e-6, (whole, part)
END
fi

# Heads that do not divide over the GPUs, or are fewer.
printf 'model,gpu,gpus,nodes,batch,parallelism,step_ms\ngpt2_xl,H100,8,1,8,tp8,500\ngpt2_xl,H100,32,1,32,tp32,500\n' >heads.csv
expect 0 evaluate --measured --no-points --sources=operator --json heads.csv
says out.txt 'its heads do not divide over so many GPUs'
says out.txt '"answered": 0'

# Layers in parts are as long as a part and what is added up, stages as long as all of them one after the other.
cat >split.csv <<'END'
model,gpu,gpus,batch,parallelism,precision,optimiser,step_ms
gpt2_large,H100,1,4,dp,fp32,none,600
gpt2_large,H100,4,4,TP4,fp32,none,200
gpt2_large,H100,4,4,pp4_1,fp32,none,600
gpt2_large,H100,4,4,pp4_4,fp32,none,400
gpt2_large,H100,4,4,tp2,fp32,none,400
gpt2_large,H100,4,4,pp2000000000_1,fp32,none,400
resnet50,H100,4,64,tp4,fp32,none,20
mobilenet,H100,4,64,pp4_1,fp32,none,20
END
expect 0 evaluate --measured --no-points --sources=operator --json --details split.csv
if command -v python3 >/dev/null; then
    python3 - out.txt <<'END' || fail "layers in parts and stages"
import json, sys
j = json.load(open(sys.argv[1]))
one, parts, stages, several, *refused = (r["operator"] for r in j["steps"])
assert 0.25 * one < parts < 0.6 * one and 0.99 < stages / one < 1.1, (one, parts, stages)
assert several < 0.7 * stages and refused == [None] * 4, refused
END
fi

# GPTs as DLPerf names them, divided in several ways at once, are large models; two of its rows fitted these. A
# network that nobody divides is asked as ever, and ways that do not make the GPUs are refused.
cat >ways.csv <<'END'
model,gpu,nodes,gpus,batch_per_gpu,parallelism,precision,framework,step_ms
gpt_h1536_l16_s2048,V100,1,8,2,dp2 tp4 pp1,amp,OneFlow,550
llm-l16-h1536-a16-s2048-tp4-pp1-mb8-re1,V100,1,8,2,dp,amp,OneFlow,550
gpt_h1536_l16_s2048,V100,4,32,16,dp8 tp1 pp4,amp,OneFlow,4000
gpt_h1536_l16_s2048,V100,1,1,2,dp1 tp1 pp1,amp,Megatron-LM,450
gpt_h1536_l16_s2048,V100,1,1,2,dp1 tp1 pp1,amp,OneFlow,450
resnet50,V100,1,8,64,dp8 tp1 pp1,amp,OneFlow,70
resnet50,V100,1,8,64,dp,amp,OneFlow,70
gpt_h1536_l16_s2048,V100,1,8,2,dp2 tp2 pp1,amp,OneFlow,550
resnet50,V100,1,8,64,dp2 tp4 pp1,amp,OneFlow,70
END
expect 0 evaluate --measured --no-points --sources=operator,driple --json --details ways.csv
if command -v python3 >/dev/null; then
    python3 - out.txt <<'END' || fail "GPTs divided in several ways"
import json, sys
j = json.load(open(sys.argv[1]))
rows = j["steps"]
tensor, named, stages, fitted, one, plain, dp, wrong, wrong2 = (r["operator"] for r in rows)
assert tensor == named and 0.3 < tensor < 0.8 and 2 < stages < 10 and fitted == one, (tensor, named, stages, fitted, one)
assert plain == dp and wrong is None and wrong2 is None, (plain, dp, wrong, wrong2)
assert [r["group"].endswith(", fitted") for r in rows] == [i == 3 for i in range(9)], rows
assert [r["driple"] is None for r in rows] == [i not in (5, 6) for i in range(9)], rows
END
fi

# Norms of groups make images of which a channel lies together: where channels were to lie last, a network whose weights are standardised runs as
# with channels first, and any other copies to and fro, so that it gains nothing by that order.
cat >layout.csv <<'END'
model,gpu,batch,layout,precision,step_ms
resnetv2_50x1_bit_distilled,RTX3090,64,nchw,amp,100
resnetv2_50x1_bit_distilled,RTX3090,64,nhwc,amp,100
resnet50_gn,RTX3090,64,nchw,amp,100
resnet50_gn,RTX3090,64,nhwc,amp,100
resnet50,RTX3090,64,nchw,amp,100
resnet50,RTX3090,64,nhwc,amp,100
END
expect 0 evaluate --measured --no-points --sources=operator --json --details layout.csv
if command -v python3 >/dev/null; then
    python3 - out.txt <<'END' || fail "norms of groups with channels last"
import json, sys
bit, bit_last, gn, gn_last, bn, bn_last = (r["operator"] for r in json.load(open(sys.argv[1]))["steps"])
assert abs(bit_last / bit - 1) < 1e-9 and bn_last < 0.85 * bn and 1 < gn_last / gn < 1.3, (bit_last / bit, bn_last / bn, gn_last / gn)
END
fi

# A GPU left out: the A100's kernels are the V100's then, and those who have rows of their own keep them.
cat >out.csv <<'END'
model,gpu,batch,precision,step_ms
gpt2_large,A100-PCIE,1,fp32,500
gpt2_large,RTX6000,1,fp32,500
END
expect 0 evaluate --measured --no-points --sources=operator --json --details out.csv
cp out.txt with.json
expect 0 evaluate --measured --no-points --sources=operator --json --details --left-out out.csv
says out.txt '"out, one GPU, fp32, A100-PCIE"'
if command -v python3 >/dev/null; then
    python3 - with.json out.txt <<'END' || fail "a GPU left out"
import json, sys
a, b = ([r["operator"] for r in json.load(open(f))["steps"]] for f in sys.argv[1:])
assert abs(a[0] / b[0] - 1) > 0.01, (a, b)
END
fi

# Twice the batch, asked of what cannot contradict itself: thousands of questions, all alike for the sanitizers. Other
# sources: in a table of the page, below.
if [ "${DLSIM_SANITIZE:-0}" = 0 ] && command -v python3 >/dev/null; then
    expect 0 evaluate --measured --doublings --sources=paleo --json
    python3 - out.txt <<'END' || fail "doublings"
import json, sys
(d,) = json.load(open(sys.argv[1]))["doublings"]
assert d["source"] == "paleo" and d["doublings"] > 1000 and d["much_longer"] == d["less_time"] == 0 and d["longest"] <= 2, d
END
fi
expect 4 evaluate --measured --doublings --sources=oracle

# Bad rows are told of where they stand; the others are judged.
cat >bad.csv <<'END'
model,gpu,batch,step_ms
resnet50,V100,32,100
resnet50,V100,64,0.19
resnet50,V100,32,0
resnet50,V100,32,NaN
resnet50,V101,32,100
resnet50,V100,0,100
resnet50,V100,16,50
resnet50,V100,128,380
,V100,128,380
resnet50,V100
END
expect 0 evaluate --measured --no-points --sources=operator bad.csv
says out.txt "3 measured steps, 7 rows left out"
says err.txt "bad.csv:4:18: column 'step_ms': '0' is too small, expected milliseconds above 0"
says err.txt "bad.csv:5:18: column 'step_ms'"
says err.txt "bad.csv:6:10: column 'gpu': unknown GPU \"V101\""
says err.txt "bad.csv:7:15: column 'batch'"
says err.txt "bad.csv:10:1: column 'model': no model is named"
says err.txt "bad.csv:11: 2 cells"
says err.txt "bad.csv:3:18: 0.19 ms"

# A column whose name is a slip is passed over like others, but not without a word.
printf 'Model,GPU,batch,precison,cpus,note,step_ms\nresnet50,V100,32,fp16,8,of June,100\n' >slip.csv
expect 0 evaluate --measured --no-points --sources=operator slip.csv
says err.txt "doubtful: slip.csv: column 'precison' is not read (did you mean 'precision'?)"
test "$(grep -c doubtful err.txt)" -eq 1 || fail "doubtful: $(cat err.txt)"

# All rows of a file in another unit: in seconds they are faster than the data sheet lets them be, but for what hardly computes; in microseconds
# they are as far from the model as none is. A V100 takes 29 ms at least for 32 x 24.6 GFLOP of which half are in windows of 3x3.
awk -F, -v OFS=, 'NR == 1 { print; next } { for (i = 1; i <= 4; i++) print $1, $2, i * $3, i * $4 * k }' k=0.001 >seconds.csv <<'END'
model,gpu,batch,step_ms
resnet50,V100,32,100
bert_large,A100,8,200
END
awk -F, -v OFS=, 'NR > 1 { $4 *= 1000000 } 1' seconds.csv >micro.csv
expect 0 evaluate --measured --no-points --sources=operator seconds.csv
says out.txt "0 measured steps, 8 rows left out"
says err.txt "seconds.csv:2:18: 0.1 ms for resnet50 with a batch of 32 is faster than the GPU's data sheet lets it be"
expect 0 evaluate --measured --no-points --sources=operator --json micro.csv
says out.txt '"why": "micro.csv: the median of 8 rows is'
expect 0 evaluate --measured --no-points --sources=operator micro.csv
says out.txt "8 measured steps, 0 rows left out"
says err.txt "doubtful: micro.csv: the median of 8 rows is"
says err.txt "times what the operator model says: microseconds for milliseconds?"
printf 'model,gpu,batch,step_ms\nresnet50,V100,32,5\nresnet50,V100,32,35\n' >edge.csv
expect 0 evaluate --measured --no-points --sources=operator --json edge.csv
says err.txt "edge.csv:2:18: 5 ms"
! grep -q "edge.csv:3" err.txt || fail "35 ms are possible"
! grep -q doubtful err.txt || fail "35 ms are no slip"
printf 'model,gpu,batch,memory_mib\nresnet50,V100,32,5\nbert_large,V100,8,12\n' >gib.csv
expect 0 evaluate --measured --memory --sources=operator gib.csv
says err.txt "doubtful: gib.csv: the median of 2 rows is 0.00"

# Kernels: a V100 adds 2^24 numbers, 3 times 64 MiB, at 900 GB/s; multiplies 4096 x 4096 at 15.7 TFLOP/s; convolves.
cat >kernels.csv <<'END'
gpu,set,op,b,m,n,k,latency_ms
V100,one,linear,1,4096,4096,4096,8.754
V100,one,bmm,8,512,512,512,0.3
V100,one,linear,1,4096,4096,4096,0.008754
V100,one,strassen,1,4096,4096,4096,8
V100,one,linear,1,4096,,4096,8
END
cat >vectors.csv <<'END'
gpu,op,rows,width,latency_ms
V100,add,4096,4096,0.2236962
END
cat >convolutions.csv <<'END'
gpu,op,batch,channels_in,channels_out,kernel_size,image,stride,padding,latency_ms
V100,conv,32,64,64,3,56,1,1,0.5
END
expect 0 evaluate --measured kernels.csv vectors.csv convolutions.csv --json
says err.txt "kernels.csv:4:34: column 'latency_ms': 0.008754 ms, where the data sheet needs 8.754"
says err.txt "kernels.csv:5:10: column 'op': \"strassen\""
says err.txt "kernels.csv:6: sizes are missing"
if command -v python3 >/dev/null; then
    python3 - out.txt <<'END' || fail "kernels in JSON"
import json, sys
j = json.load(open(sys.argv[1]))
k = {e["kernels"]: e for e in j["kernels"]}
assert j["rows"] == 0 and len(j["left_out"]) == 3
assert k["linear, one"]["roofline"]["median"] < 1e-4, k
assert k["elementwise, vectors"]["roofline"]["median"] < 1e-4
assert abs(k["conv, convolutions"]["roofline"]["bias"] - 2 * 32 * 56**2 * 64 * 64 * 9 / 15.7e12 / 0.5e-3) < 1e-9
assert all(0.2 < e["operator"]["bias"] < 5 for e in k.values())
END
fi
expect 0 evaluate --measured kernels.csv --by-gpu --least-ms=1
says out.txt "- linear, one, V100"

expect 4 evaluate --measured nowhere.csv
echo model,gpu >short.csv
expect 4 evaluate --measured short.csv
says err.txt "lacks the column 'step_ms'"
expect 4 evaluate --measured --sources=oracle
expect 2 evaluate --measured --nonsense
if [ "${DLSIM_SANITIZE:-0}" = 1 ]; then
    echo "$checks checks; the page's tables are left to the optimised build"
    exit 0
fi

# The tables of docs/measured.md are what their commands print, within half a point; those of files that do not
# come with dlsim are checked where the files are.
sed -n 's/^<!-- dlsim \(.*\) -->$/\1/p' "$source/docs/measured.md" >tables.txt
tables=$(wc -l <tables.txt)
test "$tables" -eq 21 || fail "tables of docs/measured.md: $tables"
checked=0
while read -r words; do
    case $words in
    *DLSIM_SHARED*) test -d "${DLSIM_SHARED:-/nowhere}/data/measured" || continue ;;
    esac
    eval "expect 0 $words"
    awk -v head="<!-- dlsim $words -->" '$0 == head { on = 1 } on && /^\|/ { print } on && /^<!-- end/ { exit }' \
        "$source/docs/measured.md" >page.txt
    awk -F'|' 'NR == FNR { line[FNR] = $0; n = FNR; next }
        { m = split(line[FNR], a, "|")
          if (m != NF) bad = 1
          for (i = 2; i < NF; i++) {
              same = a[i] == $i
              if (!same && a[i] ~ /^ *-?[0-9.]+ *$/ && $i ~ /^ *-?[0-9.]+ *$/)
                  same = (a[i] - $i)^2 <= (i < 5 ? 0 : i == 8 || i == 9 ? 0.02 : 0.5)^2
              if (!same) { bad = 1; print "documented: " line[FNR]; print "printed:    " $0; break }
          }
          seen = FNR }
        END { exit bad || seen != n }' page.txt out.txt || fail "docs/measured.md, table of: dlsim $words"
    checked=$((checked + 1))
done <tables.txt
test $checked -eq $tables || echo "skipped: tables of files that are not here: $((tables - checked))"

# The commands of the documentation, as they are printed.
run_page "$source/docs/measured.md"
# Images smaller than a window are answered or refused, whatever the network.
printf 'model,batch,image,gpu,count,precision,host,step_ms\n%s,8,16,V100-SXM2,1,fp32,pytorch,100\n%s,8,16,V100-SXM2,1,fp32,pytorch,100\n' \
    swin_tiny_patch4_window7 maxvit_tiny_tf >small.csv
expect 0 evaluate --measured --no-points small.csv --sources=operator
echo "$checks checks"
