#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sum up a run of tests/gpu/run.sh: report.py FOLDER

Reads check.json, table.json, bench.json, torch.json and those of training in FOLDER, each of which may be
missing or empty, and leaves report.json and report.md there. Standard library only.
"""
import json
import sys
from pathlib import Path

# name, key in report["figures"], target, and which way
TARGETS = (
    ("float32, graphs/s", "f32_graphs_per_s", 100000, ">="),
    ("fast mode, graphs/s", "fast_graphs_per_s", 400000, ">="),
    ("float32 against PyTorch's float32", "f32_times_torch", 5, ">="),
    ("fast mode against PyTorch's bf16", "fast_times_torch_bf16", 5, ">="),
    ("one graph in 14 settings, ms", "one_graph_14_settings_ms", 2, "<="),
    ("training step against PyTorch's", "training_times_torch", 10, ">="),
)


def lines(path):
    """The JSON objects of a file that has one a line, between other text."""
    found = []
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.startswith("{"):
            try:
                found.append(json.loads(line))
            except ValueError:
                pass  # a step that was stopped in the middle of a line
    return found


def whole(path):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return {}


def ratio(a, b):
    return a / b if a and b else None


def figures(bench, torch):
    def rate(name):
        return bench.get("cuda_" + name, {}).get("graphs_per_s")

    f = {"f32_graphs_per_s": rate("f32_fused"), "f32_plain_graphs_per_s": rate("f32_plain"),
         "fast_graphs_per_s": rate("fast_fused"), "tf32_plain_graphs_per_s": rate("fast_plain_tf32"),
         "one_graph_14_settings_ms": bench.get("cuda_one_graph_14_settings_fused_ms"),
         "one_graph_14_settings_plain_ms": bench.get("cuda_one_graph_14_settings_plain_ms"),
         "torch_f32_graphs_per_s": torch.get("cuda_f32_graphs_per_s"),
         "torch_tf32_graphs_per_s": torch.get("cuda_tf32_graphs_per_s"),
         "torch_bf16_graphs_per_s": torch.get("cuda_bf16_graphs_per_s")}
    f["f32_times_torch"] = ratio(f["f32_graphs_per_s"], f["torch_f32_graphs_per_s"])
    f["fast_times_torch_bf16"] = ratio(f["fast_graphs_per_s"], f["torch_bf16_graphs_per_s"])
    f["fast_times_torch_tf32"] = ratio(f["fast_graphs_per_s"], f["torch_tf32_graphs_per_s"])
    # What the device's own rates, measured beside it, would allow if nothing but products counted.
    flop = bench.get("standard", {}).get("mflop_per_graph", 0) * 1e6
    for name, peak in (("f32", "f32_tflops"), ("fast", "bf16_tflops")):
        if flop and torch.get(peak):
            limit = torch[peak] * 1e12 / flop
            f[name + "_limit_graphs_per_s"] = limit
            f[name + "_fraction_of_limit"] = ratio(f[name + "_graphs_per_s"], limit)
    # Features and edges read, nodes written and read again.
    for name in ("f32", "fast"):
        if f[name + "_graphs_per_s"]:
            f[name + "_memory_gb_per_s"] = f[name + "_graphs_per_s"] * 57000 * 1e-9
    f["device_copy_gb_per_s"] = torch.get("copy_gb_per_s")
    for name in ("many_shipped", "many_24_nodes", "many_100_nodes"):  # 50,000 workloads in 14 settings
        many = bench.get(name, {})
        for backend in ("f32", "fast"):
            f[f"{name}_{backend}_s"] = many.get(f"cuda_{backend}_s")
        f[f"{name}_cpu_s"] = ratio(
            many.get("cpu_s", 0) * many.get("workloads", 0), many.get("cpu_workloads"))
    return {k: v for k, v in f.items() if v is not None}


def training_figures(bench, torch):
    tunes = {t["tune"]: t for t in bench.get("cuda", [])}
    f = {"training_step_ms": tunes.get("base", {}).get("step_ms"),
         "transfer_step_ms": tunes.get("conv+mlp", {}).get("step_ms"),
         "training_memory_mb": tunes.get("base", {}).get("memory_mb"),
         "torch_training_step_ms": torch.get("eager_ms"),
         "torch_captured_training_step_ms": torch.get("captured_ms"),
         "torch_training_memory_mb": torch.get("memory_mb")}
    f["training_times_torch"] = ratio(f["torch_training_step_ms"], f["training_step_ms"])
    f["training_times_captured_torch"] = ratio(f["torch_captured_training_step_ms"],
                                               f["training_step_ms"])
    return {k: v for k, v in f.items() if v is not None}


def show(v):
    return f"{v:,.0f}" if v >= 1000 else f"{v:.3g}"


def markdown(r):
    out = [f"Device: {r['device']}. Checks: {r['checks'] - r['failed']} of {r['checks']} passed"
           + "".join(f"; largest {name} error {r[key]:.2g} of the largest output"
                     for name, key in (("float32", "worst_f32"), ("fast", "worst_fast")) if key in r)
           + ".", ""]
    out += ["| | measured | target | met |", "| --- | --- | --- | --- |"]
    for t in r["targets"]:
        value = "-" if t["value"] is None else show(t["value"])
        met = {True: "yes", False: "**no**", None: "not measured"}[t["met"]]
        out.append(f"| {t['name']} | {value} | {t['sense']} {show(t['target'])} | {met} |")
    if r["figures"]:
        out += ["", "| figure | |", "| --- | --- |"]
    out += [f"| {k} | {show(v)} |" for k, v in r["figures"].items()]
    if r["table"]:
        out += ["", "| nodes | float32 NMSE | fast NMSE | fast largest error | TF32 NMSE |",
                "| --- | --- | --- | --- | --- |"]
        out += [f"| {t['n_nodes']} | {t['f32']['nmse']:.1e} | {t['fast']['nmse']:.1e} | "
                f"{t['fast']['max']:.1e} | {t['fast_plain']['nmse']:.1e} |" for t in r["table"]]
    return "\n".join(out) + "\n"


def main():
    folder = Path(sys.argv[1])
    checks = [c for name in ("check", "training") for c in lines(folder / (name + ".json"))
              if "check" in c]
    bench = whole(folder / "bench.json")
    torch = (lines(folder / "torch.json") or [{}])[-1]
    backend = bench.get("cuda_f32_fused", {}).get("backend", "none")
    training = whole(folder / "training_bench.json")
    training_torch = (lines(folder / "training_torch.json") or [{}])[-1]
    f = {}
    if "emulation" not in backend:  # its times mean nothing
        f = figures(bench, torch)
        f.update(training_figures(training, training_torch))
    r = {"device": torch.get("device", backend), "checks": len(checks),
         "failed": sum(not c["ok"] for c in checks), "figures": f, "targets": [],
         "table": lines(folder / "table.json"), "bench": bench, "torch": torch,
         "training": training, "training_torch": training_torch}
    for name, tight in (("worst_f32", True), ("worst_fast", False)):
        errors = [c["max_error"] for c in checks if "bound" in c and (c["bound"] <= 1e-5) == tight]
        if errors:
            r[name] = max(errors)
    for name, key, target, sense in TARGETS:
        v = f.get(key)
        met = None if v is None else v >= target if sense == ">=" else v <= target
        r["targets"].append(
            {"name": name, "value": v, "target": target, "sense": sense, "met": met})
    (folder / "report.json").write_text(json.dumps(r, indent=1) + "\n")
    (folder / "report.md").write_text(markdown(r))
    print(markdown(r), end="")


if __name__ == "__main__":
    main()
