# SPDX-License-Identifier: Apache-2.0
"""Builds and tests the tree with one text of a file changed at a time, and prints which test found it."""

import os
import signal
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECONDS = 120  # after which a test is taken to hang


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def changed(path, old, new):
    """The line of the one place of `old`, and the file's text with `new` there."""
    text = text_of(path)
    if text.count(old) != 1:
        sys.exit(f"{path}: {text.count(old)} times: {old}")
    return text.count("\n", 0, text.index(old)) + 1, text.replace(old, new)


def failing_test(build, tests, environment):
    """The first test that fails, or None."""
    built = subprocess.run(["cmake", "--build", build, "--target", *tests], capture_output=True, text=True)
    if built.returncode != 0:
        sys.exit(f"does not build:\n{built.stdout[-4000:]}")
    for test in tests:
        try:
            run = subprocess.run([f"{build}/tests/{test}"], env=dict(os.environ, **environment), timeout=SECONDS,
                                 capture_output=True)
        except subprocess.TimeoutExpired:
            return f"{test} (hangs)"
        if run.returncode != 0:
            return test
    return None


def failing_test_with(build, tests, environment, path, mutated):
    """The same with another text of a file, which is put back."""
    with open(os.path.join(ROOT, path), "r+", encoding="utf-8") as file:
        text = file.read()
        try:
            file.seek(0)
            file.write(mutated)
            file.truncate()
            file.flush()
            return failing_test(build, tests, environment)
        finally:
            file.seek(0)
            file.write(text)
            file.truncate()


def try_all(build, tests, mutants, parts, head, harmless, **environment):
    """Mutants: name, path, text, whether that does harm. Prints a table under the head; the number of wrong outcomes."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the file is put back
    if failing_test(build, tests, environment):
        sys.exit("a test fails without any change")
    wrong = tried = 0
    print(f"| {head} | test that fails |\n|---|---|", flush=True)
    for name, path, mutated, harmful in mutants:
        if parts and not any(part in name for part in parts):
            continue
        test = failing_test_with(build, tests, environment, path, mutated)
        print(f"| {name} | {test or ('NONE' if harmful else harmless)} |", flush=True)
        tried += 1
        wrong += (test is None) == harmful
    print(f"{tried} tried, {wrong} with another outcome than they should have")
    return wrong
