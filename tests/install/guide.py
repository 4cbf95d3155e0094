# SPDX-License-Identifier: Apache-2.0
"""Does what docs/guide.md says: saves each program, compiles it, runs it, and compares what it prints.

Usage: guide.py <source tree>, in a folder of its own, with cc and gpuprim on PATH and PKG_CONFIG_PATH,
LD_LIBRARY_PATH at the installed library. No GPU is used; what needs one is compiled where CUDA's headers are.
"""
import os
import re
import shutil
import subprocess
import sys

MACHINE = {"where", "errors", "explain"}  # print what the machine or the build is: run only
NEEDS_GPU = {"stream"}
HAS_COMMAND = shutil.which("gpuprim") is not None  # it needs libraries that the library does without

tree = sys.argv[1]
os.symlink(tree, "libgpuprim")
with open(os.path.join(tree, "docs", "guide.md"), encoding="utf-8") as file:
    text = file.read()
blocks = [(match.group(1), match.group(2), match.start(), match.end())
          for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)]


def run(line):
    done = subprocess.run(line, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"guide.md: exit status {done.returncode}: {line}")
    return done.stdout


compiled = compared = behind = 0
waiting = None  # the program that the next commands compile
for number, (kind, body, begin, end) in enumerate(blocks):
    if kind == "c":
        if waiting:
            sys.exit(f"guide.md: nothing compiles {waiting}.c")
        names = re.findall(r"`(\w+\.[ch])`", text[behind:begin])
        if not names:
            sys.exit(f"guide.md: a program without a name above it:\n{body}")
        with open(names[-1], "w", encoding="utf-8") as file:
            file.write(body)
        waiting = names[-1][:-2] if names[-1].endswith(".c") else None
        if not waiting:
            run(f"cc $(pkg-config --cflags gpuprim) -fsyntax-only -Wno-unused-function -x c {names[-1]}")
            compiled += 1
    behind = end
    if kind != "sh" or not (waiting or (HAS_COMMAND and body.startswith("gpuprim "))):
        continue
    lines = body.splitlines()
    program, waiting = waiting, None
    if program:
        if not lines[0].startswith(f"cc -o {program} {program}.c "):
            sys.exit(f"guide.md: {lines[0]} does not compile {program}.c")
        if program in NEEDS_GPU and not os.path.exists("/usr/local/cuda/include/cuda_runtime.h"):
            continue
        run(lines.pop(0))
        compiled += 1
    if program in NEEDS_GPU:
        continue
    printed = run("\n".join(lines))
    wanted = blocks[number + 1][1]
    if program not in MACHINE:
        compared += 1
        if printed != wanted:
            sys.exit(f"guide.md: {' '.join(lines)} prints\n{printed}not\n{wanted}")
print(f"{compiled} programs compiled, {compared} outputs as the guide shows them")
if waiting or compiled < 10 or compared < 10:
    sys.exit("guide.md: too little was found in it")
