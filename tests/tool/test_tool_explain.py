# SPDX-License-Identifier: Apache-2.0
"""gpuprim explain on every GPU known by name, for problems of every operation that are empty or extreme.

Whatever is asked ends in words: an empty problem has no kernel and says so, any other has a plan within the device's
limits or is refused in one line. Usage: test_tool_explain.py <gpuprim>
"""
import itertools
import json
import math
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

BORDERS = ("none", "zero", "replicate", "reflect", "reflect_101", "wrap")
NOTHING = "not considered: there is nothing to compute"


def window_is_empty(rows, cols, window, border):
    return rows == 0 or cols == 0 or (border == "none" and window > cols)


def problems():
    """Words of explain, and whether there is nothing to compute."""
    for n in (0, 1, 31, 2**20 + 1, 2**32, 2**60):
        yield f"reduce {n}", False
    for rows, cols, window in ((0, 7, 1), (7, 0, 1), (0, 0, 3), (5, 6, 7), (1080, 1920, 2000), (1, 1, 1), (1, 1, 2**62),
                               (1, 2**60, 15), (1, 2**40, 2**31), (2**40, 1, 3), (2**30, 2**20, 9), (3, 2**44, 2**43), (2, 2000, 2**62)):
        for border in BORDERS:
            yield f"window {rows}x{cols} {window} --border {border}", window_is_empty(rows, cols, window, border)
    for rows, cols in ((0, 7), (7, 0), (0, 0), (1, 1), (1, 2**50), (2**50, 1), (2**25, 2**25), (363, 2**36), (2**36, 363)):
        for elem in (1, 2, 3, 4, 7, 16, 1025, 2**32 + 12):
            if rows * cols * elem < 2**61:
                yield f"transpose {rows}x{cols} {elem}", rows * cols == 0
    for shape, kept in (("0", 1), ("0x5", 5), ("5x0", 0), ("3x0x4", 0), ("1", 1), (f"{2**50}x3", 3), (f"3x{2**50}", 2**50),
                        (f"1x{2**32 + 1}", 2**32 + 1), ("x".join(["2"] * 8), 2**7)):
        for op in ("sum", "or", "min,argmax", "mean,var,norm"):
            if op != "or":
                yield f"reduce --shape {shape} --axis 0 --type f32 --op {op}", kept == 0
            yield f"reduce --shape {shape} --axis 0 --type u8 --op {op}", kept == 0
    for shape, window in (("0x5", "3x3"), ("5x0", "3x3"), ("4x0x3", "2x2"), ("1x1", "1x1"), (f"1x{2**40}", "1x99"),
                          (f"{2**40}x1", "99x1"), ("9x9", "1000x1"), (f"{2**25}x{2**25}", "65x65")):
        for border, op in itertools.product((*BORDERS, "shrink"), ("sum", "mean,min")):
            empty = "0" in shape.split("x") or (border == "none" and window == "1000x1")
            yield f"window --shape {shape} --window {window} --border {border} --type u8 --op {op}", empty
    for shape in ("0x5x2", "5x0x2", "5x2x0", "1x1x1", f"{2**40}x2x3", f"2x3x{2**40}", f"{2**20}x{2**20}x{2**18}"):
        for axes, kind in itertools.product(("2,1,0", "1,0,2", "0,2,1"), ("u8", "f32", "f64")):
            yield f"rearrange --shape {shape} --axes {axes} --type {kind}", "0" in shape.split("x")


def outputs(matrix, words):
    rows, cols = map(int, matrix.groups())
    return rows * (cols - int(words.split()[2]) + 1 if words.endswith(" none") else cols)


def check(tool, device, words, empty):
    command = [tool, "explain", *words.split(), "--device", device["device"], "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    told = (" ".join(command), done.returncode, done.stderr)
    if done.returncode == 1 and not empty:
        assert done.stderr.count("\n") == 1 and done.stderr.startswith("gpuprim"), told
        return False
    assert done.returncode == 0, told
    answer = json.loads(done.stdout)
    for part in answer.get("passes", [answer]):
        assert (part["kernel"] is None) == empty, told
        for verdict in part["verdicts"]:
            assert (verdict["verdict"] == NOTHING) == empty, (told, verdict)
            if verdict["fits"]:
                tile = re.match(r".*: tile (\d+) x (\d+), \d+ threads, (\d+) block", verdict["verdict"])
                if tile and (matrix := re.match(r"(?:window|transpose) (\d+)x(\d+)", words)):
                    assert math.prod(map(int, tile.groups())) >= outputs(matrix, words), (told, verdict)
                assert 1 <= verdict["grid"] < 2**31, (told, verdict)
                assert 1 <= verdict["threads"] <= answer["device"]["threads_per_block"], (told, verdict)
    return True


def main(tool):
    # A command that fails leaves through exit().
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    devices = json.loads(subprocess.run([tool, "explain", "--devices", "--format", "json"], capture_output=True, check=True,
                                        text=True).stdout)["presets"]
    asked = list(itertools.product(devices, problems()))
    if os.environ.get("GPUPRIM_TEST_REDUCED"):
        asked = asked[::7]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        planned = sum(pool.map(lambda a: check(tool, a[0], *a[1]), asked))
    assert planned > len(asked) / 2, planned
    print(f"explain: {len(asked)} problems on {len(devices)} devices, {planned} planned or empty")


main(sys.argv[1])
