#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Takes away each line in which the library waits for the GPU, or for the threads that copy to it, one at a time: a test on
made-up GPUs must fail then. Not part of the suite: it builds each time, in the tree itself. Needs no GPU.

Usage: mutate_waits.py <build folder, configured with CUDA and tests> [a part of the names of what to take away]...
Prints a table; 1: no test fails for one of them, or one fails for a line that is known to make no difference.
"""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "check"))
from mutants import ROOT, changed, text_of, try_all

TESTS = ["test_late_order", "test_late", "test_staged_move", "test_staged", "test_auto"]

SEARCHED = "src"
LEFT_OUT = "src/device/study"  # kernels to be compared with, which the made-up GPUs do not run

# A call that waits, and what it is replaced by: the answer that there is nothing to wait for.
CALLS = {
    "cudaStreamSynchronize": "cudaSuccess",
    "cudaStreamWaitEvent": "cudaSuccess",
    "cudaEventRecord": "cudaSuccess",
    "cudaEventQuery": "cudaSuccess",
    "is_past": "*({1}) = true, GP_OK",
    "gp_chunk_is_copied": "true",
    "gp_gpu_await": "GP_OK",
    "wait_for_stream": "GP_OK",
    "wait_for_slot": "GP_OK",
}

# One line that waits in two ways, and counts that keep a ring's or a slot's next user back: file, text, replacement.
OTHERS = [
    ("src/device/stage/run.c", "GP_CUDA(cudaStreamWaitEvent(stream,", "if (!w->outward) GP_CUDA(cudaStreamWaitEvent(stream,"),
    ("src/device/stage/run.c", "GP_CUDA(cudaStreamWaitEvent(stream,", "if (w->outward) GP_CUDA(cudaStreamWaitEvent(stream,"),
    ("src/device/stage/run.c", "*may = number < r->receiving.number + slots;", "*may = true;"),
    ("src/device/stage/run.c", "|| number < r->taken + slots)", "|| true)"),
    ("src/device/stage/run.c", "if (r->filled - r->sent < GP_RING_CHUNKS)", "if (true)"),
    ("src/device/stage/run.c", "w->outward ? r->received - r->emptied < GP_RING_CHUNKS :", "w->outward ? true :"),
    ("src/device/driver.c", "driver->stream_wait(stream) == CUDA_SUCCESS", "true"),
]

# Calls without which all bytes are right: they make later questions to the driver quicker. File, what ends with the call.
HARMLESS = [
    ("src/device/memory.c", "GP_CUDA(cudaEventRecord(gpu->settled, stream)"),
    ("src/device/stage/run.c", "GP_CUDA(cudaStreamSynchronize(r->gpu->side)"),
    ("src/device/stage/whole.c", "GP_TRY(gp_gpu_settle(gpu, gpu->stream));\n        GP_CUDA(cudaStreamSynchronize(gpu->stream)"),
]


def call_at(text, begin):
    """The end of the call whose name begins there, and its arguments."""
    depth, at, arguments = 0, text.index("(", begin), []
    start = at + 1
    while True:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0 or (depth == 1 and text[at] == ","):
            arguments.append(text[start:at].strip())
            start = at + 1
        if depth == 0:
            return at + 1, arguments
        at += 1


def mutants():
    """Name, file, the file's text with one wait less, whether that does harm."""
    for folder, _, names in sorted(os.walk(os.path.join(ROOT, SEARCHED))):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), ROOT)
            if not name.endswith((".c", ".cu")) or path.startswith(LEFT_OUT):
                continue
            text = text_of(path)
            for found in re.finditer(r"\b(" + "|".join(CALLS) + r")\(", text):
                line = text[text.rindex("\n", 0, found.start()) + 1 : found.start()]
                if re.match(r"^(static )?\w+ $|^ ?[/*]", line):  # a definition or a comment
                    continue
                end, arguments = call_at(text, found.start())
                used = "".join(f"(void)({name}), " for name in [found[1], *arguments])  # compilers warn of what is not
                mutated = f"{text[:found.start()]}({used}{CALLS[found[1]].format(*arguments)}){text[end:]}"
                number = text.count("\n", 0, found.start()) + 1
                harmless = any(path == of and text.endswith(call, 0, end) for of, call in HARMLESS)
                yield f"`{path}:{number} {' '.join(text[found.start():end].split())}`", path, mutated, not harmless
    for path, old, new in OTHERS:
        line, mutated = changed(path, old, new)
        yield f"`{path}:{line} {new}`", path, mutated, True


def main(build, *parts):
    harmless = "none, it only makes later questions quicker"
    return 1 if try_all(build, TESTS, list(mutants()), parts, "wait taken away", harmless, GPUPRIM_TEST_REDUCED="1") else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
