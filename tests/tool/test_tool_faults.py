# SPDX-License-Identifier: Apache-2.0
"""The command gpuprim with its k-th allocation, file call or thread failing, once or for good, for every k.

It must end as without the failure and with the same results, or with status 1 and one line on standard error; and its
outputs must be all as they would have been or all as they were, with no file left over.

Usage: test_tool_faults.py <gpuprim> <source tree> <library to preload> [all], in an empty folder. Without all, few k
"""
import mmap
import os
import random
import struct
import subprocess
import sys

from npy_files import npy

tool, tree, hook = sys.argv[1:4]
every = sys.argv[4:] == ["all"]
rng = random.Random(int(os.environ.get("GPUPRIM_TEST_SEED", "20")))
OURS = "report", "bin"  # files of this test
FEW = 4  # failures of a kind, of a command, and these calls
ALWAYS = [b"fsync"], [b"rename"], [b"link"], [b"realpath"]

REPORT = os.path.abspath("report")
with open(REPORT, "wb") as file:
    file.write(bytes(65536))
report = mmap.mmap(os.open(REPORT, os.O_RDWR), 65536)


def content(path):
    with open(path, "rb") as file:
        return file.read()


def files():
    return {name: content(name) for name in os.listdir(".") if name not in OURS}


def restore(before):
    for name in os.listdir("."):
        if name not in OURS + tuple(before):
            os.unlink(name)
    for name, data in before.items():
        if not os.path.exists(name) or content(name) != data:
            with open(name, "wb") as file:
                file.write(data)


def measures(words):
    return words[0] == "bench" and "--from" not in words


class Run:
    """One run with a failure; k 0: with none."""

    def __init__(self, words, kind, k, good):
        report[:12] = bytes(12)
        path = stand_ins + ":" + os.environ["PATH"]
        environment = dict(os.environ, LD_PRELOAD=hook, FAILING_CALLS=f"{kind} {k} {good} {REPORT}", PATH=path)
        self.words, self.kind, self.k, self.good = words, kind, k, good
        child = subprocess.Popen([tool, *words], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            self.out, self.err = child.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            child.kill()
            self.out, self.err = child.communicate()
        self.status = child.returncode
        if measures(words):  # no times
            self.out = b"\n".join(b",".join(line.split(b",")[:10]) for line in self.out.split(b"\n"))
        self.calls, self.failed, length = struct.unpack("3I", report[:12])
        self.names = report[12:12 + length].split()

    def told(self):
        name = b" ".join(self.names[self.k - 1:self.k]).decode()
        return f"{self.kind} {self.k} ({name}){' for good' if self.good else ''}: {self.words}: status {self.status}, {self.err}"


def wrong_with(got, want, before, after):
    """None, or what is wrong."""
    now = files()
    if got.status == want.status and got.err == want.err:
        return None if got.out == want.out and now == after else "a wrong result, told as a right one"
    if want.status == 2:  # glibc's argp tells less, or "(null)", where it has no memory for the words
        return None if got.status in (1, 2) and got.err.startswith(b"gpuprim") else "a usage error was not told"
    if got.status != 1:
        return "neither as without a failure nor status 1"
    if got.err.count(b"\n") != 1 or not got.err.startswith(b"gpuprim"):
        return "not one line"
    if b"what was in " in got.err:  # and its name: two failures, of which the second is of the way back
        return None
    return None if now in (before, after) else "half written, or something left over"


def command(*words):
    """All its failures; returns how many there were."""
    before = files()
    failures = 0
    # Where the processors cannot be counted one is used, which these tell.
    os.sched_setaffinity(0, {min(processors)} if words[0] in ("info", "explain") else processors)
    for kind in "mft":
        restore(before)
        want = Run(words, kind, 0, 0)
        after = files()
        ks = range(1, want.calls + 1)
        few = set(rng.sample(ks, min(FEW * (10 if every else 1), len(ks)))) | {k for k in ks if want.names[k - 1:k] in ALWAYS}
        if [b"rename"] in (want.names[k - 1:k] for k in ks):
            begun = want.names[:want.names.index(b"rename")]
            assert begun.count(b"fsync") == begun.count(b"mkostemp") > 0, f"renamed before it was on the disk: {words}"
        for good in 0, 1:
            for k in ks if every and not measures(words) else sorted(few):
                restore(before)
                got = Run(words, kind, k, good)
                wrong = wrong_with(got, want, before, after)
                failures += got.failed > 0
                if wrong is not None:
                    wrongs.append(f"{wrong}: {got.told()}")
    restore(before)
    return failures


def prepare():
    npy("a.npy", "<f4", (5, 7), struct.pack("<35f", *range(35)))
    npy("i.npy", "<i4", (6, 9), struct.pack("<54i", *range(54)))
    for name, data in (("a.txt", b"1 2 3\n-4\n"), ("big.bin", rng.randbytes(1 << 20)), ("b.bin", struct.pack("<4i", 5, 6, 7, 8)), ("r.raw", bytes(range(48))),
                       ("o.npy", b"before"), ("p.npy", b"before too"), ("o.png", b"before"), ("o.svg", b"before")):
        with open(name, "wb") as file:
            file.write(data)
    subprocess.run([tool, "rearrange", "--crop", "0:9,0:11", "-o", "c.png", tree + "/examples/data/chelsea.png"], check=True)
    with open("d.json", "wb") as file:
        file.write(subprocess.check_output([tool, "explain", "--devices", "--format", "json"]).replace(b'"presets"', b'"devices"'))
    for key in b'"device":', b'"source":':
        data = content("d.json").split(b"\n")
        with open("d.json", "wb") as file:
            file.write(b"\n".join(line for line in data if not line.strip().startswith(key)).replace(b",\n    }", b"\n    }"))
    with open("s.csv", "w") as file:
        file.write("op,who,role,n,rows,cols,window,gbps,series\n# Made-up GPU\n")
        for n in range(1, 5):
            file.write(f'sum,"read",floor,{n},0,0,0,2.5,"sum"\nsum,"ours",ours,{n},0,0,0,1.5,"sum"\n')
    with open("run.json", "w") as file:
        line = '{"group": "reduce", "operation": "reduce", "kernel": "%s", "shape": "%d ints", "n": %d, "gb_s": 2.5}'
        lines = ", ".join(line % (kernel, n, n) for n in (10, 20) for kernel in ("read", "ours"))
        file.write('{"schema": 1, "command": "gpuprim bench", "device": {"name": "x"}, "lines": [%s]}' % lines)


processors = os.sched_getaffinity(0)
stand_ins = os.path.abspath("bin")
os.mkdir(stand_ins)
with open(stand_ins + "/gnuplot", "w") as file:
    file.write("#!/bin/sh\ncat\n")
os.chmod(stand_ins + "/gnuplot", 0o755)
prepare()
wrongs, failures = [], 0
for text in (
        "info", "info --format csv", "info --format json", "kernels", "kernels --format csv", "kernels --format json",
        "explain --devices", "explain --devices --format json", "explain reduce 2^20", "explain reduce 2^20 --device d.json",
        "explain window 64x64 5 --device h200 --format json", "explain transpose 64x64 4 --device h200 --format csv",
        "explain block 512 11 --device D", "explain block 512 11 --device D --format json",
        "explain reduce --shape 100x10 --axis 1 --op mean,max --device h200 --format json",
        "explain window --shape 64x64 --window 3x3 --op mean,min", "explain rearrange --shape 8x9x3 --axes 2,0,1",
        "sum a.txt b.bin i.npy", "sum big.bin", "sum a.txt --op min --format json", "sum b.bin --format csv",
        "reduce a.npy", "reduce a.npy --axis 0 --op sum,argmax --format json", "reduce c.png --format csv",
        "reduce --shape 3x4 r.raw", "window i.npy o.npy", "window -w 3 i.npy o.npy p.npy", "window -w 3 c.png o.png",
        "window -w 3 c.png o.png q.npy", "window --size 3x3 c.png o.png p.npy", "window --size 3x3 --op min,max,mean a.npy o.npy p.npy q.npy",
        "transpose i.npy o.npy", "transpose --shape 512x512 big.bin o.npy", "transpose c.png o.png", "transpose --shape 3x4 r.raw -", "transpose i.npy new.npy",
        "rearrange --axes 1,0 -o o.npy i.npy", "rearrange --axes 2,0,1 -o new.npy c.png", "rearrange --flip 0 --crop 1:3 -o o.png c.png",
        "bench reduce window --quick --rounds 1 --n 33 --shape 5x40 --format csv", "bench --from s.csv --plot o.svg", "bench --from run.json --plot new.svg",
        "transpose i.npy", "explain", "sum nosuch.txt", "window i.npy nosuch/o.npy", "reduce i.npy --axis 7", "nosuch"):
    failures += command(*text.split())
print(f"{failures} failures, {len(wrongs)} of them ended wrong")
for wrong in wrongs[:20]:
    print(wrong)
assert not wrongs and failures > (5000 if every else 100)
