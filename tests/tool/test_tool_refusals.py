# SPDX-License-Identifier: Apache-2.0
"""What gpuprim refuses, and in which words.

Usage: test_tool_refusals.py <gpuprim> <source tree>, in an empty folder
"""
import subprocess
import sys

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


orders()
heads()
lists()
