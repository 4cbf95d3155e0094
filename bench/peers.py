# SPDX-License-Identifier: Apache-2.0
"""numpy and OpenCV for gpuprim-bench: reads a command a line, does it, answers a line.

versions                        what is installed
cpus A B ...                    run on these processors, one thread each
load DESCRIPTOR IN OUT N_OUTS IN_STRIDE OUT_STRIDE SETS
                                take the input from the open file into own arrays, on huge pages, SETS times
check WORD N ROWS COLS ELEM_BYTES WINDOW CALLS
                                do it on set 0, put the results into the file after the input
time WORD ... CALLS             do it CALLS times, a set each, and answer with nanoseconds a call
"""
import mmap
import os
import sys
import time

try:
    import numpy
except ImportError:
    numpy = None
try:
    import cv2
except ImportError:
    cv2 = None

HUGE_PAGE = 2 << 20
TYPES = {"u8": "u1", "s8": "i1", "u16": "u2", "s16": "i2", "u32": "u4", "s32": "i4", "u64": "u8", "s64": "i8", "f16": "f2",
         "f32": "f4", "f64": "f8"}
ELEMENTS = {1: ("u1", 1), 2: ("u2", 1), 3: ("u1", 3), 4: ("i4", 1), 6: ("u2", 3), 8: ("i4", 2), 12: ("i4", 3), 16: ("i4", 4)}


def huge_array(size):
    """Bytes on huge pages, from a multiple of their size on, touched."""
    arena = mmap.mmap(-1, size + HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        arena.madvise(mmap.MADV_HUGEPAGE)
    whole = numpy.frombuffer(arena, dtype=numpy.uint8)
    skip = -whole.ctypes.data % HUGE_PAGE
    part = whole[skip:skip + size]
    part.fill(1)
    return part


class Peers:
    def __init__(self):
        self.next = 0
        self.arenas = {}
        self.allowed = os.sched_getaffinity(0)
        self.used = None

    def versions(self):
        found = []
        if numpy:
            found.append("numpy " + numpy.__version__)
        if cv2 and numpy:
            found.append("OpenCV " + cv2.__version__)
        return ", ".join(found) or "none"

    def cpus(self, *names):
        """One of OpenCV's threads on each."""
        cpus = [int(name) for name in names]
        if cpus == self.used:
            return "ok"
        main = os.getpid()
        os.sched_setaffinity(main, self.allowed)  # TBB starts no more workers than its first caller may use
        if cv2:
            cv2.setNumThreads(len(cpus) if self.used else len(self.allowed))
            cv2.resize(numpy.zeros((2048, 2048), numpy.float32), (1500, 1500))
            cv2.setNumThreads(len(cpus))
        others = [int(name) for name in os.listdir("/proc/self/task") if int(name) != main]
        os.sched_setaffinity(main, [cpus[0]])
        for i, thread in enumerate(sorted(others)):
            os.sched_setaffinity(thread, [cpus[1 + i % (len(cpus) - 1)] if len(cpus) > 1 else cpus[0]])
        self.used = cpus
        return "ok"

    def arena(self, name, size):
        if name not in self.arenas or len(self.arenas[name]) < size:
            self.arenas[name] = None
            self.arenas[name] = huge_array(size)
        return self.arenas[name]

    def load(self, *numbers):
        descriptor, in_bytes, out_bytes, n_outs, in_stride, out_stride, n_sets = map(int, numbers)
        shared = mmap.mmap(descriptor, in_stride + n_outs * out_stride)
        data = numpy.frombuffer(shared, dtype=numpy.uint8)
        self.answers = [data[in_stride + i * out_stride:][:out_bytes] for i in range(n_outs)]
        ins = self.arena("in", in_stride * n_sets)
        outs = self.arena("out", out_stride * n_outs * n_sets)
        self.ins = [ins[i * in_stride:][:in_bytes] for i in range(n_sets)]
        self.outs = [[outs[(i * n_outs + k) * out_stride:][:out_bytes] for k in range(n_outs)] for i in range(n_sets)]
        for one in self.ins:
            one[:] = data[:in_bytes]
        self.stride, self.floats, self.next = in_stride, None, 0
        return "ok"

    def as_floats(self, rows, cols):
        """The images once more as floats, for the functions that take no ints."""
        if self.floats is None:
            arena = self.arena("floats", self.stride * len(self.ins))
            self.floats = [arena[i * self.stride:][:len(one)] for i, one in enumerate(self.ins)]
            for one, image in zip(self.floats, self.ins):
                one.view(numpy.float32)[:] = image.view(numpy.int32)
        return [one.view(numpy.float32).reshape(rows, cols) for one in self.floats]

    @staticmethod
    def reduction(word, matrix):
        """Of all, or along an axis: sum_f32_all, mean_u8_axis_0."""
        what, kind = word.split("_")[:2]
        axis = None if word.endswith("all") else int(word[-1])
        if what == "max":
            return lambda: matrix.max(axis=axis)
        if what == "mean":
            return lambda: matrix.mean(axis=axis, dtype=numpy.float32)
        if what == "squares":
            return lambda: numpy.square(matrix).sum(axis=axis)
        to = numpy.float32 if kind == "f16" else None  # sums of ints are of 64 bits
        return lambda: matrix.sum(axis=axis, dtype=to)

    def calls(self, word, n, rows, cols, elem_bytes, window):
        """A function of no arguments a set."""
        if word in ("sum", "min"):
            ints = [one.view(numpy.int32)[:n] for one in self.ins]
            return [(lambda a=a: a.sum(dtype=numpy.int64)) if word == "sum" else (lambda a=a: a.min()) for a in ints]
        if "_" in word and word.split("_")[1] in TYPES:
            return [self.reduction(word, one.view(TYPES[word.split("_")[1]]).reshape(rows, cols)) for one in self.ins]
        if word == "transpose":
            kind, channels = ELEMENTS[elem_bytes]
            shapes = [(rows, cols), (cols, rows)] if channels == 1 else [(rows, cols, channels), (cols, rows, channels)]
            pairs = [(i.view(kind).reshape(shapes[0]), o[0].view(kind).reshape(shapes[1]))
                     for i, o in zip(self.ins, self.outs)]
            return [lambda a=a, b=b: cv2.transpose(a, b) for a, b in pairs]
        floats = self.as_floats(rows, cols)
        images = floats if word == "box_float" else [i.view(numpy.int32).reshape(rows, cols) for i in self.ins]
        outs = [[k.view(numpy.float32).reshape(rows, cols) for k in o] for o in self.outs]

        def both(image, as_float, out):
            cv2.boxFilter(image, cv2.CV_32F, (window, 1), out[0], normalize=False)
            cv2.sqrBoxFilter(as_float, cv2.CV_32F, (window, 1), out[1], normalize=False)
        return [lambda i=i, f=f, o=o: both(i, f, o) for i, f, o in zip(images, floats, outs)]

    def check(self, word, *numbers):
        numbers = [int(number) for number in numbers]
        for out in self.outs[0]:
            out.fill(0xff)
        result = self.calls(word, *numbers[:-1])[0]()
        if word in ("sum", "min"):
            self.outs[0][0].view(numpy.int64)[0] = result
        elif word.split("_")[-1] in ("all", "0", "1") and word.split("_")[0] != "box":
            kind = result.dtype if word.startswith(("max", "total")) else numpy.float32
            self.outs[0][0].view(kind)[:] = result
        for answer, out in zip(self.answers, self.outs[0]):
            answer[:] = out
        return "ok"

    def time(self, word, *numbers):
        numbers = [int(number) for number in numbers]
        calls, reps = self.calls(word, *numbers[:-1]), numbers[-1]
        turn = [calls[(self.next + i) % len(calls)] for i in range(reps)]
        self.next += reps
        if reps > 1:
            turn[0]()
        begin = time.perf_counter_ns()
        for call in turn:
            call()
        return str((time.perf_counter_ns() - begin) / reps)


def main():
    peers = Peers()
    for line in iter(sys.stdin.readline, ""):
        verb, *rest = line.split()
        try:
            answer = getattr(peers, verb)(*rest)
        except Exception as error:  # said to the program that asked, which decides
            answer = "%s: %s" % (type(error).__name__, " ".join(str(error).split()))
        print(answer, flush=True)


main()
