# SPDX-License-Identifier: Apache-2.0
"""gpuprim window --size on files made here, against exact fractions; and against OpenCV's filters, where that is.

Usage: test_tool_window.py <gpuprim> <source tree>, in an empty folder
"""
import array
import os
import random
import subprocess
import sys
from fractions import Fraction

from exact_results import expected
from npy_files import npy, read_npy

tool, tree = sys.argv[1:3]
rng = random.Random(int(os.environ.get("GPUPRIM_TEST_SEED", "20261123")))
BORDERS = "none", "zero", "replicate", "reflect", "reflect_101", "wrap", "shrink"
TYPES = {"|u1": "B", "|i1": "b", "<u2": "H", "<i2": "h", "<u4": "I", "<i4": "i", "<f4": "f"}
checks = 0


def run(*words):
    done = subprocess.run([tool, "window", *words], capture_output=True)
    assert done.returncode == 0 and done.stdout == b"", (words, done)


def refused(status, text, *words):
    global checks
    done = subprocess.run([tool, "window", *words], capture_output=True, text=True)
    assert done.returncode == status and text in done.stderr, (words, done)
    checks += 1


def explained(text, *words, status=0):
    global checks
    done = subprocess.run([tool, "explain", *words], capture_output=True, text=True)
    assert done.returncode == status and text in done.stdout + done.stderr, (words, done)
    checks += 1


def places(x, n, width, border):
    """Where a window along an axis looks; None: at a zero. Or nothing at all, where it may not leave the array."""
    found = []
    for i in range(x - width // 2, x - width // 2 + width):
        while not 0 <= i < n:
            if border == "reflect_101" and n > 1:
                i = -i if i < 0 else 2 * n - 2 - i
            elif border == "reflect":
                i = -1 - i if i < 0 else 2 * n - 1 - i
            elif border == "wrap":
                i %= n
            elif border in ("replicate", "reflect_101"):
                i = 0 if i < 0 else n - 1
            elif border == "none":
                return []
            else:
                break
        if 0 <= i < n:
            found.append(i)
        elif border == "zero":
            found.append(None)
    return found


def small_arrays():
    global checks
    for turn in range(42):
        border, descr = BORDERS[turn % len(BORDERS)], list(TYPES)[turn % len(TYPES)]
        shape = rng.randrange(1, 7), rng.randrange(1, 9)
        size = rng.randrange(1, 8), rng.randrange(1, 8)
        count = shape[0] * shape[1]
        if descr == "<f4":
            values = array.array("f", [rng.gauss(0, 1) * 10 ** rng.randrange(-8, 8) for _ in range(count)])
        else:
            top = 256 ** array.array(TYPES[descr]).itemsize
            low = 0 if TYPES[descr].isupper() else -top // 2
            values = array.array(TYPES[descr], [rng.randrange(low, low + top) for _ in range(count)])
        npy("in.npy", descr, shape, values.tobytes())
        ops = rng.sample(["sum", "sum_squares", "mean", "var", "std", "var_sample", "std_sample", "min", "max"], 4)
        outs = [f"{op}.npy" for op in ops]
        run("--size", f"{size[0]}x{size[1]}", "--border", border, "--op", ",".join(ops), "in.npy", *outs)
        for op, name in zip(ops, outs):
            kind, got_shape, data = read_npy(name)
            same_type = op in ("min", "max")
            assert (kind, got_shape) == (descr if same_type else "<f4", shape), (kind, got_shape)
            got = array.array(TYPES[descr] if same_type else "f", data)
            for i in range(count):
                rows = places(i // shape[1], shape[0], size[0], border)
                cols = places(i % shape[1], shape[1], size[1], border)
                seen = [0 if y is None or x is None else values[y * shape[1] + x] for y in rows for x in cols]
                want = expected(op, seen, descr[1:] if same_type else "f32") if seen else 0
                assert got[i] == want or (got[i] != got[i] and want != want), (op, border, descr, shape, size, i, got[i], want)
        checks += 1


def pictures():
    global checks
    photograph = os.path.join(tree, "examples/data/chelsea.png")
    run("--size", "31x31", "--op", "mean,std,min,max", photograph, "mean.png", "std.npy", "min.png", "max.npy")
    run("--size", "31x31", photograph, "again.npy")
    subprocess.run([tool, "transpose", "mean.png", "t.npy"], check=True)
    subprocess.run([tool, "transpose", "t.npy", "mean.npy"], check=True)
    kind, shape, data = read_npy("again.npy")
    assert (kind, shape) == ("<f4", (300, 451, 3)) and read_npy("max.npy")[:2] == ("|u1", shape)
    assert list(read_npy("mean.npy")[2]) == [round(Fraction(v)) for v in array.array("f", data)]
    checks += 1


def second_opinion():
    """Sums of ints are whole numbers that OpenCV's filters hold in doubles; both are rounded once, to floats."""
    global checks
    try:
        import cv2
        import numpy
    except ImportError:
        print("no cv2: OpenCV was not asked")
        return
    borders = {"reflect_101": cv2.BORDER_REFLECT_101, "reflect": cv2.BORDER_REFLECT, "replicate": cv2.BORDER_REPLICATE,
               "zero": cv2.BORDER_CONSTANT}
    numbers = numpy.random.default_rng(rng.randrange(1 << 32))
    for dtype in "uint8", "uint16", "int16":
        for border, code in borders.items():
            shape = tuple(int(n) for n in numbers.integers(1, 200, 2)) + (int(numbers.integers(1, 4)),)
            size = [int(n) for n in numbers.integers(1, 1 + min(31, shape[0], shape[1]), 2)]
            limits = numpy.iinfo(dtype)
            picture = numbers.integers(limits.min, limits.max, shape, dtype, endpoint=True)
            planes = [numpy.ascontiguousarray(picture[:, :, c]) for c in range(shape[2])]
            for plane in planes:
                numpy.save("plane.npy", plane)
                run("--size", f"{size[0]}x{size[1]}", "--border", border, "--op", "sum,sum_squares,min", "plane.npy",
                    "s.npy", "q.npy", "m.npy")
                anchor = size[1] // 2, size[0] // 2
                for name, of in ("s.npy", cv2.boxFilter), ("q.npy", cv2.sqrBoxFilter):
                    theirs = of(plane, cv2.CV_64F, (size[1], size[0]), anchor=anchor, normalize=False, borderType=code)
                    ours = numpy.load(name)
                    assert numpy.array_equal(ours, theirs.astype(numpy.float32)), (name, dtype, border, shape, size)
                if border != "zero":
                    theirs = cv2.erode(plane, numpy.ones(size, numpy.uint8), anchor=anchor, borderType=code)
                    assert numpy.array_equal(numpy.load("m.npy"), theirs), ("min", dtype, border, shape, size)
            checks += 1
    print(f"OpenCV {cv2.__version__} agrees")


small_arrays()
pictures()
second_opinion()
npy("f8.npy", "<f8", (2, 2), bytes(32))
npy("row.npy", "|u1", (5,), bytes(5))
refused(1, "f8.npy: in: gp_window() does not take f64", "--size", "3x3", "f8.npy", "out.npy")
refused(1, "has no rows", "--size", "3x3", "row.npy", "out.npy")
refused(2, "need as many OUTs, not 1", "--size", "3x3", "--op", "mean,std", "row.npy", "out.npy")
refused(2, "need --size", "--op", "mean", "row.npy", "out.npy")
refused(2, "need --size", "--border", "shrink", "row.npy", "out.npy")
refused(2, "--size is 1x1 or more", "--size", "0x5", "row.npy", "out.npy")
refused(2, "--size is 1x1 or more", "--size", "5x0", "row.npy", "out.npy")
refused(2, "--size takes no --window", "--size", "3x3", "-w", "3", "row.npy", "out.npy")
refused(1, "gp_window() has no ARGMAX", "--size", "3x3", "--op", "argmax", "in.npy", "out.npy")
assert not os.path.exists("out.npy")
explained("window 31 x 31 of 480 x 640 u8, 3 channels", "window", "--shape", "480x640x3", "--window", "31x31", "--type", "u8", "--op", "mean,var")
explained("border shrink: MIN as f32", "window", "--shape", "9x9", "--window", "3x3", "--op", "min", "--border", "shrink")
explained("chosen: 1 thread", "window", "--shape", "9x9", "--window", "3", "--kernel", "window_array_cpu")
explained("--window is for window --shape", "reduce", "--shape", "9", "--window", "3", status=2)
explained("border shrink is for", "window", "9x9", "3", "--border", "shrink", status=2)
explained("it extends along 3 axes", "window", "--shape", "9x9x9", "--window", "3x3x3", status=1)
explained("window_scan is no kernel of window", "window", "--shape", "9x9", "--window", "3", "--kernel", "window_scan", status=1)
run("--size", "1x3", "row.npy", "out.npy")
print(f"{checks} checks of windows passed")
