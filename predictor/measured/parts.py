#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a predictor's answers the gain of a placement hangs on, where Gavel's table is the truth (docs/placement-study.md).

Usage: parts.py --dlsim=PROGRAM [--source=operator] [--replicas=8] TABLE FOLDER

TABLE is Gavel's throughputs.json. Prints how far the source's steps, the ratios of spread to packed ones and those of two
GPU types are from it, and how many pairs of places of a job are in order, for one model after the other; writes into
FOLDER tables in which a part of the entries is measured and the rest predicted, and parts.cfg, the study with each of
them as what policies know:

    dlsim study FOLDER/parts.cfg
"""
import argparse
import ast
import itertools
import json
import math
import os
import re
import statistics
import subprocess

TYPES = ["V100", "P100", "K80"]
NODE = 4  # GPUs of a node of placement-measured.cfg
HERE = os.path.dirname(os.path.abspath(__file__))


def predicted(a, model, batch, gpu, gpus, nodes, answers={}):
    """Seconds of a step; None of a model that the source does not know."""
    key = model, batch, gpu, gpus, nodes
    if key not in answers:
        out = subprocess.run([a.dlsim, "predict", "--whatif", f"--model={model}", f"--batch={batch}", f"--gpu={gpu}",
                              f"--to-gpus={gpu}", f"--workers={gpus}", f"--nodes={nodes}", f"--source={a.source}",
                              "--network=eth10", "--json"], capture_output=True, text=True)
        answers[key] = json.loads(out.stdout)["answers"][0].get("iteration_s") if out.returncode == 0 else None
    return answers[key]


def rows(a):
    """{(model, batch, GPUs, type, spread): (measured step, predicted)} of what has a batch and was measured."""
    with open(a.table) as file:
        table = json.load(file)
    out = {}
    for gpu in TYPES:
        for spread in False, True:
            for name, entry in table[gpu.lower() + "_unconsolidated" * spread].items():
                words, gpus = ast.literal_eval(name)
                parts = re.fullmatch(r"(.*) \(batch size (\d+)\)", words)
                if not parts or not entry["null"] or (spread and gpus == 1):
                    continue
                nodes = min(gpus, 2 * -(-gpus // NODE)) if spread else -(-gpus // NODE)
                step = predicted(a, parts[1], int(parts[2]), gpu, gpus, nodes)
                if step:
                    out[parts[1], int(parts[2]), gpus, gpu, spread] = gpus / entry["null"], step
    return out


def mean(values):
    return math.exp(statistics.mean(map(math.log, values)))


def errors(known):
    print("| model, GPUs | measurements | predicted / measured, mean | spread / packed, measured | predicted "
          "| P100 / V100, measured | predicted | K80 / P100, measured | predicted | places of a job in order, % |\n|" +
          "---|" * 10)
    for model in sorted({k[0] for k in known}):
        for some in "1", "more":
            here = {k: v for k, v in known.items() if k[0] == model and (k[2] == 1) == (some == "1")}
            if not here:
                continue
            groups = [[(v, here[k[:4] + (False,)]) for k, v in here.items() if k[4] and k[:4] + (False,) in here]]
            groups += [[(v, here[k[:3] + (fast, False)]) for k, v in here.items()
                        if k[3:] == (slow, False) and k[:3] + (fast, False) in here]
                       for slow, fast in (("P100", "V100"), ("K80", "P100"))]
            cells = [mean([p / m for m, p in here.values()])]
            cells += [mean([x[which] / y[which] for x, y in group]) if group else None
                      for group in groups for which in (0, 1)]
            right = [(x[0] < y[0]) == (x[1] < y[1]) for (k, x), (l, y) in itertools.combinations(here.items(), 2)
                     if k[:3] == l[:3]]
            print(f"| {model}, {some} | {len(here)} | " + " | ".join("-" if c is None else f"{c:.2f}" for c in cells) +
                  f" | {100 * statistics.mean(right):.0f} |")


def mixtures(known):
    """Names, and what is taken for a key in place of the prediction: each from (measured, predicted)."""
    def at(key, which, gpu=None, spread=None):
        other = key[:3] + (gpu or key[3], key[4] if spread is None else spread)
        return known[other][which] if other in known else None

    def types_measured(key):  # between types as measured, spread as predicted
        packed, guess = at(key, 0, spread=False), at(key, 1, spread=False)
        return packed * known[key][1] / guess if packed and guess else known[key][1]

    def spread_measured(key):  # between types as predicted, spread as measured
        packed, guess = at(key, 0, spread=False), at(key, 1, spread=False)
        return guess * known[key][0] / packed if packed and guess else known[key][1]

    def ratios_measured(key):  # all ratios of a job's places as measured, the level as predicted
        level = [(at(key, 0, g, False), at(key, 1, g, False)) for g in TYPES]
        level = [p / m for m, p in level if m]
        return known[key][0] * mean(level) if level else known[key][1]

    def chosen(test):
        return lambda key: known[key][0] if test(key) else known[key][1]

    return {"all": lambda key: known[key][0],
            "nothing": lambda key: known[key][1],
            "ratios of types": types_measured,
            "ratio of spread to packed": spread_measured,
            "ratios without level": ratios_measured,
            "one GPU": chosen(lambda k: k[2] == 1),
            "gangs": chosen(lambda k: k[2] > 1),
            "all but Recommendation": chosen(lambda k: k[0] != "Recommendation"),
            "Recommendation": chosen(lambda k: k[0] == "Recommendation")}


def write(a, known):
    os.makedirs(a.folder, exist_ok=True)
    points = ['( "consolidated", "oracle", "*", "*" )', '( "driple", "oracle", "*", 0 )']
    for name, step in mixtures(known).items():
        table = {t.lower() + end: {} for t in TYPES for end in ("", "_unconsolidated")}
        for key in known:
            model, batch, gpus, gpu, spread = key
            table[gpu.lower() + "_unconsolidated" * spread][f"('{model} (batch size {batch})', {gpus})"] = {
                "null": gpus / step(key)}
        path = os.path.abspath(os.path.join(a.folder, name.replace(" ", "-") + ".json"))
        with open(path, "w") as file:
            json.dump(table, file)
        points.append(f'( "driple", "table", "{path}", 0 )')
    with open(os.path.join(a.folder, "parts.cfg"), "w") as file:
        file.write(f"""sweep:
{{
    base = "{os.path.abspath(os.path.join(HERE, "../../configs/placement-measured.cfg"))}";
    name = "parts of a prediction";
    set = ( "results.series=false", "perf.table={os.path.abspath(a.table)}" );
    axes = ( {{ keys = [ "placement.name", "predictor.source", "predictor.table", "placement.alike" ];
               values = ( {", ".join(points)} ); }} );
    replicas = {a.replicas};
    baseline = [ "dlas-gpu/consolidated, source=oracle" ];
}};
""")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][7:])
    parser.add_argument("--dlsim", default="dlsim")
    parser.add_argument("--source", default="operator")
    parser.add_argument("--replicas", type=int, default=8)
    parser.add_argument("table")
    parser.add_argument("folder")
    a = parser.parse_args()
    known = rows(a)
    errors(known)
    write(a, known)


if __name__ == "__main__":
    main()
