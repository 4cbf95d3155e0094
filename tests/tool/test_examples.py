# SPDX-License-Identifier: Apache-2.0
"""The picture examples against PNG files and results made here, with nothing but Python's own library.

Usage: test_examples.py <folder of the programs> <source folder examples> <empty folder to work in>
"""
import math
import os
import random
import re
import stat
import struct
import subprocess
import sys
import zlib
from fractions import Fraction

from exact_results import expected, same
from npy_files import npy

programs, sources, work = sys.argv[1:4]
seed = 20240229
rng = random.Random(seed)
checks = 0


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def pack_row(samples, bits):
    if bits == 16:
        return b"".join(struct.pack(">H", s) for s in samples)
    out, used = bytearray(), 0
    for s in samples:
        if used == 0:
            out.append(0)
        out[-1] |= s << (8 - bits - used)
        used = (used + bits) % 8
    return bytes(out)


ADAM7 = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))


def make_png(pixels, colour, bits=8, interlaced=False, extra=b""):
    """pixels[y][x] is a tuple of samples; colour is PNG's colour type."""
    rows, cols = len(pixels), len(pixels[0])
    raw = b""
    for top, left, down, right in ADAM7 if interlaced else ((0, 0, 1, 1),):
        for y in range(top, rows, down):
            line = [s for x in range(left, cols, right) for s in pixels[y][x]]
            raw += b"\0" + pack_row(line, bits) if line else b""
    head = struct.pack(">IIBBBBB", cols, rows, bits, colour, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + extra + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


def read_png(name):
    """An 8-bit PNG that is not interlaced, as (channels, pixels)."""
    data = open(name, "rb").read()
    at, raw = 8, b""
    while at < len(data):
        (length,), kind = struct.unpack(">I", data[at:at + 4]), data[at + 4:at + 8]
        body = data[at + 8:at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(kind + body)
        if kind == b"IHDR":
            cols, rows, bits, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            assert bits == 8 and not interlaced
        raw += body if kind == b"IDAT" else b""
        at += 12 + length
    assert kind == b"IEND"
    n = {0: 1, 4: 2, 2: 3, 6: 4}[colour]
    raw, before, pixels = zlib.decompress(raw), bytearray(cols * n), []
    for y in range(rows):
        kind, line = raw[y * (cols * n + 1)], bytearray(raw[y * (cols * n + 1) + 1:(y + 1) * (cols * n + 1)])
        for i in range(cols * n):
            left = line[i - n] if i >= n else 0
            corner = before[i - n] if i >= n else 0
            p = left + before[i] - corner
            paeth = min((abs(p - v), k, v) for k, v in enumerate((left, before[i], corner)))[2]
            line[i] = (line[i] + (0, left, before[i], (left + before[i]) // 2, paeth)[kind]) & 255
        pixels.append([tuple(line[x * n:x * n + n]) for x in range(cols)])
        before = line
    return n, pixels


def noise(rows, cols, channels, top=255):
    return [[tuple(rng.randint(0, top) for _ in range(channels)) for _ in range(cols)] for _ in range(rows)]


def put(name, data):
    with open(name, "wb") as file:
        file.write(data)
    return name


def run(*command):
    return subprocess.run([os.path.join(programs, command[0]), *command[1:]], capture_output=True, text=True)


def good(*command):
    done = run(*command)
    assert done.returncode == 0 and done.stderr == "", (command, done)
    return done.stdout


def refused(text, *command):
    """Exit status 1, one line that holds the text, and the folder as it was."""
    global checks
    before = {name: open(name, "rb").read() for name in os.listdir(".") if os.path.isfile(name)}
    done = run(*command)
    assert done.returncode == 1, (command, done)
    assert done.stderr.count("\n") == 1 and done.stderr.endswith("\n") and text in done.stderr, (command, text, done)
    after = {name: open(name, "rb").read() for name in os.listdir(".") if os.path.isfile(name)}
    assert before == after, (command, sorted(set(after) ^ set(before)))
    checks += 1


def transposes(pixels):
    return [list(column) for column in zip(*pixels)]


def check_transpose(name, png, want):
    global checks
    put("in.png", png)
    out = good("transpose_image", "in.png", "out.png")
    assert "transpose: transpose_" in out and " us a call" in out, out
    assert read_png("out.png")[1] == transposes(want), name
    os.unlink("out.png")
    checks += 1


def test_transpose():
    for colour, channels in ((0, 1), (4, 2), (2, 3), (6, 4)):
        for rows, cols in ((1, 1), (1, 70), (45, 1), (33, 65), (128, 96)):
            pixels = noise(rows, cols, channels)
            check_transpose((colour, rows, cols), make_png(pixels, colour), pixels)
        pixels = noise(29, 43, channels)
        check_transpose((colour, "interlaced"), make_png(pixels, colour, interlaced=True), pixels)
    deep = noise(21, 34, 1, 65535)
    check_transpose("16-bit grey", make_png(deep, 0, 16), [[(round(v / 257),) for (v,) in row] for row in deep])
    deep = noise(21, 34, 4, 65535)
    flat = [[tuple(round(v / 257) for v in pixel) for pixel in row] for row in deep]
    check_transpose("16-bit RGBA, interlaced", make_png(deep, 6, 16, True), flat)
    for bits in (1, 2, 4, 8):
        palette = [tuple(rng.randint(0, 255) for _ in range(3)) for _ in range(2**bits)]
        index = noise(19, 27, 1, 2**bits - 1)
        plte = chunk(b"PLTE", bytes(v for entry in palette for v in entry))
        check_transpose(f"palette, {bits} bits", make_png(index, 3, bits, bits == 4, plte),
                        [[palette[i] for (i,) in row] for row in index])
        alpha = bytes(rng.randint(0, 255) for _ in palette)
        clear = [[palette[i] + (alpha[i],) for (i,) in row] for row in index]
        check_transpose(f"palette with alpha, {bits} bits", make_png(index, 3, bits, False, plte + chunk(b"tRNS", alpha)), clear)
        if bits < 8:
            scale = 255 // (2**bits - 1)
            check_transpose(f"grey, {bits} bits", make_png(index, 0, bits), [[(v * scale,) for (v,) in row] for row in index])


def reflect(i, length):
    while length > 1 and not 0 <= i < length:
        i = -i if i < 0 else 2 * (length - 1) - i
    return i if length > 1 else 0


def grey(value):
    return int(min(255, max(0, value)) + 0.5)


def local_stats(pixels, window):
    """The three pictures by definition: mean and deviation are exact and rounded once, the rest is in doubles."""
    rows, cols, k = len(pixels), len(pixels[0]), window // 2
    maps = [[], [], []]
    for y in range(rows):
        lines = [[] for _ in maps]
        for x in range(cols):
            around = [pixels[reflect(y + dy, rows)][reflect(x + dx, cols)]
                      for dy in range(-k, k + 1) for dx in range(-k, k + 1)]
            found = [], [], []
            for c, value in enumerate(pixels[y][x]):
                seen = [p[c] for p in around]
                mean, deviation = (expected(op, seen, "f32") for op in ("mean", "std"))
                found[0].append(round(Fraction(sum(seen), window * window)))  # ties to even
                found[1].append(grey(4 * deviation))
                found[2].append(grey(128 if deviation < 1 else 128 + 48 * (value - mean) / deviation))
            for line, values in zip(lines, found):
                line.append(tuple(values))
        for m, line in zip(maps, lines):
            m.append(line)
    return maps


def test_local_stats():
    global checks
    outputs = ["mean.png", "deviation.png", "normalised.png"]
    for rows, cols, window, channels in ((24, 37, 15, 1), (40, 9, 3, 3), (1, 1, 3, 1), (1, 50, 5, 3), (31, 1, 7, 1),
                                         (6, 8, 31, 3)):
        pixels = noise(rows, cols, channels)
        put("in.png", make_png(pixels, 0 if channels == 1 else 2))
        out = good("local_stats", "-w", str(window), "in.png", *outputs)
        assert "mean and deviation: window_array_" in out, out
        for name, want in zip(outputs, local_stats(pixels, window)):
            assert read_png(name) == (channels, want), (name, rows, cols, window)
        checks += 1
    flat = [[(200, 200, 200)] * 20] * 20
    put("in.png", make_png([[(200, 200, 200)] * 20] * 20, 2))
    good("local_stats", "in.png", *outputs)
    assert [read_png(name)[1] for name in outputs] == [flat, [[(0, 0, 0)] * 20] * 20, [[(128, 128, 128)] * 20] * 20]
    put("in.png", make_png([[(0, 0)] * 20] * 20, 4))  # wholly transparent: white shows
    good("local_stats", "in.png", *outputs)
    assert read_png("mean.png")[1] == [[(255,)] * 20] * 20
    put("in.png", make_png([[(10, 200, 90)] * 20] * 20, 2))
    good("local_stats", "in.png", *outputs)
    assert read_png("mean.png")[1] == [[(10, 200, 90)] * 20] * 20
    put("in.png", make_png([[(10, 200, 90, 131)] * 20] * 20, 6))
    good("local_stats", "in.png", *outputs)
    seen = ((77 * 10 + 150 * 200 + 29 * 90 + 128) // 256 * 131 + 255 * (255 - 131)) / 255
    assert read_png("mean.png")[1] == [[(int(seen + 0.5),)] * 20] * 20
    photograph = os.path.join(sources, "data", "chelsea.png")
    good("local_stats", photograph, *outputs)
    for name in outputs:
        n, pixels = read_png(name)
        assert (n, len(pixels), len(pixels[0])) == (3, 300, 451)
    assert not stat.S_IMODE(os.stat("mean.png").st_mode) & 0o111
    good("local_stats", "mean.png", "mean.png", "deviation.png", "normalised.png")  # onto itself
    for name in outputs:
        os.unlink(name)
    out = good("threshold", "page.png", "black.png")
    assert re.search("^wrong pixels of 96000: 0, by one threshold for the page at least [1-9]", out, re.M), out
    n, pixels = read_png("black.png")
    assert n == 1 and {p for line in pixels for p in line} == {(0,), (255,)}
    checks += 7


def check_statistics(name, columns, width=0):
    """The lines of the program: the library's mean and deviation to 9 digits, extremes and places exact."""
    global checks
    lines = good("statistics", name).splitlines()
    assert len(lines) == len(columns) + 1 and "statistics: reduce_array_" in lines[-1], lines
    for i, (line, values) in enumerate(zip(lines, columns)):
        place = r"\((\d+), (\d+)\)" if width else r"row (\d+)"
        found = re.fullmatch(rf"(?:channel|column) {i}: mean (.*), deviation (.*), least (.*) (?:at|in) {place}, "
                             rf"most (.*) (?:at|in) {place}", line)
        assert found, line
        mean, deviation, least, *where, most = found.groups()[:5 if width else 4] + (found.group(6 if width else 5),)
        where_most = found.groups()[6 if width else 5:]
        at = [int(w[0]) * width + int(w[1]) if width else int(w[0]) for w in (where, where_most)]
        for said, op in ((mean, "mean"), (deviation, "std")):
            want = expected(op, values, "f64")
            assert said == "%.9g" % want or (math.isnan(want) and said == "nan"), (line, want)
        assert at == [expected(op, values, "u64") for op in ("argmin", "argmax")], line
        assert same(float(least), float("%.9g" % values[at[0]])) and same(float(most), float("%.9g" % values[at[1]])), line
        checks += 1


def test_statistics():
    for colour, channels in ((0, 1), (4, 2), (2, 3), (6, 4)):
        for rows, cols in ((1, 1), (7, 1), (33, 65)):
            pixels = noise(rows, cols, channels)
            put("in.png", make_png(pixels, colour))
            check_statistics("in.png", list(zip(*(pixel for row in pixels for pixel in row))), cols)
    for version, (descr, code) in enumerate((("<f4", "f"), ("<f8", "d"), ("|u1", "B"), ("<i2", "h"), ("<u4", "I"), ("<i4", "i"))):
        for rows, cols in ((1, 1), (50, 3), (3, 50)):
            draw = (lambda: rng.gauss(5, 2)) if code in "fd" else (lambda: rng.randrange(100))
            values = struct.unpack(f"{rows * cols}{code}", struct.pack(f"{rows * cols}{code}", *(draw() for _ in range(rows * cols))))
            npy("in.npy", descr, (rows, cols), struct.pack(f"<{rows * cols}{code}", *values), version=version % 3 + 1)
            check_statistics("in.npy", [values[c::cols] for c in range(cols)])
    npy("in.npy", "<f8", (4,), struct.pack("<4d", 1, math.nan, math.inf, 2))
    check_statistics("in.npy", [(1.0, math.nan, math.inf, 2.0)])
    whole = open("in.npy", "rb").read()
    for cut in range(len(whole)):
        put("cut.npy", whole[:cut])
        refused("cut.npy: ", "statistics", "cut.npy")
    for text, descr, shape, data, fortran in (
            ("no little-endian ints or floats", ">f4", (1, 1), bytes(4), False), ("no little-endian", "<c8", (1, 1), bytes(8), False),
            ("no little-endian", "|O", (1, 1), bytes(8), False), ("not in C order", "<f4", (1, 1), bytes(4), True),
            ("one or two axes", "<f4", (1, 1, 1), bytes(4), False), ("one or two axes", "<f4", (), bytes(4), False),
            ("address space", "<f4", (2**32, 2**32), b"", False), ("one or two axes", "<f4", (2**64, 1), b"", False),
            ("8 bytes of elements", "<f4", (1, 2), bytes(7), False), ("8 bytes of elements", "<f4", (2,), bytes(9), False),
            ("no elements", "<f4", (0, 3), b"", False),
            ("16-bit floats", "<f2", (1,), bytes(2), False)):
        npy("bad.npy", descr, shape, data, None, fortran)
        refused(text, "statistics", "bad.npy")
    put("text.npy", b"I am no array")
    refused("text.npy: not an .npy file", "statistics", "text.npy")
    refused("missing.npy: No such file", "statistics", "missing.npy")
    refused("missing.png: No such file", "statistics", "missing.png")
    out = good("statistics", os.path.join(sources, "data", "table.npy"))
    assert out.startswith("column 0: mean 5.95, deviation 3.46398133, least 0 in row 0, most 11.8999996 in row 119\n"), out


def test_links():
    """A link stays, what it leads to is replaced and keeps its permissions."""
    global checks
    put("in.png", make_png(noise(9, 5, 1), 0))
    put("old.png", b"before")
    os.chmod("old.png", 0o600)
    os.symlink("old.png", "link.png")
    good("transpose_image", "in.png", "link.png")
    assert os.path.islink("link.png") and len(read_png("old.png")[1]) == 5
    assert stat.S_IMODE(os.stat("old.png").st_mode) == 0o600
    os.unlink("link.png")
    os.unlink("old.png")
    checks += 1


def test_bad():
    whole = make_png(noise(12, 17, 3), 2)
    put("ok.png", whole)
    put("old.png", b"what was there before")
    bad = {
        "empty.png": (b"", "not a PNG file"),
        "text.png": (b"I am no picture at all\n", "not a PNG file: no PNG signature at byte 0"),
        "jpeg.png": (b"\xff\xd8\xff\xe0\0\x10JFIF" + bytes(100), "not a PNG file"),
        "zeros.png": (whole[:8] + bytes(64), "before byte"),
        "crc.png": (whole[:29] + bytes([whole[29] ^ 1]) + whole[30:], "before byte"),
        "data.png": (whole.replace(b"IDAT", b"IDAT\x55"[:4])[:60] + b"\0\0\0\0" + whole[64:], "before byte"),
        "none.png": (whole[:33] + whole[-12:], "before byte"),
        "noend.png": (whole[:-12], f"noend.png: truncated: it ends at byte {len(whole) - 12}"),
        "wide.png": (whole[:8] + chunk(b"IHDR", struct.pack(">IIBBBBB", 999999, 999999, 8, 2, 0, 0, 0)) + whole[33:], "larger than 4 GiB"),
        "flat.png": (whole[:8] + chunk(b"IHDR", struct.pack(">IIBBBBB", 0, 5, 8, 2, 0, 0, 0)) + whole[33:], "before byte"),
        "short.png": (make_png(noise(2, 17, 3), 2)[:8] + whole[8:33] + make_png(noise(2, 17, 3), 2)[33:], "before byte"),
    }
    for name, (data, text) in bad.items():
        put(name, data)
        refused(f"{name}: ", "transpose_image", name, "new.png")
        refused(text, "transpose_image", name, "old.png")
        refused(text, "local_stats", name, "new1.png", "old.png", "new3.png")
    for length in range(len(whole)):
        put("cut.png", whole[:length])
        refused(f"truncated: it ends at byte {length}" if length >= 8 else "not a PNG file", "transpose_image", "cut.png", "new.png")
    refused("missing.png: No such file", "transpose_image", "missing.png", "new.png")
    refused("missing.png: No such file", "local_stats", "missing.png", "a.png", "b.png", "c.png")
    os.mkdir("folder")
    refused("folder: Is a directory", "transpose_image", "folder", "new.png")
    refused("folder: Is a directory", "transpose_image", "ok.png", "folder")
    refused("nowhere/new.png: No such file", "transpose_image", "ok.png", "nowhere/new.png")
    refused("nowhere/c.png: No such file", "local_stats", "ok.png", "a.png", "old.png", "nowhere/c.png")
    if os.path.exists("/dev/full"):
        before = os.stat("/dev/full")
        refused("/dev/full: No space left", "transpose_image", "ok.png", "/dev/full")
        refused("/dev/full: No space left", "local_stats", "ok.png", "a.png", "old.png", "/dev/full")
        refused("/dev/full: No space left", "local_stats", "ok.png", "/dev/full", "old.png", "c.png")
        assert os.stat("/dev/full").st_rdev == before.st_rdev and stat.S_ISCHR(os.stat("/dev/full").st_mode)
        assert not [name for name in os.listdir("/dev") if ".tmp-" in name]
    refused("./a.png: is to be written twice", "local_stats", "ok.png", "a.png", "b.png", "./a.png")
    for window in ("0", "2", "16", "-3", "259", "x", ""):
        assert run("local_stats", "-w", window, "ok.png", "a.png", "b.png", "c.png").returncode == 2, window
    assert sorted(os.listdir("folder")) == []


os.chdir(work)
test_transpose()
test_local_stats()
test_statistics()
test_links()
test_bad()
print(f"{checks} checks passed, seed {seed}")
