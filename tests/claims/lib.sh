# SPDX-License-Identifier: GPL-3.0-or-later
# What commands of claims.txt share.

# row NAME ARGUMENTS...: one run; its mean, median and 95 % quantile of the JCT, mean of queueing, preemptions.
row() {
    local name=$1
    shift
    dlsim run "$@" --force -q -o row.h5 >/dev/null 2>&1
    dlsim inspect row.h5 --json >row.json
    echo "$name $(figure jct_mean_s jct_median_s jct_p95_s queue_mean_s preemptions)"
}

# figure KEY...: of the run of the last row, the first of that name.
figure() {
    local key
    for key in "$@"; do sed -n 's/^ *"'"$key"'": \([0-9.e+-]*\),*$/\1/p' row.json | head -1; done | paste -sd' '
}

# missed NAME ARGUMENTS...: how far estimates are from run times in a run of ours: root mean square of the logarithm, median and 90 %
# quantile as factors.
missed() {
    local name=$1
    shift
    dlsim run "$@" --force -q -o row.h5 >/dev/null 2>&1
    dlsim export --csv --table=starts -q row.h5 |
        awk -F, 'NR > 1 { d = $8 / 1e6; x = log($12 / (d < 1 ? 1 : d)); print x < 0 ? -x : x }' | sort -g |
        awk -v name="$name" '{ e[NR] = $1; s += $1 * $1 }
            END { print name, sqrt(s / NR), exp(e[int(NR / 2) + 1]), exp(e[int(NR * 0.9) + 1]) }'
}

# study CFG OPTIONS...: a study's designs, one a line: placement, source and what else is in the label; mean JCT (h, +- %),
# median (min), p95 (h), p99 (d); mean and median over that of consolidated with the same seed, +- each; the part kept of
# what driple gains over consolidated with the oracle, of the mean, of the median (%, +-); error of the predictor (%).
study() {
    dlsim study "$@" --json -o "$(mktemp -d -p .)" 2>/dev/null | python3 -c '
import json, sys
designs = {d["label"]: d for d in json.load(sys.stdin)["designs"]}
def mean(label, figure, unit=1):
    return (designs[label]["figures"][figure]["mean"] or 0) / unit
base, best = (next(d for d in designs if d.startswith(f"dlas-gpu/{p}, source=oracle")) for p in ("consolidated", "driple"))
def kept(label, figure):
    return 100 * (mean(base, figure) - mean(label, figure)) / (mean(base, figure) - mean(best, figure))
for label, d in designs.items():
    words = label.split("/", 1)[1].replace(", source=", " ").replace(", sigma=", " ").replace(", calibrate=", " ")
    jct = d["figures"]["jct_mean"]
    row = [mean(label, "jct_mean", 3600), 100 * jct["half_width"] / jct["mean"], mean(label, "jct_median", 60),
           mean(label, "jct_p95", 3600), mean(label, "jct_p99", 86400)]
    ratios = [r["figures"] for r in d["ratios"] if "consolidated" in r["baseline"]]
    for figure in ("jct_mean", "jct_median"):
        row += [ratios[0][figure][key] if ratios else 1 for key in ("mean", "half_width")]
    spread = designs[best]["ratios"][-1]["figures"]["jct_median"]["mean"] if designs[best]["ratios"] else 0
    row += [kept(label, "jct_mean"), kept(label, "jct_median"), 100 * row[8] / (1 - spread),
            mean(label, "prediction_error", 0.01)]
    print(words + ":", *("%.4g" % x for x in row))
'
}
