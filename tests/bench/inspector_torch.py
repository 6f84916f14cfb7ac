#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The standard case of bench_inspector in PyTorch, as one JSON object on one line.

GCN with GRU and Set2Set, hidden 64, 100 nodes, 50 layers; adjacency normalised once (hoisted), on one
CPU thread in float32, and with --cuda in large batches as a CUDA graph: float32 proper, TF32, bf16.
Random weights: only the time is of interest. Also the device's measured rates: matrix products and
copies, which the distance to the chip's limit is stated against.
"""
import json
import resource
import sys
import time

try:
    import torch
except ImportError:
    sys.exit(0)

N, H, F, STEPS = 100, 64, 3, 100
LAYERS = N // 2


def make(batch, device, dtype):
    g = torch.Generator().manual_seed(1)
    adj = (torch.rand(batch, N, N, generator=g) < 0.055).float().tril(-1)
    adj = adj + adj.transpose(1, 2) + torch.eye(N)
    d = adj.sum(2).rsqrt()
    s = adj * d[:, :, None] * d[:, None, :]
    w = lambda *shape: ((torch.rand(*shape, generator=g) - 0.5) / 4).to(device, dtype)
    p = {"w0": w(F, H), "w1": w(H, H), "b0": w(H), "b1": w(H), "wi": w(3 * H, H), "wh": w(3 * H, H),
         "bi": w(3 * H), "bh": w(3 * H), "li": w(4 * H, 2 * H), "lh": w(4 * H, H), "lb": w(4 * H),
         "m0": w(2 * H, H), "m1": w(H, H), "m2": w(H, 12)}
    x = torch.rand(batch, N, F, generator=g)
    return s.to(device, dtype), x.to(device, dtype), p


def forward(s, x, p):
    f = torch.nn.functional
    for layer in range(LAYERS):
        k = "0" if layer == 0 else "1"
        y = f.leaky_relu(s @ (x @ p["w" + k]) + p["b" + k], 0.01)
        if layer == 0:
            x = f.pad(x, (0, H - F))
        gi = x @ p["wi"].t() + p["bi"]
        gh = y @ p["wh"].t() + p["bh"]
        r, z = (gi[..., : 2 * H] + gh[..., : 2 * H]).sigmoid().chunk(2, -1)
        n = (gi[..., 2 * H:] + r * gh[..., 2 * H:]).tanh()
        x = n + z * (y - n)
    h = x.new_zeros(x.shape[0], H)
    c = torch.zeros_like(h)
    q = x.new_zeros(x.shape[0], 2 * H)
    for _ in range(STEPS):
        i, fg, g, o = (q @ p["li"].t() + h @ p["lh"].t() + p["lb"]).chunk(4, -1)
        c = fg.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        a = (x @ h[:, :, None]).softmax(1)
        q = torch.cat([h, (a * x).sum(1)], 1)
    q = (q @ p["m0"]).relu()
    q = (q @ p["m1"]).relu()
    return f.leaky_relu(q @ p["m2"], 0.01)


def best_of(call, repeat, clock=time.perf_counter):
    best = 1e30
    for _ in range(repeat):
        t = clock()
        call()
        best = min(best, clock() - t)
    return best


def cuda_time(call, repeat=5):
    def once():
        call()
        torch.cuda.synchronize()
    once()
    return best_of(once, repeat)


def cuda_graph(batch, dtype):
    s, x, p = make(batch, "cuda", dtype)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(2):
            forward(s, x, p)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        forward(s, x, p)
    return batch / cuda_time(graph.replay)


def device_rates():
    rates = {}
    for name, dtype, tf32 in (("f32", torch.float32, False), ("tf32", torch.float32, True),
                              ("bf16", torch.bfloat16, False)):
        torch.backends.cuda.matmul.allow_tf32 = tf32
        a = torch.randn(8192, 8192, device="cuda", dtype=dtype)
        rates[name + "_tflops"] = 2 * 8192**3 / cuda_time(lambda: a @ a) * 1e-12
    torch.backends.cuda.matmul.allow_tf32 = False
    b = torch.empty(1 << 30, device="cuda", dtype=torch.uint8)
    c = torch.empty_like(b)
    rates["copy_gb_per_s"] = 2 * b.numel() / cuda_time(lambda: c.copy_(b)) * 1e-9
    return rates


def main():
    smoke = "--smoke" in sys.argv
    torch.set_num_threads(1)
    batch = 4 if smoke else 32
    with torch.no_grad():
        s, x, p = make(batch, "cpu", torch.float32)
        forward(s, x, p)
        repeat = 1 if smoke else 7
        # processor time, as bench_inspector's: on a busy machine the fairer figure for one core
        spent = best_of(lambda: forward(s, x, p), repeat, time.process_time)
        out = {"version": torch.__version__, "batch": batch,
               "cpu_ms_per_graph": spent / batch * 1e3,
               "resident_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
        for threads in (1, 2):
            torch.set_num_threads(threads)
            out["ms_per_graph_%d_threads" % threads] = (
                best_of(lambda: forward(s, x, p), repeat) / batch * 1e3)
        torch.set_num_threads(1)
        if "--cuda" in sys.argv and torch.cuda.is_available():
            batch = 32 if smoke else 2000
            torch.backends.cuda.matmul.allow_tf32 = False
            out["device"] = torch.cuda.get_device_name()
            out["cuda_batch"] = batch
            out["cuda_f32_graphs_per_s"] = cuda_graph(batch, torch.float32)
            torch.backends.cuda.matmul.allow_tf32 = True
            out["cuda_tf32_graphs_per_s"] = cuda_graph(batch, torch.float32)
            out["cuda_bf16_graphs_per_s"] = cuda_graph(batch, torch.bfloat16)
            out.update(device_rates())
    print(json.dumps(out))


if __name__ == "__main__":
    main()
