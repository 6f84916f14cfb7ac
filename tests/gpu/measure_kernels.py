#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times single kernels on this GPU with PyTorch: rows of the CSV that `dlsim operators fit-kernels` and
`dlsim evaluate --measured` read (docs/measured.md).

    python3 tests/gpu/measure_kernels.py --out=DIR [--seconds=400]

writes products.csv, conv.csv, groupconv.csv and passes.csv: random shapes in bf16, tf32, fp32 and one in seven in fp16.
latency_ms: per call in a replayed CUDA graph, so without the host's launches; alone_ms: mean of the 5 fastest of 25 single
calls between events; backward_ms: both gradients of a convolution, as latency_ms. cudnn.benchmark is on.
"""
import argparse
import csv
import math
import os
import random
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile

DEVICE = "cuda"
HEAD = ["gpu", "set", "op", "precision"]
TIMES = ["latency_ms", "alone_ms"]
CONVOLUTION = ["batch", "channels_in", "channels_out", "kernel_size", "image", "stride", "padding", "groups", "layout"]
KERNEL = ["launches", "kernel"]
FILES = {
    "products": HEAD + ["b", "m", "n", "k"] + TIMES + KERNEL,
    "conv": HEAD + CONVOLUTION + TIMES + ["backward_ms"] + KERNEL,
    "groupconv": HEAD + CONVOLUTION + TIMES + ["backward_ms"] + KERNEL,
    "passes": HEAD + ["rows", "width"] + TIMES,
}
TYPES = {"fp32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
MULTIPLIES = ("linear", "bmm", "conv")
LONGEST_FLOP = 4e12

SUMMED = [64, 128, 256, 320, 512, 768, 1024, 1280, 1536, 2048, 2560, 3072, 4096, 5120, 8192, 12288]
OUTPUTS = [64, 128, 256, 320, 512, 768, 1000, 1024, 1280, 2048, 2560, 3072, 4096, 5120, 8192, 10240, 16384, 30522, 50257]
HEADS = [8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024]
TOKENS = [49, 64, 128, 192, 197, 256, 384, 512, 1024, 2048]
HEAD_WIDTHS = [32, 64, 64, 80, 96, 128]
EDGES = [7, 8, 14, 17, 28, 35, 56, 71, 112, 147, 224]
CHANNELS = [16, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256, 320, 384, 512, 768, 1024, 1280, 2048]
DEPTHWISE_CHANNELS = [16, 24, 32, 48, 64, 96, 128, 144, 192, 240, 384, 480, 576, 672, 960]
WIDTHS = [64, 128, 196, 197, 256, 384, 512, 768, 1024, 1280, 1536, 2048, 4096, 8192]


class Shapes:
    """Random shapes of the sizes that networks have; one that would take too long or too much memory is drawn again."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.kinds = [self.linear, self.bmm, self.conv, self.linear, self.bmm, self.conv, self.conv, self.grouped,
                      lambda: self.rows("ln", "softmax"),
                      lambda: self.rows("add", "mul", "relu", "gelu", "tanh", "addu", "mulu", "div", "pow")]

    def draw(self, i):
        shape = None
        while shape is None:
            shape = self.kinds[i % len(self.kinds)]()
        return shape

    def multiple(self, low, high, unit):
        value = math.exp(self.rng.uniform(math.log(low), math.log(high)))
        return max(unit, round(value / unit) * unit)

    def linear(self):
        m, n, k = self.multiple(64, 65536, 64), self.rng.choice(SUMMED), self.rng.choice(OUTPUTS)
        fits = 2 * m * n * k < LONGEST_FLOP and m * (n + k) < 1.2e9
        return {"op": "linear", "b": 1, "m": m, "n": n, "k": k} if fits else None

    def bmm(self):
        b, tokens, width = self.rng.choice(HEADS), self.rng.choice(TOKENS), self.rng.choice(HEAD_WIDTHS)
        m, n, k = self.rng.choice([(tokens, width, tokens), (tokens, tokens, width)])
        fits = b * (m * n + n * k + m * k) < 1e9 and 2 * b * m * n * k < LONGEST_FLOP
        return {"op": "bmm", "b": b, "m": m, "n": n, "k": k} if fits else None

    def conv(self):
        size, image, stride = self.rng.choice([1, 1, 1, 3, 3, 3, 5, 7]), self.rng.choice(EDGES), self.rng.choice([1, 1, 1, 2])
        batch = self.rng.choice([16, 32, 64, 128, 256])
        channels_in, channels_out = self.rng.choice([3, 288, *CHANNELS]), self.rng.choice(CHANNELS)
        if image < size or (size == 7 and channels_in > 64):
            return None
        out = (image + 2 * (size // 2) - size) // stride + 1
        flop = 2 * batch * out * out * channels_in * channels_out * size * size
        fits = flop < 1.5e12 and batch * (image * image * channels_in + out * out * channels_out) < 5e8
        return convolution(batch, channels_in, channels_out, size, image, stride, 1) if fits else None

    def grouped(self):
        width = self.rng.choice([1, 1, 1, 4, 8, 16, 24, 32, 64])
        groups = self.rng.choice(DEPTHWISE_CHANNELS if width == 1 else [8, 16, 32, 64])
        size = self.rng.choice([3, 3, 5] if width == 1 else [3])
        image, stride, batch = self.rng.choice([7, 14, 28, 56, 112]), self.rng.choice([1, 1, 2]), self.rng.choice([32, 64, 128])
        fits = batch * image * image * width * groups < 3e8
        return convolution(batch, width * groups, width * groups, size, image, stride, groups) if fits else None

    def rows(self, *ops):
        rows, width = self.multiple(64, 400000, 8), self.rng.choice(WIDTHS)
        return {"op": self.rng.choice(ops), "rows": rows, "width": width} if rows * width < 4e8 else None


def convolution(batch, channels_in, channels_out, size, image, stride, groups):
    return {"op": "conv", "batch": batch, "channels_in": channels_in, "channels_out": channels_out, "kernel_size": size,
            "image": image, "stride": stride, "padding": size // 2, "groups": groups}


def calls(s, precision):
    """A function that makes one call of a shape and, of convolutions, one that computes both gradients."""
    def random_numbers(*sizes):
        return torch.randn(*sizes, device=DEVICE, dtype=TYPES[precision])

    op = s["op"]
    if op == "linear":
        x, w, bias = random_numbers(s["m"], s["n"]), random_numbers(s["k"], s["n"]), random_numbers(s["k"])
        return lambda: F.linear(x, w, bias), None
    if op == "bmm":
        x, y = random_numbers(s["b"], s["m"], s["n"]), random_numbers(s["b"], s["n"], s["k"])
        return lambda: torch.bmm(x, y), None
    if op == "conv":
        return convolution_calls(s, random_numbers)
    x = random_numbers(s["rows"], s["width"])
    if op == "ln":
        scale, shift = random_numbers(s["width"]), random_numbers(s["width"])
        return lambda: F.layer_norm(x, (s["width"],), scale, shift), None
    if op == "softmax":
        return lambda: F.softmax(x, -1), None
    if op == "pow":
        x = x.abs()
    if op in ("add", "mul", "div", "pow"):
        y = random_numbers(s["rows"], s["width"])
        return lambda: getattr(torch, op)(x, y), None
    return {"addu": lambda: x + 1.5, "mulu": lambda: x * 1.5, "relu": lambda: F.relu(x), "gelu": lambda: F.gelu(x),
            "tanh": lambda: torch.tanh(x)}[op], None


def convolution_calls(s, random_numbers):
    form = torch.channels_last if s["layout"] == "nhwc" else torch.contiguous_format
    x = random_numbers(s["batch"], s["channels_in"], s["image"], s["image"]).contiguous(memory_format=form)
    w = random_numbers(s["channels_out"], s["channels_in"] // s["groups"], s["kernel_size"], s["kernel_size"])
    w = w.contiguous(memory_format=form)

    def forward():
        return F.conv2d(x, w, None, s["stride"], s["padding"], 1, s["groups"])
    gradient = torch.randn_like(forward())

    def backward():
        return torch.ops.aten.convolution_backward(gradient, x, w, None, [s["stride"]] * 2, [s["padding"]] * 2, [1, 1], False,
                                                   [0, 0], s["groups"], [True, True, False])
    return forward, backward


def event():
    return torch.cuda.Event(enable_timing=True)


def alone_ms(call):
    pairs = [(event(), event()) for _ in range(25)]
    for before, after in pairs:
        torch.cuda.synchronize()
        before.record()
        call()
        after.record()
    torch.cuda.synchronize()
    return sum(sorted(before.elapsed_time(after) for before, after in pairs)[:5]) / 5


def queued_ms(call, about_ms):
    """Per call in a replayed graph of as many as take a millisecond, 3 at least."""
    n = max(3, min(20, int(1 / max(about_ms, 0.02))))
    beside = torch.cuda.Stream()
    beside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(beside):
        call()
    torch.cuda.current_stream().wait_stream(beside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(n):
            call()
    times = []
    for _ in range(5):
        before, after = event(), event()
        before.record()
        graph.replay()
        after.record()
        torch.cuda.synchronize()
        times.append(before.elapsed_time(after) / n)
    return statistics.median(times[1:])


def kernel_of(call):
    """How many kernels a call launches, and the name of the longest."""
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        call()
        torch.cuda.synchronize()
    kernels = [e for e in profiler.events() if e.device_type == torch.autograd.DeviceType.CUDA]
    longest = max(kernels, key=lambda e: e.device_time_total, default=None)
    return {"launches": len(kernels), "kernel": longest.name[:70].replace(",", ";") if longest else ""}


def measure(shape, precision, with_name):
    """(file, row) of one shape."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    row = {**shape, "set": precision, "precision": precision}
    if row["op"] == "conv":
        row["layout"] = "nchw" if precision in ("fp32", "tf32") else "nhwc"
    call, backward = calls(row, precision)
    call()
    alone = alone_ms(call)
    row.update(latency_ms=f"{queued_ms(call, alone):.6g}", alone_ms=f"{alone:.6g}")
    if backward:
        backward()
        row["backward_ms"] = f"{queued_ms(backward, 2 * alone):.6g}"
    if with_name and row["op"] in MULTIPLIES:
        row.update(kernel_of(call))
    if row["op"] == "conv":
        return ("conv" if row["groups"] == 1 else "groupconv"), row
    return ("products" if row["op"] in MULTIPLIES else "passes"), row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, help="a folder")
    parser.add_argument("--seconds", type=float, default=400, help="no shape is begun after them")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("measure_kernels.py: PyTorch sees no GPU")
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.benchmark_limit = 3
    os.makedirs(options.out, exist_ok=True)
    files = {name: open(os.path.join(options.out, name + ".csv"), "w", newline="") for name in FILES}
    tables = {name: csv.DictWriter(files[name], FILES[name]) for name in FILES}
    for table in tables.values():
        table.writeheader()
    begin, shapes, shape_number, rows = time.monotonic(), Shapes(20261127), 0, 0
    while time.monotonic() - begin < options.seconds:
        shape = shapes.draw(shape_number)
        for precision in ["bf16", "tf32", "fp32"] + ["fp16"] * (shape_number % 7 == 6):
            if precision == "tf32" and shape["op"] not in MULTIPLIES:
                continue
            try:
                name, row = measure(shape, precision, shape_number % 40 < 10)
            except RuntimeError as error:
                print(f"{shape} {precision}: {str(error)[:120]}", flush=True)
                torch.cuda.empty_cache()
                continue
            tables[name].writerow({**row, "gpu": torch.cuda.get_device_name()})
            rows += 1
        shape_number += 1
        if shape_number % 50 == 0:
            torch.cuda.empty_cache()
            print(f"{time.monotonic() - begin:.0f} s: {shape_number} shapes, {rows} rows", flush=True)
    for file in files.values():
        file.close()


if __name__ == "__main__":
    main()
