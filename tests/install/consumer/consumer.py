# SPDX-License-Identifier: Apache-2.0
"""Calls the installed library through ctypes: python3 consumer.py <libgpuprim.so.0>"""
import ctypes
import sys

gp = ctypes.CDLL(sys.argv[1])
gp.gp_last_error.restype = ctypes.c_char_p
gp.gp_reduce_int.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
gp.gp_context_destroy.argtypes = [ctypes.c_void_p]

context = ctypes.c_void_p()
if gp.gp_context_create(ctypes.byref(context), None) != 0:
    sys.exit(gp.gp_last_error().decode())
values = (ctypes.c_int32 * 100000)(*range(100000))
total = ctypes.c_int64(-1)
if gp.gp_reduce_int(context, 0, values, len(values), ctypes.byref(total)) != 0:
    sys.exit(gp.gp_last_error().decode())
if total.value != sum(range(100000)):
    sys.exit(f"sum is {total.value}")
if gp.gp_reduce_int(context, 99, values, len(values), ctypes.byref(total)) != 1 or not gp.gp_last_error():
    sys.exit("an unknown operation was accepted")


class Array(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int32), ("rank", ctypes.c_uint32), ("elem_bytes", ctypes.c_size_t),
                ("extent", ctypes.c_size_t * 8), ("stride", ctypes.c_ssize_t * 8)]


class Result(ctypes.Structure):
    _fields_ = [("op", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("to", Array)]


F32, F64, S64, MEAN, ARGMAX = 11, 12, 8, 13, 7


def view(kind, data, *extent):
    """Elements one behind the other."""
    stride = [1] * len(extent)
    for axis in range(len(extent) - 2, -1, -1):
        stride[axis] = stride[axis + 1] * extent[axis + 1]
    return Array(ctypes.addressof(data), kind, len(extent), 0, (ctypes.c_size_t * 8)(*extent), (ctypes.c_ssize_t * 8)(*stride))


gp.gp_reduce.argtypes = [ctypes.c_void_p, ctypes.POINTER(Array), ctypes.POINTER(Result), ctypes.c_size_t]
table, means, places = (ctypes.c_float * 6)(1e8, 1, -1e8, 2.5, 3, 2.75), (ctypes.c_double * 2)(), (ctypes.c_int64 * 2)()
wanted = (Result * 2)(Result(MEAN, 0, view(F64, means, 2, 1)), Result(ARGMAX, 0, view(S64, places, 2, 1)))
if gp.gp_reduce(context, ctypes.byref(view(F32, table, 2, 3)), wanted, 2) != 0:
    sys.exit(gp.gp_last_error().decode())
if list(means) != [1 / 3, 2.75] or list(places) != [0, 1]:
    sys.exit(f"means are {list(means)}, places {list(places)}")

gp.gp_rearrange.argtypes = [ctypes.c_void_p, ctypes.POINTER(Array), ctypes.POINTER(Array)]


def rearrange(source, target):
    """Copies between two numpy arrays, whatever their strides, as the library sees them."""
    views = []
    for a in source, target:
        stride = [step // a.itemsize for step in a.strides]
        views.append(Array(a.__array_interface__["data"][0], 0, a.ndim, a.itemsize, (ctypes.c_size_t * 8)(*a.shape),
                           (ctypes.c_ssize_t * 8)(*stride)))
    if gp.gp_rearrange(context, ctypes.byref(views[0]), ctypes.byref(views[1])) != 0:
        sys.exit(gp.gp_last_error().decode())


def test_numpy(np):
    """numpy's own shapes and strides: transposed, cropped, reversed, repeated, in Fortran order."""
    cases = 0
    for kind in "u1", "f2", "i4", "f8", "c16", "S5", "U3":
        array = np.frombuffer(bytes(i % 251 for i in range(2 * 3 * 5 * 7 * np.dtype(kind).itemsize)), kind).reshape(2, 3, 5, 7)
        for view in (array, array.T, array.transpose(0, 2, 3, 1), array[:, ::-1, 1:4, ::-2], array[1], array[..., 3:4],
                     np.broadcast_to(array[:, :1], (2, 4, 5, 7)), np.asfortranarray(array), array[:0], array[0, 0, 0, 0:1]):
            for order in "C", "F":
                target = np.zeros(view.shape, kind, order)
                rearrange(view, target)
                if np.ascontiguousarray(target).tobytes() != np.ascontiguousarray(view).tobytes():
                    sys.exit(f"gp_rearrange() and numpy differ: {kind}, {view.shape}, {view.strides}")
                cases += 1
    square = np.arange(4 * 9 * 9, dtype="u2").reshape(4, 9, 9)
    wanted = np.ascontiguousarray(square.transpose(0, 2, 1))
    rearrange(square.transpose(0, 2, 1), square)
    if not np.array_equal(square, wanted):
        sys.exit("a transpose in place and numpy differ")
    print(f"ctypes: {cases} arrays of numpy {np.__version__} rearranged")


try:
    import numpy
except ImportError:
    print("ctypes: not tested with numpy's arrays, as there is no numpy")
else:
    test_numpy(numpy)
gp.gp_context_destroy(context)
print("ctypes: all right")
