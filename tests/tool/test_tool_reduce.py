# SPDX-License-Identifier: Apache-2.0
"""gpuprim reduce on files made here, against exact fractions, and on every kind of bad file.

Usage: test_tool_reduce.py <gpuprim> <source tree>, in an empty folder
"""
import csv
import io
import itertools
import json
import math
import os
import random
import struct
import subprocess
import sys
from fractions import Fraction

from exact_results import BITS, FLOATS, PLACES, QUOTIENTS, ROOTS, SAME, TOTALS, expected, result_type, rounded, same
from npy_files import npy, read_npy

tool, tree = sys.argv[1:3]
seed = int(os.environ.get("GPUPRIM_TEST_SEED", "20261122"))
rng = random.Random(seed)
checks = 0

# descr without its order: the library's type, struct's letter
TYPES = {"b1": ("u8", "B"), "u1": ("u8", "B"), "i1": ("s8", "b"), "u2": ("u16", "H"), "i2": ("s16", "h"), "u4": ("u32", "I"),
         "i4": ("s32", "i"), "u8": ("u64", "Q"), "i8": ("s64", "q"), "f2": ("f16", "e"), "f4": ("f32", "f"), "f8": ("f64", "d")}


def run(*words, data=None):
    done = subprocess.run([tool, "reduce", *words], input=data, capture_output=True)
    assert done.returncode == 0 and done.stderr == b"", (words, done)
    return done.stdout.decode()


def refused(text, *words, data=None):
    global checks
    done = subprocess.run([tool, "reduce", *words], input=data, capture_output=True)
    assert done.returncode == 1 and done.stdout == b"" and done.stderr.count(b"\n") == 1, (words, done)
    assert text in done.stderr.decode(), (text, done.stderr)
    checks += 1


def groups(shape, axes):
    """The indexes in C order of the elements of each result, results in C order."""
    kept = [i for i in range(len(shape)) if i not in axes]
    steps = [math.prod(shape[i + 1:]) for i in range(len(shape))]
    for outer in itertools.product(*(range(shape[i]) for i in kept)):
        base = sum(k * steps[i] for k, i in zip(outer, kept))
        yield [base + sum(k * steps[i] for k, i in zip(inner, axes))
               for inner in itertools.product(*(range(shape[i]) for i in axes))]


def some_values(code, count):
    if code == "B" and rng.random() < 0.3:
        return [rng.randrange(2) for _ in range(count)]
    if code in "BbHhIiQq":
        low, high = (0, 256 ** struct.calcsize(code) - 1) if code.isupper() else (-(256 ** struct.calcsize(code) // 2),
                                                                                  256 ** struct.calcsize(code) // 2 - 1)
        if code in "Qq" and rng.random() < 0.5:  # so that few sums pass 64 bits
            low, high = low // 2**36, high // 2**36
        return [rng.choice((low, high, rng.randint(low, high), rng.randint(max(low, -3), 3))) for _ in range(count)]
    most = {"e": 11, "f": 120, "d": 1000}[code]
    shape = rng.choice((0, 1, most))
    draw = lambda: rng.choice((0.0, -0.0, rng.uniform(-1, 1), rng.gauss(1000, 1))) if shape == 0 else (
        rng.uniform(-1, 1) * 2.0 ** rng.randint(-shape, shape))
    values = [struct.unpack(code, struct.pack(code, draw()))[0] for _ in range(count)]
    for odd in (math.nan, math.inf, -math.inf):
        if count and rng.random() < 0.1:
            values[rng.randrange(count)] = odd
    return values


def put(name, descr, code, shape, values, fortran=False, version=1):
    order = {"<": "<", ">": ">", "|": "<", "=": "="}[descr[0]]
    if fortran:
        turned = [range(n) for n in reversed(shape)]
        steps = [math.prod(shape[i + 1:]) for i in range(len(shape))]
        values = [values[sum(k * s for k, s in zip(reversed(index), steps))] for index in itertools.product(*turned)]
    npy(name, descr, shape, struct.pack(order + str(len(values)) + code, *values), None, fortran, version)


def some_type(descr):
    kind, code = TYPES[descr]
    while True:
        rank = rng.randint(0, 4)
        shape = [rng.choice((1, 2, 3, 5, 9, 17)) for _ in range(rank)]
        if rank and rng.random() < 0.1:
            shape[rng.randrange(rank)] = 0
        if math.prod(shape) <= 1500:
            break
    axes = sorted(rng.sample(range(rank), rng.randint(0, rank)))
    values = some_values(code, math.prod(shape))
    order = rng.choice("<>") if descr[1] != "1" else "|"
    fortran, version = rng.random() < 0.4, rng.choice((1, 2, 3))
    put("in.npy", order + descr, code, shape, values, fortran, version)
    ops = [op for op in TOTALS + QUOTIENTS + ROOTS + SAME + PLACES + BITS if kind not in FLOATS or op not in BITS]
    if math.prod(shape) == 0:
        ops = [op for op in ops if op not in ("min", "max", "argmin", "argmax")]
    ops = rng.sample(ops, rng.randint(1, len(ops)))
    asked = rng.choice((None, "f64", "f32", "f16", "bf16", "s64", "u64"))
    if asked is not None and asked not in [result_type(op, kind, asked) for op in ops]:
        asked = None
    words = ["in.npy", "--op", ",".join(ops)]
    if len(axes) < rank or rng.random() < 0.5:
        if axes:
            words += ["--axis", ",".join(str(a - rng.choice((0, rank))) for a in axes)]
        else:
            axes = list(range(rank))
    words += ["--type", asked] if asked else []
    check(words, kind, shape, axes, values, ops, asked)


def check(words, kind, shape, axes, values, ops, asked):
    global checks
    kept = [n for i, n in enumerate(shape) if i not in axes]
    parts = list(groups(shape, axes)) if math.prod(kept) else []
    wanted = {op: [expected(op, [values[i] for i in part], result_type(op, kind, asked)) for part in parts] for op in ops}
    for op in TOTALS:
        to, ends = result_type(op, kind, asked), {"u64": (0, 2**64 - 1), "s64": (-(2**63), 2**63 - 1)}
        if to in ends and any(not ends[to][0] <= value <= ends[to][1] for value in wanted.get(op, ())):
            refused("in.npy: an integer result of", *words)
            return
    got = json.loads(run(*words, "--format", "json"))
    assert (got["type"], got["shape"], got["axes"]) == (kind, list(shape), axes), (words, got)
    assert [r["op"] for r in got["results"]] == ops, words
    table = list(csv.DictReader(io.StringIO(run(*words, "--format", "csv"))))
    assert len(table) == len(parts), words
    for result in got["results"]:
        op, to = result["op"], result_type(result["op"], kind, asked)
        assert (result["type"], result["shape"]) == (to, kept), (words, op, result["type"], to)
        assert len(result["values"]) == len(parts), words
        for value, want, row in zip(result["values"], wanted[op], table):
            if to[0] == "u" and want == -1:
                want %= 2 ** int(to[1:])  # the "and" of nothing
            assert same(value, want), (seed, words, kind, op, to, value, want)
            if to in FLOATS and math.isfinite(want):
                assert same(rounded(Fraction(row[op]), to) or 0.0, want or 0.0), (seed, words, op, row[op], want)
            else:
                assert same(int(row[op]) if to not in FLOATS else row[op], want), (seed, words, op, row[op], want)
            checks += 1


def test_fixed():
    global checks
    values = [0.1] * 7 + [1e16, -1e16, 1e-300]
    put("a.npy", "<f8", "d", (10,), values)
    assert run("a.npy", "--op", "sum") == "sum         %r\n" % math.fsum(values)
    assert run("-", "--op", "sum", data=open("a.npy", "rb").read()) == "sum         %r\n" % math.fsum(values)
    put("b.npy", "<f4", "f", (2, 3), [1, math.nan, 3, 5, 4, -math.inf])
    assert run("b.npy", "--axis", "1", "--op", "sum,argmax,min") == (
        "axis 0   sum  argmax   min\n     0   nan       1   nan\n     1  -inf       0  -inf\n")
    assert run("b.npy", "--axis", "1", "--op", "mean,argmax,min", "--skip-nan") == (
        "axis 0  mean  argmax   min\n     0     2       2     1\n     1  -inf       0  -inf\n")
    assert run("b.npy", "--axis", "0", "--op", "max", "--format", "csv") == "axis1,max\n0,5\n1,nan\n2,3\n"
    put("c.npy", "<f4", "f", (), [0.1])
    assert run("c.npy", "--op", "max,sum") == "max         0.1\nsum         0.10000000149011612\n"
    put("d.npy", "<u8", "Q", (2,), [2**64 - 1, 0])
    got = json.loads(run("d.npy", "--format", "json", "--op", "max"))
    assert got["results"][0]["values"] == [str(2**64 - 1)]
    put("d.npy", "<u8", "Q", (2,), [2**64 - 1, 1])
    refused("d.npy: an integer result of 2 elements passes", "d.npy", "--op", "sum")
    assert run("d.npy", "--op", "sum", "--type", "f64") == "sum         1.8446744073709552e+19\n"
    put("e.npy", "<i4", "i", (0, 3), [])
    assert run("e.npy", "--op", "sum,mean", "--axis", "0") == (
        "axis 1  sum  mean\n     0    0   nan\n     1    0   nan\n     2    0   nan\n")
    assert run("e.npy", "--op", "max", "--axis", "1") == "axis 0  max\n"
    refused("e.npy: results[0]: in has extent 0 on axis 0: no elements have no MAX", "e.npy", "--op", "max", "--axis", "0")
    refused("a.npy: there is no axis 1, it has 1", "a.npy", "--axis", "1")
    refused("b.npy: there is no axis -3, it has 2", "b.npy", "--axis", "0,-3")
    refused("b.npy: axis 1 is named twice", "b.npy", "--axis", "1,-1")
    refused("c.npy: there is no axis 0, it has 0", "c.npy", "--axis", "0")
    refused("b.npy: f32 has no xor", "b.npy", "--op", "sum,xor")
    refused("b.npy: of f32 nothing that is asked for can be s64", "b.npy", "--type", "s64")
    refused("missing.npy: No such file", "missing.npy")
    refused("Is a directory", ".")
    open("ints.raw", "wb").write(struct.pack("<6h", 1, -2, 3, -4, 5, -6))
    assert run("ints.raw", "--shape", "2x3", "--elem", "2", "--op", "sum", "--axis", "0", "--format", "csv") == (
        "axis1,sum\n0,-3\n1,3\n2,-3\n")
    refused("give --shape", "ints.raw")
    refused("'|V3' cannot be reduced", "ints.raw", "--shape", "2x2", "--elem", "3")
    done = subprocess.run([tool, "reduce", "-v", "a.npy"], capture_output=True, text=True)
    assert done.returncode == 0 and "reduce_array_" in done.stderr and " on the processor" in done.stderr, done
    checks += 17


def test_picture():
    global checks
    picture = os.path.join(tree, "examples/data/chelsea.png")
    subprocess.run([tool, "transpose", picture, "turned.npy"], check=True)
    _, (cols, rows, channels), data = read_npy("turned.npy")
    got = json.loads(run(picture, "--op", "mean,std,min,argmin,max,argmax", "--format", "json"))
    assert (got["shape"], got["axes"], got["type"]) == ([rows, cols, channels], [0, 1], "u8")
    for c in range(channels):
        plane = [data[(x * rows + y) * channels + c] for y in range(rows) for x in range(cols)]
        for result in got["results"]:
            assert same(result["values"][c], expected(result["op"], plane, result["type"])), (c, result["op"])
            checks += 1
    whole = json.loads(run(picture, "--axis", "all", "--op", "sum", "--format", "json"))
    assert whole["results"][0]["values"] == [sum(data)]
    grey = os.path.join(os.getcwd(), "grey.png")
    subprocess.run([tool, "window", "-w", "1", picture, grey, "deviation.png"], check=True)
    assert len(json.loads(run(grey, "--format", "json"))["results"][0]["values"]) == 1
    open("cut.png", "wb").write(open(picture, "rb").read()[:1000])
    refused("cut.png: truncated", "cut.png")


def test_bad():
    global checks
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }"
    for descr, data in (("|O", b""), ("<c8", bytes(24)), ("<f16", bytes(48)), ("|S4", bytes(12)), ("<U1", bytes(12)),
                        ("|V4", bytes(12)), ("<M8[ns]", bytes(24)), ("<f8x", bytes(24)), ("?4", b""), ("<f-8", b""), ("", b""),
                        ("<i3", bytes(9)), ("<f1", bytes(3)), ("|b4", bytes(12)), ("<i99999999999999999999", b"")):
        npy("bad.npy", None, None, data, head % (descr, "(3,)"))
        refused("bad.npy: elements of type '%s'" % descr, "bad.npy")
    for text, shape, data in (
            ("needs 24 bytes of elements, it has 23", "(3,)", bytes(23)), ("needs 24 bytes of elements, it has 0", "(3,)", b""),
            ("needs 8 bytes of elements, it has 24", "()", bytes(24)), ("needs 0 bytes of elements, it has 8", "(0,)", bytes(8)),
            ("address space", "(4294967296, 4294967296)", b""), ("address space", "(2305843009213693952,)", b""),
            ("address space", "(9223372036854775807, 9223372036854775807, 0)", b""),
            ("64 bits", "(18446744073709551616,)", b""), ("no tuple", "(-3,)", b""), ("no tuple", "3", b""),
            ("no tuple", "(3 1)", bytes(24)), ("no tuple", "(3.0,)", bytes(24)), ("no tuple", "[3]", bytes(24)),
            ("no tuple", "(1,1,1,1,1,1,1,1,3)", bytes(24)), ("no tuple", "(3,", bytes(24))):
        npy("bad.npy", None, None, data, head % ("<f8", shape))
        refused(text, "bad.npy")
    npy("bad.npy", None, None, b"", head % ("<f8", "(0, 4611686018427387904, 4611686018427387904)"))
    refused("bad.npy: its results pass the address space", "bad.npy", "--axis", "0", "--op", "sum")
    for text, whole in (
            ("no dictionary", "nonsense"), ("no dictionary", " "), ("colon", "{'descr' '<f8'}"), ("no text", "{'des\ncr': 1}"),
            ("several fields", "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,)}"),
            ("unknown key", "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), 'shape': (3,)}"),
            ("neither True nor False", "{'descr': '<f8', 'fortran_order': 1, 'shape': (3,)}"),
            ("comma", "{'descr': '<f8' 'fortran_order': False, 'shape': (3,)}"),
            ("behind", "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)} + {}"),
            ("does not end", "{'descr': '<f8"), ("string is missing", "{'descr': '<f8', "), ("lacks", "{}")):
        npy("bad.npy", None, None, bytes(24), whole)
        refused("bad.npy: ", "bad.npy")
        refused(text, "bad.npy")
    refused("-: malformed .npy: it is cut off", "-", data=b"\x93NUMPY")
    refused("unknown version", "-", data=b"\x93NUMPY\x04\x00" + bytes(100))
    refused("cut off within its head", "-", data=b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + bytes(100))
    put("whole.npy", "<f4", "f", (2, 3), range(6))
    whole = open("whole.npy", "rb").read()
    for cut in range(len(whole)):
        refused("-: ", "-", data=whole[:cut])


def test_mutated():
    """Spoilt files are read or refused in one line, and nothing else."""
    global checks
    put("whole.npy", "<f4", "f", (2, 3), range(6))
    whole = open("whole.npy", "rb").read()
    ends = [0, 0]
    for _ in range(int(os.environ.get("GPUPRIM_TEST_CASES", "600"))):
        data = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(6, 80 if rng.random() < 0.9 else len(data))
            piece = rng.choice((bytes([rng.randrange(256)]), b"9", b"(", b"", b"'", b"{", b",", b"99", b">f8", rng.randbytes(3)))
            data[at:at + rng.randint(0, 2)] = piece
        done = subprocess.run([tool, "reduce", "-", "--op", "sum,min,max,std", "--axis", rng.choice(("all", "0", "-1"))],
                              input=bytes(data), capture_output=True)
        good = done.returncode == 0 and done.stderr == b"" and done.stdout
        bad = done.returncode == 1 and done.stdout == b"" and done.stderr.count(b"\n") == 1 and done.stderr.isascii()
        assert good or bad, (seed, bytes(data), done)
        ends[bool(good)] += 1
        checks += 1
    assert min(ends) > 0, ends


def explain(status, *words):
    global checks
    done = subprocess.run([tool, "explain", "reduce", *words], capture_output=True, text=True)
    assert done.returncode == status and bool(done.stdout) == (status == 0), (words, done)
    checks += 1
    return done.stdout if status == 0 else done.stderr


def test_explain():
    text = explain(0, "--shape", "1000x64", "--axis", "1", "--op", "sum")
    assert text.startswith("reduce SUM of f32: 1000 outputs of 64 elements, rows, "), text
    assert "\n* reduce_array_" in text and "pass" not in text, text
    text = explain(0, "--shape", "30x40x3", "--type", "u8", "--axis", "0,1", "--op", "mean,max,std,argmin")
    assert "reduce MEAN, STDDEV of u8: 3 outputs of 1200 elements, columns, " in text and "pass 1 of 2: one for each" in text
    assert "reduce MAX, ARGMIN of u8: 3 outputs of 1200" in text and text.count("\n* ") == 2, text
    moments = "sum,count,sum_abs,sum_squares,norm,mean,var,std,var_sample"
    assert "; pass 2 of 2: " in explain(0, "--shape", "9", "--op", moments)
    got = json.loads(explain(0, "--shape", "2^10x64", "--type", "f64", "--axis", "-2", "--op", "sum,min", "--format", "json"))
    assert [(p["bytes_read"], p["bytes_written"]) for p in got["passes"]] == [(2**19, 512)] * 2 and "kernel" not in got, got
    rows = list(csv.DictReader(io.StringIO(explain(0, "--shape", "9", "--op", "sum,min,max_abs", "--format", "csv"))))
    assert {row["pass"] for row in rows if row["chosen"] == "true"} == {"1", "2"}, rows
    assert "\n* reduce_many" in explain(0, "--shape", "1000x64", "--axis", "0", "--device", "h200")
    assert "sum of 9 int32" in explain(0, "9")
    assert "chosen: 1 thread" in explain(0, "--shape", "9", "--kernel", "reduce_array_cpu")
    for status, said, *words in (
            (2, "reduce takes N or --shape", "--shape", "9", "9"), (2, "--type and --axis need --shape", "9", "--axis", "0"),
            (2, "--type and --axis need --shape", "9", "--type", "u8"), (2, "'9x' is no shape", "--shape", "9x"),
            (2, "is no shape", "--shape", "1x1x1x1x1x1x1x1x1"), (2, "--type is u8, ", "--shape", "9", "--type", "i4"),
            (2, "reduce takes N", "--op", "sum"), (1, "address space", "--shape", "2^31x2^31x2^31"),
            (1, "address space", "--shape", "2^61"), (1, "there is no axis 2, it has 2", "--shape", "3x3", "--axis", "2"),
            (1, "f32 has no or", "--shape", "3", "--op", "or"), (1, "reduce_cpu is no kernel", "--shape", "3", "--kernel", "reduce_cpu"),
            (1, "no elements have no MIN", "--shape", "3x0", "--op", "min")):
        assert said in explain(status, *words), (said, words)
    for said, *words in (("window takes no --shape", "window", "--shape", "3", "4x4", "3"),
                         ("OP is reduce, window, rearrange, transpose or block, not 'reduce_array'", "reduce_array", "9")):
        done = subprocess.run([tool, "explain", *words], capture_output=True, text=True)
        assert done.returncode == 2 and said in done.stderr, (words, done)


for name in TYPES:
    for _ in range(12):
        some_type(name)
test_fixed()
test_picture()
test_bad()
test_mutated()
test_explain()
print(f"{checks} checks passed, seed {seed}")
