#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Takes away, one at a time, what makes exact sums exact: carries, sticky bits, ties, signs of what is left, proofs, and the
second computation where a proof fails. A test must fail then. Not part of the suite: it builds each time, in the tree
itself. Needs GMP, and no GPU.

Usage: mutate_sums.py <build folder, configured with tests> [a part of the names of what to take away]...
Prints a table; 1: no test fails for one of them.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "check"))
from mutants import changed, try_all

TESTS = ["test_exact", "test_exact_order", "test_reduce_array"]

EXACT, ADDING = "src/host/exact.c", "src/host/exact.h"
ARRAY, QUOTIENTS = "src/host/reduce_array/", "src/host/cpu/quotients.h"

# What is taken away, file, text, replacement.
CHANGES = [
    ("the carry from limb to limb", EXACT, "carry = value >> 32;", "carry = 0 * (value >> 32);"),
    ("the carry's sign", EXACT, "carry = value >> 32;", "carry = (int64_t)((uint64_t)value >> 32);"),
    ("the carry of two's complement", EXACT, "+ (v->negative && i == v->low)", "+ 0 * (v->negative && i == v->low)"),
    ("the sticky bit of lower digits", EXACT, "leading_zeros(lowest & -lowest) < at;",
     "leading_zeros(lowest & -lowest) < at - 99999;"),
    ("the sticky bit of a division", EXACT, "sticky |= !divides(word, count, by, shift);",
     "(void)divides(word, count, by, shift);"),
    ("the sticky bit of a root", EXACT, "low = !exact;", "low = exact & 0;"),
    ("the sticky bit of a shift", EXACT, "sticky |= low << (64 - shift) != 0;", ""),
    ("the sticky bit at a tie", EXACT, "(sticky || (kept & 1))", "(kept & 1)"),
    ("ties to even", EXACT, "(sticky || (kept & 1))", "(sticky || true)"),
    ("the second step of a quotient's digit", EXACT, "digit * by0 > (over << 32 | low >> 32)", "false"),
    ("a digit of products", ADDING, "gp_exact_add_bits(limb, bit + 32, a1 * b0, negative);", ""),
    ("the sign of the highest digit", ADDING, "limb[2] += (high ^ sign) - sign;", "limb[2] += high;"),
    ("the mean's square in a variance", EXACT, "(uint64_t)digit(&s, i) * digit(&s, j), true);",
     "(uint64_t)digit(&s, i) * digit(&s, j) * (i != j), true);"),
    ("infinities of a part", ARRAY + "accumulator.c", "to->flags[sum] |= from->flags[sum];", ""),
    ("limbs of a part", ARRAY + "accumulator.c", "gp_accumulator_limbs(to, pass, sum)[l] += from->limb[sum][l];",
     "(void)gp_accumulator_limbs(to, pass, sum);"),
    ("the comparison of bounds", ARRAY + "cpu_bounds.c",
     "memcmp(first[r], other, gp_type_bytes(pass->result[r].type)) == 0;", "true;"),
    ("the other corners of bounds", ARRAY + "cpu_bounds.c", "corner < 4 && same", "corner < 1 && same"),
    ("the other end of bounds", ARRAY + "cpu_finish_simd.h", "open |= bits[j] != gp_bits_of_f32(", "open |= 0 != 0 * gp_bits_of_f32("),
    ("what pairs lose", ARRAY + "cpu_forms_simd.h", 
     "(vec)((reals)t->of[2] + magnitudes_of(rest));", "t->of[2] | ((vec)rest & all(0));"),
    ("the proof of a chunk", ARRAY + "cpu_runs_simd.h", "*first == -*second", "*first == *first"),
    ("the sign of what a sum of two leaves", ARRAY + "cpu_finish_simd.h",
     "(xs[j] - (x - back)) + (ys[j] - back)", "(xs[j] - (x - back)) - (ys[j] - back)"),
    ("what is left of the mean of two doubles", ARRAY + "cpu_finish_simd.h", "? 0x1p-30 : 0", "? 0x0p0 : 0"),
    ("what adding what is left loses", ARRAY + "cpu_finish_simd.h", "(lost != 0) | (left_of", "(lost != lost) | (left_of"),
    ("NaNs of columns that are results", ARRAY + "cpu_across_simd.h", "& ~past) | (nan & past)", "& ~past) | (key_of(f, &m, min ? ~b : a) & past)"),
    ("columns that are not proven", ARRAY + "cpu_finish_simd.h", "held &= s->rest[j] == 0;",
     "held &= s->rest[j] == s->rest[j];"),
    ("what rounding a square loses", ARRAY + "cpu_forms_simd.h", "add_error(t, error);\n    add_error(t, left);",
     "add_error(t, error - error);\n    add_error(t, left);"),
    ("squares with bits below a double's", ARRAY + "cpu_forms_simd.h", "(reals)(tiny & ", "(reals)(tiny & all(0) & "),
    ("what a numerator's sums lack", QUOTIENTS, "by * q->off[j] + least * s->off[j]", "0 * least"),
    ("what a quotient leaves", QUOTIENTS, "+ x->low[j]) / by;", "+ x->low[j]) / by * 0;"),
    ("what a root leaves", QUOTIENTS, "more = y == 0 ? 0 : left;", "more = 0 * left;"),
    ("the other end of a quotient, a float", QUOTIENTS, "open |= bits[j] != gp_bits_of_f32(",
     "open |= 0 != 0 * gp_bits_of_f32("),
    ("the other end of a quotient, a double", QUOTIENTS, "open |= low != high;", ""),
]


def main(build, *parts):
    mutants = []
    for name, path, old, new in CHANGES:
        line, mutated = changed(path, old, new)
        mutants.append((f"{name}, `{path}:{line}`", path, mutated, True))
    return 1 if try_all(build, TESTS, mutants, parts, "taken away", "none") else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
