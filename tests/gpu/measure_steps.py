#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times whole training steps on this GPU with PyTorch (timm, torchvision, transformers): rows of the CSV that
`dlsim evaluate --measured` reads (docs/measured.md).

    python3 tests/gpu/measure_steps.py --out=steps.csv [--seconds=500] [--benchmark]

step_ms: median between events; host_ms: what the host takes to enqueue a step that finds the GPU idle; busy_ms, kernels, by: by the
profiler, the sum of kernel times, their number, and both by kind. Eager, random inputs, cross entropy; SGD with momentum for
networks of images, AdamW for transformers (eager attention).
"""
import argparse, csv, gc, statistics, time
import torch
import torch.nn.functional as F
from torch.profiler import profile, ProfilerActivity

ap = argparse.ArgumentParser()
ap.add_argument("--seconds", type=float, default=500)
ap.add_argument("--out", required=True)
ap.add_argument("--benchmark", action="store_true", help="cudnn.benchmark")
a = ap.parse_args()
begin = time.monotonic()
dev = "cuda"
gpu = torch.cuda.get_device_name()
torch.backends.cudnn.benchmark = a.benchmark
import timm
from timm.layers import set_fused_attn
set_fused_attn(False)


def hf(kind):
    import transformers as T
    T.logging.set_verbosity_error()
    mk = {
        "bert_base": lambda: (T.BertForMaskedLM, T.BertConfig()),
        "bert_large": lambda: (T.BertForMaskedLM, T.BertConfig(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096)),
        "roberta_base": lambda: (T.RobertaForMaskedLM, T.RobertaConfig(vocab_size=50265, max_position_embeddings=514, type_vocab_size=1)),
        "distilbert_base": lambda: (T.DistilBertForMaskedLM, T.DistilBertConfig()),
        "albert_base": lambda: (T.AlbertForMaskedLM, T.AlbertConfig(hidden_size=768, num_attention_heads=12, intermediate_size=3072)),
        "gpt2_small": lambda: (T.GPT2LMHeadModel, T.GPT2Config()),
        "gpt2_medium": lambda: (T.GPT2LMHeadModel, T.GPT2Config(n_embd=1024, n_layer=24, n_head=16)),
        "gpt2_large": lambda: (T.GPT2LMHeadModel, T.GPT2Config(n_embd=1280, n_layer=36, n_head=20)),
        "opt_125m": lambda: (T.OPTForCausalLM, T.OPTConfig()),
        "opt_13b": lambda: (T.OPTForCausalLM, T.OPTConfig(hidden_size=2048, num_hidden_layers=24, num_attention_heads=32, ffn_dim=8192, word_embed_proj_dim=2048)),
        "t5_base": lambda: (T.T5ForConditionalGeneration, T.T5Config(d_model=768, d_ff=3072, num_layers=12, num_heads=12, decoder_start_token_id=0)),
    }[kind]
    cls, cfg = mk()
    cfg.use_cache = False
    cfg._attn_implementation = "eager"
    return cls._from_config(cfg, attn_implementation="eager"), cfg.vocab_size


def tv(name):
    import torchvision
    kw = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    if name == "googlenet":
        kw["aux_logits"] = False
    return getattr(torchvision.models, name)(weights=None, **kw)

# By words of a kernel's name, the first that fits.
KINDS = [("gemm", ("gemm", "nvjet", "cutlass", "splitk", "gemv")), ("conv", ("conv", "winograd", "fft", "implicit", "dgrad", "wgrad", "fprop", "xmma")),
         ("norm", ("norm", "bn_")), ("softmax", ("softmax",)), ("pool", ("pool",)), ("layout", ("nchw", "nhwc", "transpose")),
         ("copy", ("memcpy", "memset", "copy")), ("update", ("multi_tensor", "foreach", "adam")), ("reduce", ("reduce",)),
         ("dropout", ("dropout", "distribution")), ("embedding", ("embedding", "index")), ("elements", ("elementwise", "pointwise"))]
FIELDS = ["gpu", "model", "precision", "layout", "batch", "image", "sequence", "optimiser_used", "step_ms", "forward_ms",
          "spread", "host_ms", "kernels", "busy_ms", "peak_mib", "reserved_mib", "memory_mib", "framework", "by"]
f = open(a.out, "w", newline="")
out = csv.DictWriter(f, FIELDS); out.writeheader()

cache = {}


def build(spec):
    """(model, inputs maker, step) of a spec; the last one is kept between precisions."""
    key = spec["model"]
    if cache.get("key") == key:
        return cache["net"], cache["vocab"]
    cache.clear(); gc.collect()
    torch.cuda.empty_cache()
    torch.manual_seed(0)
    vocab = None
    if spec["kind"] == "hf":
        net, vocab = hf(spec["model"])
    elif spec["kind"] == "tv":
        net = tv(spec["model"])
    else:
        net = timm.create_model(spec["model"], pretrained=False)
    net = net.to(dev).train()
    cache.update(key=key, net=net, vocab=vocab)
    return net, vocab


def measure(spec, precision, layout, batch):
    net, vocab = build(spec)
    tf32 = precision == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    nhwc = layout == "nhwc"
    net = net.to(memory_format=torch.channels_last if nhwc else torch.contiguous_format)
    adam = spec["kind"] == "hf"
    opt = torch.optim.AdamW(net.parameters(), lr=1e-5) if adam else torch.optim.SGD(net.parameters(), lr=1e-4, momentum=0.9)
    auto = {"amp": torch.float16, "bf16": torch.bfloat16}.get(precision)
    scaler = torch.amp.GradScaler(dev, enabled=precision == "amp")
    if vocab:
        x = torch.randint(5, vocab, (batch, spec["seq"]), device=dev)
        def forward():
            return net(input_ids=x, labels=x).loss
    else:
        x = torch.randn(batch, 3, spec["image"], spec["image"], device=dev)
        if nhwc: x = x.contiguous(memory_format=torch.channels_last)
        y = torch.randint(0, 1000, (batch,), device=dev)
        def forward():
            o = net(x)
            if hasattr(o, "logits"): o = o.logits
            if isinstance(o, (tuple, list)): o = o[0]
            return F.cross_entropy(o, y)
    def step(mark=None):
        opt.zero_grad(set_to_none=True)
        with torch.autocast(dev, dtype=auto, enabled=auto is not None):
            loss = forward()
        if mark: mark.record()
        scaler.scale(loss).backward()
        scaler.step(opt); scaler.update()
    sync = torch.cuda.synchronize
    torch.cuda.empty_cache(); torch.cuda.reset_peak_memory_stats()
    step(); sync()
    t = time.monotonic(); step(); sync(); second = time.monotonic() - t
    n = max(5, min(20, int(0.8 / max(second, 1e-4))))
    for _ in range(2): step()
    sync()
    ev = [torch.cuda.Event(enable_timing=True) for _ in range(2 * n + 1)]
    ev[0].record()
    for i in range(n):
        step(ev[2 * i + 1]); ev[2 * i + 2].record()
    sync()
    times = sorted(ev[2 * i].elapsed_time(ev[2 * i + 2]) for i in range(n))
    fw = statistics.median(ev[2 * i].elapsed_time(ev[2 * i + 1]) for i in range(n))
    med = statistics.median(times)
    # what the host takes to enqueue a step that finds the GPU idle
    host = []
    for _ in range(3):
        sync(); t = time.monotonic(); step(); host.append((time.monotonic() - t) * 1e3)
    sync()
    free, total = torch.cuda.mem_get_info()
    row = dict(step_ms=f"{med:.4f}", forward_ms=f"{fw:.4f}", spread=f"{(times[-1] - times[0]) / med:.3f}", host_ms=f"{min(host):.3f}",
               peak_mib=torch.cuda.max_memory_allocated() >> 20, reserved_mib=torch.cuda.max_memory_reserved() >> 20,
               memory_mib=(total - free) >> 20)
    with profile(activities=[ProfilerActivity.CUDA]) as p:
        step(); sync()
    k = [e for e in p.events() if e.device_type == torch.autograd.DeviceType.CUDA]
    row["kernels"] = len(k)
    by = {}
    for e in k:
        n = e.name.lower()
        kind = next((c for c, words in KINDS if any(v in n for v in words)), "other")
        t = by.setdefault(kind, [0, 0.0]); t[0] += 1; t[1] += e.device_time_total / 1e3
    row["by"] = ";".join(f"{c}:{n}:{t:.3f}" for c, (n, t) in sorted(by.items(), key=lambda z: -z[1][1]))
    row["busy_ms"] = f"{sum(e.device_time_total for e in k) / 1e3:.4f}"
    return row


# Of timm, as dlsim calls them.
NAMES = {"resnet18": "resnet18_imagenet", "resnet50": "resnet50_v15", "resnet101": "resnet101_v15", "resnet152": "resnet152_v15"}


def C(m, image=224, b=64, kind="timm"): return dict(kind=kind, model=m, image=image, batch=b)


def H(m, seq, b): return dict(kind="hf", model=m, seq=seq, batch=b)
F4 = [("bf16", ""), ("fp32", ""), ("tf32", ""), ("amp", "")]
F3 = F4[:3]
N3 = [("bf16", "nhwc"), ("tf32", "nchw"), ("fp32", "nchw")]
work = []
for s in [C("resnet50"), C("vgg16"), C("alexnet", b=256, kind="tv"), C("inception_v3", 299), C("resnet18", b=128), C("resnet152"), C("inception_v4", 299), C("densenet121")]:
    work.append((s, N3 + [("amp", "nhwc"), ("amp", "nchw")], s["batch"]))
    work.append((s, N3[:1], 8))  # what the host can feed
for s in [H("bert_base", 128, 64), H("bert_large", 512, 8), H("gpt2_small", 1024, 8), H("gpt2_large", 1024, 4), H("opt_125m", 1024, 8)]: work.append((s, F4, s["batch"]))
for s in [C("vit_base_patch16_224", b=128), C("swin_tiny_patch4_window7_224", b=128), C("mixer_b16_224", b=128)]: work.append((s, F3, s["batch"]))
for s in [C("resnet50", b=256), C("mobilenetv2_100", b=256), C("convnext_tiny", b=128), C("resnet50_gn", b=128), C("efficientnet_b0", b=256), C("resnext50_32x4d", b=128)]: work.append((s, N3, s["batch"]))
for s in [H("distilbert_base", 512, 16), H("t5_base", 512, 16), H("gpt2_medium", 1024, 4), H("opt_13b", 1024, 2), H("roberta_base", 512, 16), H("albert_base", 512, 16)]: work.append((s, F3, s["batch"]))
for s in [C("densenet121", b=128), C("regnety_032", b=128), C("seresnet50", b=128), C("googlenet", kind="tv", b=256), C("wide_resnet50_2", b=128), C("vgg11", b=128), C("resnet101", b=128), C("deit3_small_patch16_224", b=256), C("dla60", b=128), C("xception41", 299, 64), C("hrnet_w18", b=64), C("ghostnet_100", b=256)]: work.append((s, N3 if not s["model"].startswith("deit") else F3, s["batch"]))
done = 0
for s, fmts, batch in work:
    for precision, layout in fmts:
        if time.monotonic() - begin > a.seconds: break
        t = time.monotonic()
        try:
            row = measure(s, precision, layout, batch)
        except torch.OutOfMemoryError:
            cache.clear(); gc.collect(); torch.cuda.empty_cache(); print("oom", s["model"], precision, batch, flush=True); continue
        except Exception as e:
            print("failed", s["model"], precision, layout, repr(e)[:200], flush=True); cache.clear(); continue
        row.update(gpu=gpu, model=NAMES.get(s["model"], s["model"]), precision=precision, layout=layout, batch=batch, image=s.get("image", ""), sequence=s.get("seq", ""),
                   optimiser_used="adamw" if s["kind"] == "hf" else "momentum", framework="pytorch-" + torch.__version__.split("+")[0])
        out.writerow(row); f.flush(); done += 1
        print(f"{time.monotonic() - begin:6.1f} {time.monotonic() - t:5.1f}s {s['model']} {precision} {layout} {batch} {row['step_ms']} busy {row.get('busy_ms')} kernels {row.get('kernels')} host {row.get('host_ms')}", flush=True)
print(done, "rows in", round(time.monotonic() - begin), "s")
