# SPDX-License-Identifier: GPL-3.0-or-later
"""Files in PyTorch's format, written without PyTorch: stand-ins under its names, so that a pickle refers to them as torch.save does."""

import collections
import io
import pickle
import sys
import types
import zipfile

import numpy as np

torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
torch.FloatStorage = type("FloatStorage", (), {"__module__": "torch"})


def _rebuild_tensor_v2():
    pass


_rebuild_tensor_v2.__module__ = "torch._utils"
utils._rebuild_tensor_v2 = _rebuild_tensor_v2
sys.modules.update({"torch": torch, "torch._utils": utils})


class Key:
    def __init__(self, key, n):
        self.key, self.n = key, n


class Tensor:
    def __init__(self, key, value):
        self.key, self.value = str(key), np.ascontiguousarray(value, "<f4")

    def __reduce__(self):
        shape = self.value.shape
        stride = tuple(int(np.prod(shape[i + 1:])) for i in range(len(shape)))
        return (_rebuild_tensor_v2, (Key(self.key, self.value.size), 0, shape, stride, False,
                                     collections.OrderedDict()))


def save(path, state, tensors, device):
    """The state, which refers to tensors, and what these hold."""

    class Pickler(pickle.Pickler):
        def persistent_id(self, thing):
            if isinstance(thing, Key):
                return ("storage", torch.FloatStorage, thing.key, device, thing.n)

    data = io.BytesIO()
    Pickler(data, protocol=2).dump(state)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", data.getvalue())
        for t in tensors:
            archive.writestr("archive/data/" + t.key, t.value.tobytes())
