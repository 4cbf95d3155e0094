# SPDX-License-Identifier: Apache-2.0
"""NumPy's .npy files, written and read without NumPy."""
import struct


def npy(path, descr, shape, data, head=None, fortran=False, version=1):
    text = head or "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, fortran, tuple(shape))
    prefix = 10 if version == 1 else 12
    text += " " * (-(prefix + len(text) + 1) % 64) + "\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY" + bytes([version, 0]) + length + text.encode() + data)


def read_npy(path):
    raw = open(path, "rb").read()
    assert raw[:8] == b"\x93NUMPY\x01\x00"
    length = struct.unpack("<H", raw[8:10])[0]
    assert (10 + length) % 64 == 0
    head = eval(raw[10:10 + length].decode())
    return head["descr"], head["shape"], raw[10 + length:]
