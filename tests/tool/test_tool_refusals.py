# SPDX-License-Identifier: Apache-2.0
"""What gpuprim refuses, and in which words.

Usage: test_tool_refusals.py <gpuprim> <source tree>, in an empty folder
"""
import subprocess
import sys

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


orders()
lists()
