# SPDX-License-Identifier: GPL-3.0-or-later
"""ONNX files without their weights: the graph is what is read, and sizes of weights stay in it.

Protocol buffers: a message is fields, each a key (number * 8 + kind) and a value; those of kind 2 have a length.
"""

WEIGHTS = (7, 5, 9)  # ModelProto.graph, GraphProto.initializer, TensorProto.raw_data
SMALL = 1024  # bytes: shapes and indices are followed by value


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def length(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def fields(data):
    """(number, body or None, all of its bytes) of each field."""
    at = 0
    while at < len(data):
        begin, body = at, None
        key, at = varint(data, at)
        if key & 7 == 2:
            n, at = varint(data, at)
            body, at = data[at:at + n], at + n
        elif key & 7 == 0:
            _, at = varint(data, at)
        else:
            at += 8 if key & 7 == 1 else 4
        yield key >> 3, body, data[begin:at]


def without_weights(data, path=WEIGHTS):
    out = []
    for number, body, whole in fields(data):
        if body is None or number != path[0]:
            out.append(whole)
        elif len(path) > 1:
            inner = without_weights(body, path[1:])
            out.append(length(number << 3 | 2) + length(len(inner)) + inner)
        elif len(body) < SMALL:
            out.append(whole)
    return b"".join(out)
