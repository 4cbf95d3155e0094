#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the library and runs all its tests, with CUDA if nvcc is there. Installs what is missing (Debian, Ubuntu).
# Usage: scripts/test.sh [arguments for cmake, such as -DGPUPRIM_CUDA=OFF]
# Environment: BUILD_DIR (default build/test in the tree).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/lib.sh"
build=${BUILD_DIR:-$root/build/test}
jobs=$(nproc)

say "looking for what the build needs"
install_test_tools

say "configuring in $build"
mkdir -p "$build"
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DGPUPRIM_WERROR=ON "$@" >"$build/configure.log" 2>&1 ||
    { cat "$build/configure.log"; fail "configuring"; }
grep -E '^-- gpuprim |Warning' "$build/configure.log" || true

say "building"
cmake --build "$build" --parallel "$jobs" || fail "building"

say "testing"
rc=0
ctest --test-dir "$build" --parallel "$jobs" --output-on-failure --no-tests=error --timeout 300 \
    --output-junit "$build/tests.xml" || rc=$?
report_tests "$build/tests.xml" || rc=1
exit "$rc"
