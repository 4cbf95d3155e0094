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
gp.gp_context_destroy(context)
print("ctypes: all right")
