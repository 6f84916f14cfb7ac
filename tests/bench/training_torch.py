#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A training step of bench_training's standard case in PyTorch, as one JSON object on one line.

The network of inspector_torch.py in float32 (no TF32), batches of 32 graphs of 100 nodes: forward, backward
and Adam, as a program runs it ("eager"), and the whole step captured as one CUDA graph. Without --cuda on one CPU
thread. Random weights and labels: only the time is of interest.
"""
import json
import sys

try:
    import torch
except ImportError:
    sys.exit(0)

import inspector_torch as base


def make_step(batch, device, capturable):
    s, x, p = base.make(batch, device, torch.float32)
    for v in p.values():
        v.requires_grad_(True)
    target = torch.rand(batch, 12, device=device)
    adam = torch.optim.Adam(p.values(), lr=3e-3, weight_decay=1e-6, capturable=capturable)

    def step():
        adam.zero_grad(set_to_none=True)
        ((base.forward(s, x, p) - target) ** 2).mean().backward()
        adam.step()
    return step


def captured(batch):
    step = make_step(batch, "cuda", True)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return base.cuda_time(graph.replay, 10)


def main():
    smoke = "--smoke" in sys.argv
    batch = 4 if smoke else 32
    if smoke:
        base.N, base.LAYERS, base.STEPS = 12, 6, 12
    out = {"version": torch.__version__, "batch": batch}
    if "--cuda" in sys.argv and torch.cuda.is_available():
        torch.backends.cuda.matmul.allow_tf32 = False
        out["device"] = torch.cuda.get_device_name()
        out["eager_ms"] = base.cuda_time(make_step(batch, "cuda", False), 10) * 1e3
        out["memory_mb"] = torch.cuda.max_memory_allocated() * 1e-6
        try:
            out["captured_ms"] = captured(batch) * 1e3
        except RuntimeError as e:
            out["captured_failed"] = str(e).splitlines()[0]
    else:
        torch.set_num_threads(1)
        out["cpu_ms"] = base.best_of(make_step(batch, "cpu", False), 2 if smoke else 5) * 1e3
    print(json.dumps(out))


if __name__ == "__main__":
    main()
