# SPDX-License-Identifier: Apache-2.0
"""What test_tool.sh leaves to Python: terminals, .npy and PNG files, the bench's numbers. Standard library alone."""
import array
import csv
import json
import math
import os
import pty
import random
import re
import signal
import struct
import subprocess
import sys
import zlib

from exact_results import expected
from npy_files import npy, read_npy


def on_terminal(command, status=0, **environment):
    """Output of a command whose standard output and error are a terminal of 80 columns."""
    variables = dict(os.environ, TERM="xterm", **environment)
    main, side = pty.openpty()
    import fcntl
    import termios

    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=side, stderr=side, env=variables)
    os.close(side)
    text = b""
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    assert child.wait() == status, text
    return text.decode(errors="surrogateescape")


def obeyed(tool):
    """Of control characters in files and paths none reaches a terminal; what is no terminal gets them as they are."""
    evil = "\x1b[31mred\x07\x7f\u009b31m\u0085\u00e9"
    with open("evil.json", "w") as file:
        file.write(json.dumps({"name": evil, **dict.fromkeys(("threads_per_sm", "regs_per_sm", "smem_per_sm", "blocks_per_sm"), 2048)}))
    path, lone = (evil + ".txt").encode(), b"\xc2\xa0\x9b31m\xe2\x82\xac.txt"
    for name in path, lone:
        with open(name, "wb") as file:
            file.write(b"7")
    missing = b"not " + path
    for status, *words in ((0, tool, "explain", "block", "64", "--device", "evil.json"), (0, tool, "sum", path), (0, tool, "sum", lone),
                           *((0, tool, "sum", path, "--format", how) for how in ("csv", "json")), (1, tool, "sum", missing),
                           (1, tool, "explain", "reduce", "9", "--device", missing), (2, tool, path),
                           (2, tool, "window", "--values", "sum", path, path + b".png")):
        text = on_terminal(words, status, NO_COLOR="1")
        text = text.replace("\x7f", "") if "json" in words else text  # JSON has it as it is, and no terminal heeds it
        found = re.search("[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\udc80-\udc9f]", text)
        assert found is None and ("red" in text or "31m" in text), (words, text)
    assert "\u00a0?31m\u20ac.txt" in on_terminal([tool, "sum", lone]), "what is no control character was changed"
    for how, want in (("text", b"7  " + path), ("csv", path + b",sum,")):
        assert want in subprocess.check_output([tool, "sum", path, "--format", how])
    assert json.loads(subprocess.check_output([tool, "sum", path, "--format", "json"]))["results"][0]["file"] == evil + ".txt"


def test_terminal(tool):
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError as error:  # a bare root without /dev/pts
        print(f"not tested: what a terminal shows, as there is none to be had ({error})")
        return
    variables = {key: os.environ.pop(key) for key in ("NO_COLOR",) if key in os.environ}
    for words in ("info", "kernels", "explain window 4096x4096 15 --device h200", "explain --devices",
                  "explain block 512 11 --device D", "bench ladder --quick --n 1000 --shape 30x30"):
        coloured = on_terminal([tool, *words.split()])
        plain = on_terminal([tool, *words.split()], NO_COLOR="1")
        for line in re.sub(r"\x1b\[[0-9;]*[mK]", "", plain).replace("\r\n", "\n").split("\n"):
            line = line.rsplit("\r", 1)[-1]
            assert len(line) <= 80, f"{words}: {len(line)} columns: {line}"
        assert "\x1b[1m" not in plain, words
        assert ("\x1b[1m" in coloured) == (words.split()[0] != "info" and "block" not in words), words
        assert ("%" in plain) == words.startswith("bench"), f"{words}: progress bar"
    os.environ.update(variables)
    obeyed(tool)


def run(tool, *words):
    done = subprocess.run([tool, *words], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == "", (words, done)


def refused(text, *words):
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 1 and text in done.stderr and done.stderr.count("\n") == 1, (words, done)


def transposes(tool):
    rng = random.Random(7)
    for descr, size in (("|u1", 1), ("<f2", 2), ("<i4", 4), (">f8", 8), ("<c16", 16), ("|S5", 5), ("<U3", 12), ("<M8[ns]", 8)):
        for shape in ((3, 5), (1, 17), (64, 33), (0, 4), (4, 3, 2)):
            elem = size * math.prod(shape[2:])
            data = rng.randbytes(elem * shape[0] * shape[1])
            npy("in.npy", descr, shape, data)
            run(tool, "transpose", "in.npy", "out.npy")
            got = read_npy("out.npy")
            want = b"".join(data[(r * shape[1] + c) * elem:][:elem] for c in range(shape[1]) for r in range(shape[0]))
            assert got == (descr, (shape[1], shape[0], *shape[2:]), want), (descr, shape)
            run(tool, "transpose", "out.npy", "back.npy")
            assert open("back.npy", "rb").read()[10:] == open("in.npy", "rb").read()[10:] or not data, (descr, shape)
    open("in.raw", "wb").write(bytes(range(24)))
    run(tool, "transpose", "--shape", "2x4", "--elem", "3", "in.raw", "out.raw")
    assert open("out.raw", "rb").read() == bytes(k * 12 + c * 3 + i for c in range(4) for k in range(2) for i in range(3))


def rearranged(data, size, shape, fortran, crop, flip, axes):
    """Shape and elements of an array that is cropped, flipped and permuted, element by element."""
    steps, step = [0] * len(shape), size
    for axis in range(len(shape)) if fortran else reversed(range(len(shape))):
        steps[axis] = step
        step *= shape[axis]
    ranges = [range(*crop[axis]) for axis in range(len(shape))]
    ranges = [values[::-1] if axis in flip else values for axis, values in enumerate(ranges)]
    places = [0]
    for axis in axes:
        places = [place + i * steps[axis] for place in places for i in ranges[axis]]
    return tuple(len(ranges[axis]) for axis in axes), b"".join(data[place:place + size] for place in places)


def rearranges(tool):
    rng = random.Random(11)
    for turn in range(60):
        descr, size = rng.choice((("|u1", 1), ("<f2", 2), (">i4", 4), ("<f8", 8), ("|S5", 5), ("<U3", 12)))
        shape, fortran = tuple(rng.randint(0 if turn % 10 == 0 else 1, 6) for _ in range(rng.randint(0, 5))), turn % 4 == 3
        data = rng.randbytes(size * math.prod(shape))
        crop = [sorted((rng.randint(0, n), rng.randint(0, n))) if turn % 3 == 0 else [0, n] for n in shape]
        flip = [axis for axis in range(len(shape)) if rng.random() < 0.3]
        axes = rng.sample(range(len(shape)), len(shape))
        words = ["--axes", ",".join(str(a - len(shape) if a % 2 else a) for a in axes)] if shape else []
        words += ["--flip", ",".join(map(str, flip))] if flip else []
        words += ["--crop", ",".join(f"{a}:{b if b < n else ''}" for (a, b), n in zip(crop, shape))] if turn % 3 == 0 and shape else []
        npy("in.npy", descr, shape, data, fortran=fortran)
        run(tool, "rearrange", *words, "-o", "out.npy", "in.npy")
        assert read_npy("out.npy") == (descr, *rearranged(data, size, shape, fortran, crop, flip, axes)), (words, shape)
    data = random.Random(12).randbytes(20 * 30 * 3)
    write_png("in.png", 20, 30, data)
    run(tool, "rearrange", "--axes=2,0,1", "-o", "planes.npy", "in.png")
    assert read_npy("planes.npy") == ("|u1", (3, 20, 30), data[::3] + data[1::3] + data[2::3])
    run(tool, "rearrange", "--axes=1,2,0", "-o", "again.png", "planes.npy")
    run(tool, "rearrange", "-o", "again.npy", "again.png")
    assert read_npy("again.npy") == ("|u1", (20, 30, 3), data)
    for text, *words in (("names 2 axes, but there are 3", "--axes=0,1"), ("axis 1 is named twice", "--axes=0,1,1"),
                         ("there is no axis 3", "--axes=0,1,3"), ("there is no axis 5", "--flip=5"),
                         ("31 is not within 0 to 20", "--crop=2:31"), ("is no FIRST:END", "--crop=3"),
                         ("is no FIRST:END", "--crop=3:2"), ("more ranges than the 3 axes", "--crop=:,:,:,:"),
                         ("-1 is not within", "--crop=-1:3"), ("is no FIRST:END", "--crop=1:2,")):
        refused(text, tool, "rearrange", *words, "-o", "no.npy", "in.png")
    assert not os.path.exists("no.npy")


def window_of(row, x, width, border):
    n, values = len(row), []
    for i in range(x - width // 2, x - width // 2 + width):
        if 0 <= i < n:
            values.append(row[i])
        elif border == "none":
            return None
        elif border == "reflect_101":
            period = max(2 * n - 2, 1)
            i %= period
            values.append(row[min(i, period - i) if n > 1 else 0])
        elif border == "reflect":
            i %= 2 * n
            values.append(row[min(i, 2 * n - 1 - i)])
        elif border == "wrap":
            values.append(row[i % n])
        elif border == "replicate":
            values.append(row[0 if i < 0 else n - 1])
        else:
            values.append(0)
    return values


def windows(tool):
    rng = random.Random(8)
    types = {"|u1": "B", "|i1": "b", "<i2": "h", ">i4": "i", "<i4": "i", "<i8": "q", "<u4": "I", "|b1": "B"}
    for descr, code in types.items():
        rows, cols = 4, 37
        top = 2 if descr == "|b1" else 100
        image = [[rng.randrange(0 if code in "BI" else -top, top) for _ in range(cols)] for _ in range(rows)]
        flat = [value for row in image for value in row]
        order = ">" if descr[0] == ">" else "<"
        npy("in.npy", descr, (2, 2, cols), struct.pack(order + str(len(flat)) + code, *flat))
        for border, width in (("none", 5), ("reflect_101", 15), ("replicate", 4), ("zero", 80)):
            run(tool, "window", "--border", border, "-w", str(width), "in.npy", "sum.npy", "square.npy")
            for path, power in (("sum.npy", 1), ("square.npy", 2)):
                kind, shape, data = read_npy(path)
                assert (kind, shape) == ("<f4", (2, 2, cols))
                want = []
                for row in image:
                    for x in range(cols):
                        seen = window_of(row, x, width, border)
                        want.append(float(sum(v ** power for v in seen)) if seen is not None else 0.0)
                assert list(array.array("f", data)) == want, (descr, border, width, path)
    npy("big.npy", "<i8", (2,), struct.pack("<2q", 5, 1 << 31))
    refused("element 1 does not fit in 32 bits", tool, "window", "big.npy", "out.npy")
    refused("element 1 does not fit in 32 bits", tool, "sum", "big.npy")
    npy("float.npy", "<f4", (2,), bytes(8))
    refused("'<f4' are no integers", tool, "sum", "float.npy")


def deviations(tool):
    """Means and deviations: no square of a common offset is left to cancel."""
    rng = random.Random(11)
    near = lambda low, high: [rng.randrange(low, high + 1) for _ in range(61)]
    ends = (-(1 << 31), (1 << 31) - 1)
    images = [[60000] * 61, [ends[0]] * 61, [ends[1]] * 61, near(0, 255), near(59000, 59255),
              near(ends[0], ends[0] + 255), near(-1255, -1000), near(-40000, 60000), near(1 << 20, 1 << 30), near(*ends),
              [1] * 60 + [0], near(0, 9)[:-1] + [ends[1]]]
    npy("in.npy", "<i4", (len(images), 61), struct.pack(f"<{61 * len(images)}i", *(v for row in images for v in row)))
    for border in ("none", "zero", "replicate", "reflect", "reflect_101", "wrap"):
        for width in (1, 2, 15, 60, 61, 200):
            run(tool, "window", "--values", "mean", "--border", border, "-w", str(width), "in.npy", "m.npy", "d.npy")
            means, wide = (array.array("f", read_npy(path)[2]) for path in ("m.npy", "d.npy"))
            for y, row in enumerate(images):
                for x in range(61):
                    seen = window_of(row, x, width, border) or [0]
                    want = expected("mean", seen, "f32"), expected("std", seen, "f32")
                    got = means[61 * y + x], wide[61 * y + x]
                    assert got == want, (border, width, row, x, got, want)


def bad_files(tool):
    good = bytes(24)
    for text, head, data in (
            ("unknown key", "{'descr': '<i4', 'fortran_order': False, 'shape': (6,), 'more': 1}", good),
            ("lacks descr", "{'fortran_order': False, 'shape': (6,)}", good),
            ("no dictionary", "nonsense", good),
            ("several fields", "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (6,)}", good),
            ("'|O8' are not read", "{'descr': '|O8', 'fortran_order': False, 'shape': (3,)}", good),
            ("needs 24 bytes of elements, it has 23", None, good[:-1]),
            ("needs 24 bytes of elements, it has 25", None, good + b"x"),
            ("Fortran order", "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3)}", good),
            ("address space", "{'descr': '<i4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", good),
            ("passes 64 bits", "{'descr': '<i4', 'fortran_order': False, 'shape': (99999999999999999999,)}", good)):
        npy("bad.npy", "<i4", (6,), data, head)
        refused(text, tool, "sum", "bad.npy")
    npy("two.npy", "<i4", (6,), struct.pack("<6i", *range(6)), version=2)
    assert subprocess.check_output([tool, "sum", "two.npy"]) == b"15  two.npy\n"
    whole = open("two.npy", "rb").read()
    for cut in range(6, len(whole)):
        open("cut.npy", "wb").write(whole[:cut])
        refused("cut.npy: ", tool, "sum", "cut.npy")


def write_png(path, rows, cols, data):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    lines = b"".join(b"\0" + data[y * cols * 3:(y + 1) * cols * 3] for y in range(rows))
    open(path, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", cols, rows, 8, 2, 0, 0, 0)) +
                           chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


def pictures(tool, tree):
    data = random.Random(9).randbytes(20 * 30 * 3)
    write_png("in.png", 20, 30, data)
    run(tool, "transpose", "in.png", "turned.png")
    run(tool, "transpose", "turned.png", "back.npy")
    assert read_npy("back.npy") == ("|u1", (20, 30, 3), data)
    run(tool, "window", "-w", "9", os.path.join(tree, "examples/data/chelsea.png"), "mean.png", "deviation.png")
    run(tool, "window", "-w", "9", "--values", "mean", os.path.join(tree, "examples/data/chelsea.png"), "mean.npy", "deviation.npy")
    for name in ("mean", "deviation"):
        run(tool, "transpose", name + ".png", "t.npy")
        run(tool, "transpose", "t.npy", "t.npy")
        kind, shape, data = read_npy(name + ".npy")
        assert kind == "<f4" and read_npy("t.npy")[1] == shape
        assert list(read_npy("t.npy")[2]) == [min(int(v + 0.5), 255) for v in array.array("f", data)], name
    refused("a picture is of bytes", tool, "transpose", "mean.npy", "no.png")
    open("cut.png", "wb").write(open("in.png", "rb").read()[:100])
    refused("cut.png: truncated", tool, "transpose", "cut.png", "no.png")
    assert not os.path.exists("no.png")


def interrupted(tool):
    """A signal while a slow output is being written ends the command and leaves nothing."""
    open("large.raw", "wb").write(bytes(1 << 20))
    os.mkfifo("slow.raw")
    child = subprocess.Popen([tool, "transpose", "--shape", "512x512", "large.raw", "slow.raw"])
    reader = os.open("slow.raw", os.O_RDONLY)
    os.read(reader, 1)
    child.send_signal(signal.SIGTERM)
    while os.read(reader, 1 << 20):
        pass
    os.close(reader)
    assert child.wait() == -signal.SIGTERM


def test_files(tool, tree):
    transposes(tool)
    rearranges(tool)
    windows(tool)
    deviations(tool)
    bad_files(tool)
    pictures(tool, tree)
    interrupted(tool)


def test_bench(path):
    rows = list(csv.DictReader(open(path)))
    seen = set()
    for row in rows:
        us, low, high = float(row["us"]), float(row["us_low"]), float(row["us_high"])
        assert 0 < low <= us <= high, row
        if row["operation"] == "reduce":
            moved = int(row["n"]) * 4 + 8
        elif row["operation"] == "reduce_array":
            moved = int(row["n"]) * 4 + 4
        elif row["operation"] == "rearrange":
            moved = int(row["n"]) * 8
        elif row["operation"] == "boxes":
            moved = int(row["n"]) * 9
        else:
            cells = int(row["rows"]) * int(row["cols"])
            moved = cells * 2 * int(row["elem_bytes"] or 0)
            if row["operation"] == "window":
                moved = cells * 4 + int(row["rows"]) * (int(row["cols"]) - int(row["window"]) + 1) * 8
        assert math.isclose(float(row["gb_s"]), moved / us / 1e3, rel_tol=1e-6), row
        key = tuple(row[k] for k in ("group", "operation", "n", "rows", "cols", "window", "elem_bytes"))
        if key not in seen:
            assert row["floor"] == "true" and float(row["share"]) == 1, row
            seen.add(key)
            floor, first, before = us, None, None
            continue
        assert row["floor"] == "false" and math.isclose(float(row["share"]), floor / us, rel_tol=1e-6), row
        if row["group"] == "ladder" and first is not None:
            assert math.isclose(float(row["step"]), before / us, rel_tol=1e-6), row
            assert math.isclose(float(row["total"]), first / us, rel_tol=1e-6), row
        else:
            assert row["step"] == "", row
        first, before = first or us, us
    # reduce 2, window 2 x 2, transpose 2 x 2, and the ladder the same again; reduce_array 2, rearrange 2,
    # boxes 2 x 2
    assert len(seen) == 28, len(seen)
    of = ("reduce", 2), ("reduce_array", 2), ("window", 4), ("boxes", 4), ("transpose", 4), ("rearrange", 2)
    for group, lines in of:
        assert sum(r["chosen"] == "true" and r["group"] == group for r in rows) == lines


def test_same_plot(live, saved):
    """The same commands to gnuplot, but for the output's name and the digits that the file has fewer of."""
    lines = [open(path).read().splitlines() for path in (live, saved)]
    assert len(lines[0]) == len(lines[1]) > 50
    numbers = 0
    for a, b in zip(*lines):
        words = [re.split(r"[ :\]]", line) for line in (a, b)]
        assert len(words[0]) == len(words[1]), (a, b)
        for x, y in zip(*words):
            if x != y:
                assert math.isclose(float(x), float(y), rel_tol=1e-8), (a, b)
                numbers += 1
    assert numbers > 10, "they came from the same digits: not from the file"


globals()["test_" + sys.argv[1]](*sys.argv[2:])
