#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds without optimisation, counting, runs the tests of the processor part and the command, and tells how many lines and
# branches of src/host and tools they reached; fails below a floor. Installs what is missing.
# Usage: scripts/coverage.sh [LINES BRANCHES]   the least percentages, 89 and 80 if not said. 95 of lines is wanted; it is
#        missed by what only a GPU's calls reach, staging above all, which this build leaves out with CUDA.
# Writes of each file to build/coverage/lines.txt and branches.txt.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/lib.sh"
build=$root/build/coverage
lines=${1:-89} branches=${2:-80}

say "looking for what the build needs"
install_test_tools gcovr:gcovr

say "building in $build"
cd "$root"
mkdir -p "$build"
cmake --preset coverage >"$build/configure.log" 2>&1 || { cat "$build/configure.log"; fail "configuring"; }
cmake --build --preset coverage --parallel "$(nproc)" >"$build/build.log" 2>&1 || { cat "$build/build.log"; fail "building"; }
find "$build" -name '*.gcda' -delete

say "testing"
ctest --preset coverage --parallel "$(nproc)" || fail "testing"

# report <name> <gcovr's options>...: of each file, and the sum.
report() {
    local name=$1
    shift
    gcovr --root "$root" --filter "$root/src/host/" --filter "$root/tools/" --txt "$build/$name.txt" --print-summary "$@" \
        "$build" | grep "^$name"
}

# What is compiled once for each instruction set and inlined everywhere has branches that no call takes there: the
# constants of one call decide them. Its lines count, its branches do not.
say "counting"
rc=0
report lines --fail-under-line "$lines" || rc=1
report branches --branches --exclude "$root/src/host/.*(simd|totals).*" --fail-under-branch "$branches" || rc=1
[ "$rc" -eq 0 ] || fail "below $lines % of lines or $branches % of branches; see $build/lines.txt and branches.txt"
