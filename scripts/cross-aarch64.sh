#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the library for 64-bit ARM on a Debian machine of another kind and runs the processor tests in qemu, so that
# the NEON rows are compared with the oracle. Installs what is missing. Says nothing of speed.
# Usage: scripts/cross-aarch64.sh [arguments for ctest, such as -R test_reduce]
# Environment: BUILD_DIR (default build/cross-aarch64 in the tree).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/lib.sh"
build=${BUILD_DIR:-$root/build/cross-aarch64}
jobs=$(nproc)

say "looking for what the build needs"
# cmocka is that of the arm64 system; it brings the C library that qemu loads. Ubuntu keeps arm64 packages on a server
# of their own (ports.ubuntu.com), which must be among apt's sources.
cmocka=/usr/lib/aarch64-linux-gnu/libcmocka.so
if [ ! -e "$cmocka" ] && command -v dpkg >/dev/null; then
    as_root dpkg --add-architecture arm64
fi
install_build_tools aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu /usr/aarch64-linux-gnu/include/stdio.h:libc6-dev-arm64-cross \
    qemu-aarch64:qemu-user "$cmocka:libcmocka-dev:arm64" /usr/lib/aarch64-linux-gnu/libgmp.so:libgmp-dev:arm64

say "configuring in $build"
mkdir -p "$build"
cmake -S "$root" -B "$build" -G Ninja --toolchain "$root/cmake/toolchains/aarch64-linux-gnu.cmake" \
    -DCMAKE_BUILD_TYPE=Release -DGPUPRIM_WERROR=ON -DGPUPRIM_CUDA=OFF -DGPUPRIM_EXAMPLES=OFF -DGPUPRIM_TOOLS=OFF \
    >"$build/configure.log" 2>&1 || { cat "$build/configure.log"; fail "configuring"; }
grep -E '^-- gpuprim |Warning' "$build/configure.log" || true

say "building"
cmake --build "$build" --parallel "$jobs" || fail "building"

# Left out: tests that start programs from a shell, where there is no emulator.
say "testing"
rc=0
ctest --test-dir "$build" --parallel "$jobs" --output-on-failure --no-tests=error --timeout 1800 \
    --output-junit "$build/tests.xml" --label-regex unit --exclude-regex '^driver$' "$@" || rc=$?
report_tests "$build/tests.xml" || rc=1
exit "$rc"
