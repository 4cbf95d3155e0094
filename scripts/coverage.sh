#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the library and the command with little or no optimisation, counting, runs the tests of the processor part and the
# command, and tells how many lines and branches of src/host and tools they reached; fails below a floor. Installs what is
# missing.
# Usage: scripts/coverage.sh [LINES BRANCHES]   the least percentages, 95 and 83 if not said. What is left out with CUDA
#        counts as not reached: where a call on a GPU's context runs, above all. Its tests take minutes without optimisation.
# Writes of each file to build/coverage/lines.txt and branches.txt.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/lib.sh"
build=$root/build/coverage
lines=${1:-95} branches=${2:-83}

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
report branches --branches --exclude "$root/src/host/.*(simd|totals|ahead).*" --fail-under-branch "$branches" || rc=1
[ "$rc" -eq 0 ] || fail "below $lines % of lines or $branches % of branches; see $build/lines.txt and branches.txt"
