#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Turn a PyTorch checkpoint (a saved state dictionary) into a plain HDF5 file of named tensors.

Usage: checkpoint_to_h5.py CHECKPOINT.pkl OUT.h5     then: dlsim model import OUT.h5 -o W.h5

Needs numpy and h5py, not PyTorch. The pickle inside the checkpoint is read by an unpickler that knows
three names - OrderedDict, the tensor rebuilder and storage types - and refuses all others, so that a
checkpoint from the network cannot run code. Format: torch.save of version 1.6 and later, a zip with
NAME/data.pkl and raw little-endian storages NAME/data/KEY.
"""
import collections
import pickle
import sys
import zipfile

import h5py
import numpy as np

STORAGE = {"FloatStorage": "<f4", "DoubleStorage": "<f8", "HalfStorage": "<f2",
           "LongStorage": "<i8", "IntStorage": "<i4"}
LIMIT = 1 << 28  # elements of one tensor


class Storage:
    """Bytes of the archive with a type; tensors are views of it."""

    def __init__(self, values):
        self.values = values


def rebuild_tensor(storage, offset, size, stride, *_):
    """What torch._utils._rebuild_tensor_v2 does, with the bounds checked."""
    size, stride = tuple(map(int, size)), tuple(map(int, stride))
    if not isinstance(storage, Storage) or len(size) != len(stride) or min((*size, *stride, 0)) < 0:
        raise pickle.UnpicklingError("a tensor that makes no sense")
    last = int(offset) + sum((n - 1) * s for n, s in zip(size, stride))
    count = int(np.prod(size, dtype=object))
    if offset < 0 or count > LIMIT or (count and last >= len(storage.values)):
        raise pickle.UnpicklingError("a tensor beyond its storage")
    item = storage.values.itemsize
    view = np.lib.stride_tricks.as_strided(storage.values[int(offset):], size,
                                           [s * item for s in stride])
    return np.array(view)


class Unpickler(pickle.Unpickler):
    def __init__(self, file, archive, folder):
        super().__init__(file)
        self.archive, self.folder = archive, folder

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return rebuild_tensor
        if module == "torch" and name in STORAGE:
            return name
        raise pickle.UnpicklingError("refused: the checkpoint refers to %s.%s" % (module, name))

    def persistent_load(self, pid):
        kind, storage, key = pid[:3]
        if kind != "storage" or storage not in STORAGE or not str(key).isalnum():
            raise pickle.UnpicklingError("refused: storage %r" % (pid,))
        data = self.archive.read("%s/data/%s" % (self.folder, key))
        return Storage(np.frombuffer(data, STORAGE[storage]))


def read(path):
    """What the pickle holds: containers and arrays, nothing else."""
    with zipfile.ZipFile(path) as archive:
        names = [n for n in archive.namelist() if n.endswith("/data.pkl") and n.count("/") == 1]
        if len(names) != 1:
            raise pickle.UnpicklingError("no single NAME/data.pkl in the archive")
        with archive.open(names[0]) as file:
            return Unpickler(file, archive, names[0].split("/")[0]).load()


def load(path):
    state = read(path)
    if not isinstance(state, dict) or not state or not all(
            isinstance(k, str) and isinstance(v, np.ndarray) for k, v in state.items()):
        raise pickle.UnpicklingError("not a dictionary of tensors")
    return state


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        state = load(sys.argv[1])
    except (OSError, KeyError, ValueError, TypeError, EOFError, pickle.UnpicklingError,
            zipfile.BadZipFile) as error:
        sys.exit("%s: %s" % (sys.argv[1], error))
    with h5py.File(sys.argv[2], "w") as out:
        for name, value in state.items():
            out[name] = value
        out.attrs["order"] = "\n".join(state)
    print("%d tensors, %d numbers" % (len(state), sum(v.size for v in state.values())))


if __name__ == "__main__":
    main()
