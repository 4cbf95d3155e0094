# SPDX-License-Identifier: Apache-2.0
"""What gpuprim refuses, and in which words.

Usage: test_tool_refusals.py <gpuprim> <source tree>, in an empty folder
"""
import struct
import subprocess
import sys
import zlib

from npy_files import npy, read_npy

tool, tree = sys.argv[1:]


def refused(status, text, *words, **how):
    """That status, the text on standard error, nothing on standard output."""
    done = subprocess.run([tool, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, **how)
    assert (done.returncode, done.stdout) == (status, ""), (words, done)
    assert text in done.stderr and (status == 2 or done.stderr.count("\n") == 1), (words, done.stderr)


def orders():
    """--axes of a rearrangement is one thing for files and for the planner."""
    picture = tree + "/examples/data/chelsea.png"
    explain, rearrange = ("explain", "rearrange", "--shape", "4x5x3"), ("rearrange", "-o", "no.npy", picture)
    for words in (explain, rearrange):
        for order in ("all", "", "0,", "0,x", "0,1,2,3,4,5,6,7,8"):
            refused(2, f"--axes is a list such as 2,0,1 that names every axis, not '{order}'", *words, "--axes", order)
        refused(1, ": --axes names 2 axes, but there are 3", *words, "--axes", "0,1")
        refused(1, ": axis 1 is named twice", *words, "--axes", "0,1,-2")
        refused(1, ": there is no axis 3, it has 3", *words, "--axes", "0,1,3")


def lists():
    """An entry that is empty is no wish for the defaults."""
    for option, good in (("--n", "1000"), ("--shape", "30x30"), ("--window", "3"), ("--elem", "4")):
        for text in ("", ",", ",,", good + ",", "," + good, f"{good},,{good}"):
            refused(2, "'' is no ", "bench", "--quick", option, text)


def heads():
    """Of .npy files nothing is taken that NumPy refuses, and what is taken gets the head that NumPy would write."""
    head = "{'descr': '%s', 'fortran_order': False, 'shape': (6,), }"
    for descr in ("<M8['ns]", "<M8[ns]x", "<M8[]", "<M8[-1s]", "<M8[0s]", "<M8[025s]", "<M8[ns][ns]", "<M8[xs]", "<M4[ns]", "<i4[ns]",
                  "<i4garbage", "<i4[garbage", "<i 4", "<i+4", "<i04", "<i-4", "<i4 ", " <i4", "<i3", "<i16", "<f1", "<f12", "<c4", "<c24",
                  "|b2", "<S-1", "<S", "<V99999999999", "<l8", "<i4\\x20"):
        npy("bad.npy", None, None, bytes(24), head % descr)
        refused(1, "bad.npy: ", "rearrange", "-o", "no.npy", "bad.npy")
    for shape in ("(2 3)", "(6)", "(,)", "(2,,3)", "(,6)", "(06,)", "(2\v,3)", "[6]", "6", "(6,", "(-6,)", "(+6,)", "(6.,)"):
        npy("bad.npy", None, None, bytes(24), head.replace("(6,)", shape) % "<i4")
        refused(1, "bad.npy: malformed .npy: ", "rearrange", "-o", "no.npy", "bad.npy")
    for right, wrong in (("{", "\v{"), (", }", ", 'shape': (6,)}"), (", }", ", 'descr': '<i4'}"), (", }", ", 'fortran_order': True}"),
                         ("False", "Falsey"), ("False", "0"), (", }", ",, }"), (", }", "}#"), (", }", "}\0")):
        npy("bad.npy", None, None, bytes(24), head.replace(right, wrong) % "<i4")
        refused(1, "bad.npy: malformed .npy: ", "rearrange", "-o", "no.npy", "bad.npy")
    for version in (0, 0), (1, 1), (2, 1), (4, 0):
        npy("bad.npy", "<i4", (6,), bytes(24))
        with open("bad.npy", "rb+") as file:
            file.seek(6)
            file.write(bytes(version))
        refused(1, "bad.npy: malformed .npy: ", "rearrange", "-o", "no.npy", "bad.npy")
    machine, other = ("<", ">") if sys.byteorder == "little" else (">", "<")
    for descr, size, anew in (("|i4", 4, machine + "i4"), ("=f8", 8, machine + "f8"), (other + "u2", 2, other + "u2"), ("<u1", 1, "|u1"),
                              (">b1", 1, "|b1"), ("=S5", 5, "|S5"), ("<V7", 7, "|V7"), (">U1", 4, ">U1"), ("|U2", 8, machine + "U2"),
                              (">M8[25us]", 8, ">M8[25us]"), ("|m8[D]", 8, machine + "m8[D]"), ("<M8", 8, "<M8"), ("<c16", 16, "<c16")):
        npy("good.npy", None, None, bytes(range(6 * size)), '\n{ "shape":(6 ,) ,"descr":"%s", "fortran_order" : False}\n' % descr)
        subprocess.run([tool, "rearrange", "-o", "anew.npy", "good.npy"], check=True)
        assert read_npy("anew.npy") == (anew, (6,), bytes(range(6 * size))), descr


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def put(path, data):
    with open(path, "wb") as file:
        file.write(data)


def memory():
    """What a file and its results take is told before it is allocated; one byte less than that is refused."""
    npy("i.npy", "<i4", (2, 3), struct.pack("<6i", *range(6)))  # a head of 128 bytes
    npy("row.npy", "<f4", (1, 100), bytes(400))
    put("i.raw", bytes(48))
    put("i.txt", b"1 2 3\n")
    put("i.bin", bytes(16))
    lines = b"".join(b"\0" + bytes(range(9 * y, 9 * y + 9)) for y in range(2))
    small = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 3, 2, 8, 2, 0, 0, 0))
    put("i.png", small + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))
    for needed, *words in ((152 + 24, "transpose", "i.npy", "o.npy"), (152 + 24, "rearrange", "--flip", "0", "-o", "o.npy", "i.npy"),
                           (152 + 6 * 12, "window", "i.npy", "o.npy", "p.npy"), (152 + 6 * 8, "window", "--size", "3x3", "--op", "sum,max", "i.npy", "o.npy", "p.npy"),
                           (48 + 48, "transpose", "--shape", "3x4", "i.raw", "o.raw"), (48 + 12 * 8, "window", "--shape", "3x4", "i.raw", "o.raw"),
                           (6 + 4 * 4, "sum", "i.txt"), (16 + 4 * 4, "sum", "i.bin"), (152, "sum", "i.npy"), (152, "reduce", "i.npy"),
                           (400 + 100 * 24, "reduce", "--axis", "0", "row.npy"), (18 + 6 * 8, "window", "i.png", "o.png"),
                           (18 + 18, "transpose", "i.png", "o.png")):
        if words[-1].endswith(".png"):  # the file itself, which is read first, is longer
            with open("i.png", "rb") as file:
                needed = max(needed, len(file.read()))
        refused(1, f": takes up to {needed} bytes of memory, more than the {needed - 1} that --memory allows", *words, f"--memory={needed - 1}")
        subprocess.run([tool, *words, f"--memory={needed}"], check=True, stdout=subprocess.DEVNULL)
    with open("i.fifo", "wb") as file:
        file.write(b"1 " * 50000)
    done = subprocess.run(["sh", "-c", 'cat i.fifo | "$0" sum --memory=90000 -', tool], capture_output=True, text=True)
    assert done.returncode == 1 and "-: takes more than the 90000 bytes of memory that --memory allows" in done.stderr, done
    done = subprocess.run(["sh", "-c", 'cat i.fifo | "$0" sum --memory=350K -', tool], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "50000  -\n"), done
    # Few bytes that would take many: neither a pixel nor an element is read.
    put("bomb.png", b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 20000, 20000, 1, 0, 0, 0, 0)) + chunk(b"IDAT", b""))
    refused(1, "bomb.png: takes up to 5200000000 bytes of memory, more than the 4294967296", "window", "bomb.png", "no.npy", "no2.npy")
    refused(1, "bomb.png: takes up to 2000000000 bytes", "window", "--size", "3x3", "--op", "mean", "bomb.png", "no.npy", "--memory=1G")
    refused(1, "bomb.png: takes up to 400000000 bytes", "reduce", "bomb.png", "--memory=256M")
    refused(1, "bomb.png: truncated", "reduce", "bomb.png", "--memory=400000000")
    with open("sparse.raw", "wb") as file:
        file.truncate(5 << 30)
    for words in (("reduce", "--shape", "40960x32768", "sparse.raw"), ("sum", "sparse.raw")):
        refused(1, "sparse.raw: takes up to 5368709120 bytes of memory, more than the 4294967296 that --memory allows", *words)
    refused(2, "--memory: '4X' is no number", "sum", "i.txt", "--memory=4X")


orders()
memory()
heads()
lists()
