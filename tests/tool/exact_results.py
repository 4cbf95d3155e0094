# SPDX-License-Identifier: Apache-2.0
"""What reductions give, in exact fractions rounded once: an oracle that shares no code with the library."""
import math
from fractions import Fraction

# bits of the significand, least and greatest exponent
FLOATS = {"f16": (11, -14, 15), "bf16": (8, -126, 127), "f32": (24, -126, 127), "f64": (53, -1022, 1023)}
PLACES, BITS = ("argmin", "argmax", "count"), ("and", "or", "xor")
TOTALS, QUOTIENTS = ("sum", "sum_abs", "sum_squares"), ("mean",)
ROOTS = ("norm", "var", "std", "var_sample", "std_sample")
SAME = ("min", "max", "max_abs")


def rounded(x, kind):
    """A fraction to the nearest float of the kind, ties to even, in one step."""
    bits, least, most = FLOATS[kind]
    if x == 0:
        return 0.0
    top = abs(x.numerator).bit_length() - x.denominator.bit_length()
    top -= abs(x) < Fraction(2) ** top
    unit = Fraction(2) ** (max(top, least) - bits + 1)
    value = round(x / unit) * unit
    if abs(value) >= Fraction(2) ** (most + 1):
        return math.copysign(math.inf, x)
    return float(value) if value else math.copysign(0.0, x)


def root(x):
    """A fraction on the same side of all floats and of all middles between them as the root of x."""
    k = 1300
    scaled = (x.numerator << 2 * k) // x.denominator
    n = math.isqrt(scaled)
    exact = n * n == scaled and (x.numerator << 2 * k) % x.denominator == 0
    return Fraction(2 * n + (not exact), 2 << k)


def special(values):
    """What sums of floats with NaNs and infinities are; None: they have none."""
    if any(math.isnan(v) for v in values) or {math.inf, -math.inf} <= set(values):
        return math.nan
    return next((v for v in values if math.isinf(v)), None)


def total(op, values, kind):
    terms = [abs(v) if op == "sum_abs" else v for v in values]
    terms = [v * v for v in terms] if op in ("sum_squares", "norm") and special(terms) is not None else terms
    if isinstance(values[0] if values else 0, float) and special(terms) is not None:
        return special(terms)
    exact = sum(Fraction(v) ** (2 if op in ("sum_squares", "norm") else 1) for v in terms)
    exact = root(exact) if op == "norm" else exact
    return rounded(exact, kind) if kind in FLOATS else int(exact)


def moment(op, values, kind):
    n, sample = len(values), op.endswith("_sample")
    if n == 0 or (sample and n == 1) or any(not math.isfinite(v) for v in values):
        return special(values) if op == "mean" and n > 0 else math.nan
    exact = [Fraction(v) if isinstance(v, float) else v for v in values]
    whole = sum(exact)
    if op == "mean":
        return rounded(Fraction(whole, n), kind)
    spread = Fraction(n * sum(v * v for v in exact) - whole * whole, n * (n - sample))
    return rounded(root(spread) if op.startswith("std") else spread, kind)


def extreme(op, values, kind):
    if op == "max_abs":
        nans = any(math.isnan(v) for v in values)
        return math.nan if nans else max(map(abs, values), default=0)
    nan = next((i for i, v in enumerate(values) if math.isnan(v)), None)
    key = lambda i: (values[i], math.copysign(1, values[i]))
    sign = 1 if op.endswith("min") else -1
    if nan is None:
        at = min(range(len(values)), key=lambda i: (sign * key(i)[0], sign * key(i)[1], i))
    else:
        at = nan
    return at if op.startswith("arg") else values[at]


def bits_of(op, values):
    result = -1 if op == "and" else 0
    for v in values:
        result = result & v if op == "and" else result | v if op == "or" else result ^ v
    return result


def expected(op, values, kind):
    if op in BITS:
        return bits_of(op, values)
    if op == "count":
        return sum(v != 0 for v in values)
    if op in TOTALS or op == "norm":
        return total(op, values, kind)
    return moment(op, values, kind) if op in QUOTIENTS + ROOTS else extreme(op, values, kind)


def result_type(op, kind, asked):
    """The type that a result should have."""
    is_float, is_signed = kind in FLOATS, kind[0] == "s"
    if op in PLACES:
        return asked if asked in ("u64", "s64") else kind if kind in ("u64", "s64") and op != "count" else "u64"
    if op in SAME + BITS:
        if kind == "s32" and asked == "s64" and op != "max_abs":
            return asked
        return "u" + kind[1:] if op == "max_abs" and is_signed else kind
    may = ("f64", "f32") if op in ROOTS else tuple(FLOATS)
    if op in TOTALS and not is_float:
        may = ("s64", "u64", "f64", "f32")
        return asked if asked in may else "s64" if op == "sum" and is_signed else "u64"
    return asked if asked in may else "f64"


def same(a, b):
    if isinstance(a, str):
        a = int(a) if a.isdigit() else float(a)
    return math.isnan(a) and math.isnan(b) or (a == b and math.copysign(1, a) == math.copysign(1, b))
