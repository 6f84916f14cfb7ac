#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times single kernels on this GPU with PyTorch: rows of the CSV that `dlsim operators fit-kernels` and
`dlsim evaluate --measured` read (docs/measured.md).

    python3 tests/gpu/measure_kernels.py --out=DIR [--seconds=400]

writes products.csv, conv.csv, groupconv.csv and passes.csv: random shapes in bf16, tf32, fp32 and one in seven in fp16.
latency_ms: per call in a replayed CUDA graph, so without the host's launches; alone_ms: mean of the 5 fastest of 25 single
calls between events; backward_ms: both gradients of a convolution, as latency_ms. cudnn.benchmark is on.
"""
import argparse, csv, math, os, random, statistics, time
import torch
import torch.nn.functional as F

ap = argparse.ArgumentParser()
ap.add_argument("--seconds", type=float, default=400)
ap.add_argument("--out", required=True, help="a folder")
a = ap.parse_args()
begin = time.monotonic()
rng = random.Random(20261127)
gpu = torch.cuda.get_device_name()
torch.backends.cudnn.benchmark = True; torch.backends.cudnn.benchmark_limit = 3
HEAD, TIMES = ["gpu", "set", "op", "precision"], ["latency_ms", "alone_ms"]
CONV = ["batch", "channels_in", "channels_out", "kernel_size", "image", "stride", "padding", "groups", "layout"]
FIELDS = {
    "products": HEAD + ["b", "m", "n", "k"] + TIMES + ["launches", "kernel"],
    "conv": HEAD + CONV + TIMES + ["backward_ms", "launches", "kernel"],
    "groupconv": HEAD + CONV + TIMES + ["backward_ms", "launches", "kernel"],
    "passes": HEAD + ["rows", "width"] + TIMES,
}
os.makedirs(a.out, exist_ok=True)
files = {name: open(os.path.join(a.out, name + ".csv"), "w", newline="") for name in FIELDS}
out = {name: csv.DictWriter(f, FIELDS[name]) for name, f in files.items()}
for w in out.values():
    w.writeheader()


def log_uniform(lo, hi, unit):
    return max(unit, int(round(math.exp(rng.uniform(math.log(lo), math.log(hi))) / unit)) * unit)


def linear():
    while True:
        m = log_uniform(64, 65536, 64); n = rng.choice([64, 128, 256, 320, 512, 768, 1024, 1280, 1536, 2048, 2560, 3072, 4096, 5120, 8192, 12288])
        k = rng.choice([64, 128, 256, 320, 512, 768, 1000, 1024, 1280, 2048, 2560, 3072, 4096, 5120, 8192, 10240, 16384, 30522, 50257])
        if 2 * m * n * k < 4e12 and m * (n + k) < 1.2e9: return dict(op="linear", b=1, m=m, n=n, k=k)


def bmm():
    while True:
        b = rng.choice([8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024])
        s = rng.choice([49, 64, 128, 192, 197, 256, 384, 512, 1024, 2048]); d = rng.choice([32, 64, 64, 80, 96, 128])
        m, n, k = rng.choice([(s, d, s), (s, s, d)])
        if b * (m * n + n * k + m * k) < 1e9 and 2 * b * m * n * k < 4e12: return dict(op="bmm", b=b, m=m, n=n, k=k)


def conv():
    while True:
        ks = rng.choice([1, 1, 1, 3, 3, 3, 5, 7]); im = rng.choice([7, 8, 14, 17, 28, 35, 56, 71, 112, 147, 224])
        ci = rng.choice([3, 16, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256, 288, 320, 384, 512, 768, 1024, 1280, 2048])
        co = rng.choice([16, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256, 320, 384, 512, 768, 1024, 1280, 2048])
        st = rng.choice([1, 1, 1, 2]); ba = rng.choice([16, 32, 64, 128, 256])
        if im < ks or (ks == 7 and ci > 64): continue
        o = (im + 2 * (ks // 2) - ks) // st + 1
        fl = 2 * ba * o * o * ci * co * ks * ks
        if fl < 1.5e12 and ba * (im * im * ci + o * o * co) < 5e8: return dict(op="conv", batch=ba, channels_in=ci, channels_out=co, kernel_size=ks, image=im, stride=st, padding=ks // 2, groups=1)


def grouped():
    while True:
        w = rng.choice([1, 1, 1, 4, 8, 16, 24, 32, 64]); g = rng.choice([16, 24, 32, 48, 64, 96, 128, 144, 192, 240, 384, 480, 576, 672, 960]) if w == 1 else rng.choice([8, 16, 32, 64])
        im = rng.choice([7, 14, 28, 56, 112]); st = rng.choice([1, 1, 2]); ks = rng.choice([3, 3, 5] if w == 1 else [3]); ba = rng.choice([32, 64, 128])
        if ba * im * im * w * g < 3e8: return dict(op="conv", batch=ba, channels_in=w * g, channels_out=w * g, kernel_size=ks, image=im, stride=st, padding=ks // 2, groups=g)


def rows(op):
    while True:
        r = log_uniform(64, 400000, 8); w = rng.choice([64, 128, 196, 197, 256, 384, 512, 768, 1024, 1280, 1536, 2048, 4096, 8192])
        if r * w < 4e8: return dict(op=op, rows=r, width=w)
KINDS = [linear, bmm, conv, linear, bmm, conv, conv, grouped, lambda: rows(rng.choice(["ln", "softmax"])), lambda: rows(rng.choice(["add", "mul", "relu", "gelu", "tanh", "addu", "mulu", "div", "pow"]))]

TYPES = {"fp32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def maker(s, t):
    r = lambda *z: torch.randn(*z, device="cuda", dtype=t)
    op = s["op"]
    if op == "linear":
        x, w, c = r(s["m"], s["n"]), r(s["k"], s["n"]), r(s["k"]); return lambda: F.linear(x, w, c), None
    if op == "bmm":
        x, y = r(s["b"], s["m"], s["n"]), r(s["b"], s["n"], s["k"]); return lambda: torch.bmm(x, y), None
    if op == "conv":
        form = torch.channels_last if s["layout"] == "nhwc" else torch.contiguous_format
        x = r(s["batch"], s["channels_in"], s["image"], s["image"]).contiguous(memory_format=form)
        w = (r(s["channels_out"], s["channels_in"] // s["groups"], s["kernel_size"], s["kernel_size"])).contiguous(memory_format=form)
        fw = lambda: F.conv2d(x, w, None, s["stride"], s["padding"], 1, s["groups"])
        g = torch.randn_like(fw())
        st, pd = [s["stride"]] * 2, [s["padding"]] * 2
        return fw, lambda: torch.ops.aten.convolution_backward(g, x, w, None, st, pd, [1, 1], False, [0, 0], s["groups"], [True, True, False])
    x = r(s["rows"], s["width"])
    if op == "ln":
        g, c = r(s["width"]), r(s["width"]); return lambda: F.layer_norm(x, (s["width"],), g, c), None
    if op == "softmax": return lambda: F.softmax(x, -1), None
    if op in ("add", "mul", "div", "pow"):
        y = r(s["rows"], s["width"]); x = x.abs() if op == "pow" else x
        fn = getattr(torch, op); return lambda: fn(x, y), None
    if op == "addu": return lambda: x + 1.5, None
    if op == "mulu": return lambda: x * 1.5, None
    if op == "divu": return lambda: x / 1.5, None
    if op == "powu": return lambda: x ** 1.5, None
    return {"relu": lambda: F.relu(x), "gelu": lambda: F.gelu(x), "tanh": lambda: torch.tanh(x)}[op], None


def alone(fn):
    e = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(25)]
    for b, c in e:
        torch.cuda.synchronize(); b.record(); fn(); c.record()
    torch.cuda.synchronize()
    return sum(sorted(b.elapsed_time(c) for b, c in e)[:5]) / 5


def queued(fn, est):
    n = max(3, min(20, int(1.0 / max(est, 0.02))))
    g = torch.cuda.CUDAGraph()
    s = torch.cuda.Stream(); s.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(s): fn()
    torch.cuda.current_stream().wait_stream(s)
    with torch.cuda.graph(g):
        for _ in range(n): fn()
    ts = []
    for _ in range(5):
        b, c = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        b.record(); g.replay(); c.record(); torch.cuda.synchronize(); ts.append(b.elapsed_time(c) / n)
    return statistics.median(ts[1:])


def names(fn):
    from torch.profiler import profile, ProfilerActivity
    with profile(activities=[ProfilerActivity.CUDA]) as p:
        fn(); torch.cuda.synchronize()
    k = sorted((e for e in p.events() if e.device_type == torch.autograd.DeviceType.CUDA), key=lambda e: -e.device_time_total)
    return len(k), (k[0].name[:70].replace(",", ";") if k else "")


def measure(s, precision, name):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    s = dict(s)
    if s["op"] == "conv": s["layout"] = "nchw" if precision in ("fp32", "tf32") else "nhwc"
    fn, back = maker(s, TYPES[precision])
    fn(); torch.cuda.synchronize()
    one = alone(fn)
    row = dict(s, gpu=gpu, set=precision, precision=precision, latency_ms=f"{queued(fn, one):.6g}", alone_ms=f"{one:.6g}")
    if back:
        back(); torch.cuda.synchronize(); row["backward_ms"] = f"{queued(back, 2 * one):.6g}"
    if name and s["op"] in ("linear", "bmm", "conv"): row["launches"], row["kernel"] = names(fn)
    where = ("conv" if s["groups"] == 1 else "groupconv") if s["op"] == "conv" else "products" if "k" in s else "passes"
    out[where].writerow(row)


n = i = 0
while time.monotonic() - begin < a.seconds:
    s = KINDS[i % len(KINDS)](); i += 1
    for precision in ("bf16", "tf32", "fp32") + (("fp16",) if i % 7 == 0 else ()):
        if precision == "tf32" and s["op"] not in ("linear", "bmm", "conv"): continue
        try: measure(s, precision, i % 40 < 10); n += 1
        except RuntimeError as e: print("failed", s, precision, repr(e)[:120], flush=True); torch.cuda.empty_cache()
    if i % 50 == 0: torch.cuda.empty_cache(); print(f"{time.monotonic() - begin:.0f} s: {i} shapes, {n} rows", flush=True)
for f in files.values():
    f.close()
