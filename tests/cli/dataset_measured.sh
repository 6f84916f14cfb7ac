# SPDX-License-Identifier: GPL-3.0-or-later
# Datasets out of measurements: Driple's CSV with graphs, and its pickled batches.
. "$DLSIM_SOURCE/tests/support/cli.sh"
python=python3
[ -x /usr/bin/python3 ] && python=/usr/bin/python3
command -v "$python" >/dev/null || {
    echo "skipped: no python3"
    exit 77
}

# Ten jobs on one setting, two on another, and what must be left out.
mkdir g
"$python" - <<'EOF'
def node(name, op, inputs, shape):
    text = 'node {\n  name: "%s"\n  op: "%s"\n' % (name, op)
    text += "".join('  input: "%s"\n' % i for i in inputs)
    dims = " ".join("dim { size: %d }" % d for d in shape)
    return text + ('  device: "/device:GPU:0"\n  attr { key: "_output_shapes" value { list { '
                   'shape { %s } } } }\n}\n' % dims)

rows = ["\ufeffnote,Resource,Job Name,Hyper-Parameter,Sync/Async,Model,Data Set,GPU,avg Idle time,"
        "avg Active time,avg Peak consumption"]
for k in range(12):
    gpu, sync = ("V100-P1w2", "Sync") if k < 10 else ("2080Ti-P1w2", "Async")
    graph = node("x", "Placeholder", [], [32, 10])
    for i in range(6 + k):
        graph += node("w%d" % i, "Const", [], [10, 10])
        graph += node("m%d" % i, "MatMul", ["m%d" % (i - 1) if i else "x", "w%d" % i], [32, 10])
    name = "%s_CIFAR_net%02d_%s_bs32_worker.pbtxt" % (gpu, k, sync)
    open("g/" + name, "w").write(graph)
    for r, resource in enumerate(["Network_rx", "GPU util", "GPU MEM util", "Network_tx", "CPU"]):
        rows.append('"a, ""b""",%s,worker,bs32,%s,net%02d,CIFAR,%s,%g,%g,%g' %
                    (resource, sync, k, gpu, k + r, 0.25, 50 + r))
rows.append("x,GPU util,worker,bs32,Sync,lost,CIFAR,V100-P1w2,1,1,1")
open("perf.csv", "w").write("\r\n".join(rows) + "\r\n")
open("g/V100-P1w2_CIFAR_net99_Sync_bs32_worker.pbtxt", "w").write(graph)
open("g/wrong_name.pbtxt", "w").write(graph)
open("g/notes.txt", "w").write("not a graph")
EOF
expect 0 dataset build -o m.h5 --perf-result=perf.csv --graphs=g --groups=5
says err.txt "12 jobs out of 14 graphs; 1 graphs misnamed, 1 without their four rows; 1 rows without a graph"
expect 0 dataset show m.h5 --json
"$python" - out.txt <<'EOF' || fail "measured labels"
import json, random, sys
with open(sys.argv[1]) as f:
    root = json.load(f)
a, b = sorted(root["settings"], key=lambda s: -s["train"])
assert a["measured"] and b["measured"] and a["exchange"] == "ps-sync" and b["exchange"] == "ps-async"
assert (a["name"], b["name"]) == ("V100-P1w2", "2080Ti-P1w2")
# Driple's division: Python's shuffle of the files by name, "2080Ti..." first.
order = list(range(12))
random.seed(42)
random.shuffle(order)
split = {f: "train" if i < 7 else "val" if i < 9 else "test" for i, f in enumerate(order)}
for s, files in ((a, range(2, 12)), (b, range(2))):
    for name in ("train", "val", "test"):
        assert s[name] == sum(split[f] == name for f in files), (s["name"], name)
# GPU util is the second resource of the file: idle 1..10, active 0.25, peak 51.
assert a["label_least"]["gpu_idle"] == 1 and a["label_most"]["gpu_idle"] == 10
assert a["label_least"]["gpu_active"] == 0.25 and a["label_least"]["gpu_peak"] == 51
assert a["label_least"]["net_rx_idle"] == 0 and a["label_least"]["gpu_mem_idle"] == 2
assert a["label_most"]["net_tx_peak"] == 53 and a["iteration_least_s"] == 1.25
EOF

wrong() { # sed of the CSV, code of lines, what is said
    sed "$1" perf.csv >wrong.csv
    expect 4 dataset build -o x.h5 --perf-result=wrong.csv --graphs=g --groups=5
    says err.txt "$2"
}
wrong '1s/Resource/Thing/' "wrong.csv:1: the header lacks the column 'Resource'"
wrong '3s/0.25/soon/' "wrong.csv:3:62: column 'avg Active time'"
wrong '4s/0.25/-1/' "wrong.csv:4:66: column 'avg Active time'"
wrong '5s/""b"""/""b/' 'wrong.csv:6:2: text behind a closing quote'
wrong '6s/,worker.*//' 'wrong.csv:6: 2 cells, but the header has 11'
expect 4 dataset build -o x.h5 --perf-result=/dev/null --graphs=g
expect 4 dataset build -o x.h5 --perf-result=nothing.csv --graphs=g
expect 4 dataset build -o x.h5 --perf-result=perf.csv --graphs=nothing
expect 4 dataset build -o x.h5 --perf-result=perf.csv --graphs=.
says err.txt "no graph with its four rows"
expect 2 dataset build -o x.h5 --perf-result=perf.csv
expect 2 dataset build -o x.h5 --graphs=g
echo 'node {' >g/V100-P1w2_CIFAR_net00_Sync_bs32_worker.pbtxt
expect 4 dataset build -o x.h5 --perf-result=perf.csv --graphs=g --groups=5
says err.txt "net00"
test ! -e x.h5 || fail "a failed build left a file"

# ---- the pickled batches --------------------------------------------------------------------------
"$python" -c 'import h5py, numpy' 2>/dev/null || {
    printf '%s checks\nskipped: python3 has no h5py\n' "$checks"
    exit 0
}
cat >make.py <<'EOF'
import sys
import numpy as np
import torch_file

def Tensor(value):
    tensors.append(torch_file.Tensor(len(tensors), value))
    return tensors[-1]

def path_graph(n):
    return np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)

class Evil:
    def __reduce__(self):
        return (open, ("evil.txt", "w"))

kind = sys.argv[1]
tensors = []
adj, x, y = {}, {}, {}
for code, (split, batches) in enumerate((("train", 2), ("val", 1), ("test", 1))):
    adj[split] = [Tensor([path_graph(4)] * 3) for _ in range(batches)]
    x[split] = [Tensor(np.full((3, 4, 3), code + 0.5)) for _ in range(batches)]
    y[split] = [Tensor(np.arange(36).reshape(3, 12) + code) for _ in range(batches)]
if kind == "nan":
    y["val"] = [Tensor(np.full((3, 12), np.nan))]
elif kind == "short":
    y["val"] = [Tensor(np.zeros((3, 11)))]
elif kind == "uneven":
    x["test"] = [Tensor(np.zeros((2, 4, 3)))]
torch_file.save(sys.argv[1] + ".pkl", (adj, x, Evil() if kind == "evil" else y), tensors, "cpu")
EOF
convert=$source/predictor/dataset/pickle_to_h5.py
PYTHONPATH=$source/tests/support "$python" make.py good
"$python" "$convert" good.pkl p.h5 --setting=V100-P5w10-he-1G --gpu=V100 --ps=5 --workers=10 --nodes=5 \
    --topology=ps-sync --network=eth1 >said.txt || fail "pickle_to_h5.py"
says said.txt "12 graphs of 4 nodes"
expect 0 dataset show p.h5 --json
"$python" - out.txt <<'EOF' || fail "labels out of a pickle"
import json, sys
with open(sys.argv[1]) as f:
    s = json.load(f)["settings"][0]
assert (s["train"], s["val"], s["test"]) == (6, 3, 3) and s["measured"]
assert (s["gpu"], s["exchange"], s["link"]) == ("V100", "ps-sync", "eth1")
assert (s["n_ps"], s["n_workers"], s["n_nodes"]) == (5, 10, 5)
assert s["label_least"]["gpu_mem_idle"] == 0 and s["label_most"]["net_tx_peak"] == 37
assert s["iteration_least_s"] == 3 + 4
EOF
for kind in nan short uneven evil; do
    PYTHONPATH=$source/tests/support "$python" make.py $kind
    if "$python" "$convert" $kind.pkl x.h5 --setting=s 2>said.txt; then
        fail "$kind.pkl was taken"
    fi
    checks=$((checks + 1))
done
says said.txt "refused"
test ! -e evil.txt || fail "a pickle ran code"
test ! -e x.h5 || fail "a refused pickle left a file"
echo "$checks checks"
