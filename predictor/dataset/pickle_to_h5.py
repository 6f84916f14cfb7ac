#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Turn a published Driple dataset (a pickle of PyTorch tensors) into a dataset of dlsim.

Usage: pickle_to_h5.py DATA.pkl OUT.h5 --setting=NAME [--gpu=TYPE] [--ps=N] [--workers=N] [--nodes=N]
                       [--topology=ps-sync|ps-async|allreduce] [--network=LINK]

The pickle holds a tuple (adjacencies, features, labels), each a dictionary of train, val and test with a
list of batches: [B][N][N], [B][N][F], [B][12]. Features and labels are kept as they are: the published
code does not normalise, and the scale of its data is unknown, so the file has no spec from which other
graphs could be given the same features. Needs numpy and h5py, not PyTorch; the unpickler refuses
everything but tensors and containers (predictor/driple/checkpoint_to_h5.py). Layout:
docs/dataset-files.md.
"""
import argparse
import hashlib
import os
import pickle
import sys
import zipfile

import h5py
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "driple"))
import checkpoint_to_h5  # noqa: E402  (beside this folder)

SPLITS = ("train", "val", "test")
METRICS = 12
NAME = 64  # bytes of a name


def stack(part, split, rank):
    """All batches of a split, one graph behind the other."""
    batches = part.get(split) if isinstance(part, dict) else None
    if not isinstance(batches, (list, tuple)) or not all(
            isinstance(b, np.ndarray) and b.ndim == rank + 1 for b in batches):
        raise ValueError("\"%s\" is not a list of batches of rank %d" % (split, rank + 1))
    return [graph for batch in batches for graph in batch]


def load(path):
    data = checkpoint_to_h5.read(path)
    if not isinstance(data, (list, tuple)) or len(data) != 3:
        raise ValueError("not a tuple of adjacencies, features and labels")
    graphs = []
    for code, split in enumerate(SPLITS):
        parts = [stack(data[0], split, 2), stack(data[1], split, 2), stack(data[2], split, 1)]
        if len({len(p) for p in parts}) != 1:
            raise ValueError("\"%s\": numbers of graphs differ" % split)
        graphs += [(code,) + row for row in zip(*parts)]
    if not graphs:
        raise ValueError("no graph")
    for i, (_, adj, x, y) in enumerate(graphs):
        n = len(adj)
        if adj.shape != (n, n) or n < 1 or len(x) != n or x.shape[1] != graphs[0][2].shape[1]:
            raise ValueError("graph %d: sizes %s and %s do not fit" % (i, adj.shape, x.shape))
        if y.shape != (METRICS,):
            raise ValueError("graph %d: %s labels instead of 12" % (i, y.shape))
        for what, values in (("adjacency", adj), ("features", x), ("labels", y)):
            if not np.isfinite(values).all():
                raise ValueError("graph %d: %s are not finite" % (i, what))
        if (adj < 0).any():
            raise ValueError("graph %d: an edge of negative weight" % i)
    return graphs


class Channel:
    """A group and the checksum of what was written to it."""

    def __init__(self, group):
        self.group, self.sha = group, hashlib.sha256()

    def put(self, name, values, dtype):
        values = np.ascontiguousarray(values, dtype)
        self.sha.update(name.encode() + b"\0" + values.tobytes())
        self.group.create_dataset(name, data=values, compression=4 if values.size else None,
                                  shuffle=True if values.size else None)

    def texts(self, name, texts, width=NAME):
        self.sha.update(name.encode() + b"\0")
        for text in texts:
            self.sha.update(text.encode() + b"\0")
        self.group.create_dataset(name, data=np.array([t.encode() for t in texts],
                                                      h5py.string_dtype("utf-8", width)))

    def close(self):
        text_attr(self.group, "checksum", self.sha.hexdigest())


def text_attr(at, name, text):
    value = text.encode() + b"\0"
    at.attrs.create(name, np.array(value, h5py.string_dtype("utf-8", len(value))))


def write_graphs(group, graphs):
    out = Channel(group)
    adjacency = [adj for _, adj, _, _ in graphs]
    edges = [np.nonzero(adj) for adj in adjacency]
    weight = np.concatenate([adj[e] for adj, e in zip(adjacency, edges)])
    for name, width in (("model", NAME), ("family", NAME), ("data", NAME), ("numeric", 16),
                        ("optimiser", 16)):
        out.texts(name, [""] * len(graphs), width)
    out.put("batch", np.zeros(len(graphs)), "<i4")
    out.put("n_nodes", [len(adj) for adj in adjacency], "<i4")
    out.put("degree", np.concatenate([(adj != 0).sum(axis=1) for adj in adjacency]), "<i4")
    out.put("col", np.concatenate([e[1] for e in edges]), "<i4")
    out.put("x", np.concatenate([x for _, _, x, _ in graphs]), "<f4")
    if (weight != 1).any():
        out.put("weight", weight, "<f4")
    out.close()


def write_setting(group, graphs, args):
    out = Channel(group)
    label = np.array([y for _, _, _, y in graphs], "<f4")
    text_attr(group, "gpu_type", args.gpu)
    text_attr(group, "topology", args.topology)
    text_attr(group, "network", args.network)
    text_attr(group, "labels", "measured")
    for name, value in (("n_ps", args.ps), ("n_workers", args.workers), ("n_nodes", args.nodes)):
        group.attrs.create(name, value, dtype="<i4")
    out.put("graph", np.arange(len(graphs)), "<i4")
    out.put("split", [code for code, _, _, _ in graphs], "<u1")
    out.put("label", label, "<f4")
    out.put("iteration_s", label[:, 3] + label[:, 4], "<f4")
    out.close()


def write(path, graphs, args):
    with h5py.File(path, "w") as out:
        text_attr(out, "format", "dlsim-dataset")
        out.attrs.create("format_version", 1, dtype="<i4")
        text_attr(out, "feature_version", "driple")
        out.attrs.create("n_features", graphs[0][2].shape[1], dtype="<i4")
        out.attrs.create("seed", 0, dtype="<u8")
        text_attr(out, "command", "pickle_to_h5.py " + os.path.basename(args.data))
        write_graphs(out.create_group("graphs"), graphs)
        write_setting(out.create_group("settings").create_group(args.setting), graphs, args)
        Channel(out).texts("setting_names", [args.setting])


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][7:])
    parser.add_argument("data")
    parser.add_argument("out")
    parser.add_argument("--setting", required=True)
    for name in ("gpu", "topology", "network"):
        parser.add_argument("--" + name, default="")
    for name in ("ps", "workers", "nodes"):
        parser.add_argument("--" + name, type=int, default=0)
    args = parser.parse_args()
    if "/" in args.setting or not 0 < len(args.setting.encode()) < NAME:
        sys.exit("\"%s\" cannot name a setting" % args.setting)
    try:
        graphs = load(args.data)
    except (OSError, KeyError, ValueError, TypeError, EOFError, AttributeError, IndexError,
            pickle.UnpicklingError, zipfile.BadZipFile) as error:
        sys.exit("%s: %s" % (args.data, error))
    part = args.out + ".part"
    write(part, graphs, args)
    os.replace(part, args.out)
    print("%d graphs of %d nodes" % (len(graphs), len(graphs[0][1])))


if __name__ == "__main__":
    main()
