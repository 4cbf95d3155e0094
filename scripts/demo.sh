#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and installs the library into the build folder, builds the examples against it by pkg-config as a user would,
# and runs them on a photograph and on ints, with CUDA if nvcc is there. Installs what is missing (Debian, Ubuntu).
# Usage: scripts/demo.sh [arguments for cmake, such as -DGPUPRIM_CUDA=OFF]
# Environment: BUILD_DIR (default build/demo in the tree).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/lib.sh"
data=$root/examples/data
mkdir -p "${BUILD_DIR:-$root/build/demo}" || fail "no build folder; set BUILD_DIR to a folder that can be written"
build=$(cd "${BUILD_DIR:-$root/build/demo}" && pwd)
prefix=$build/prefix
programs=$build/programs
pictures=$build/pictures
if ! mkdir -p "$programs" "$pictures" || [ ! -w "$build" ]; then
    fail "$build cannot be written; set BUILD_DIR to a folder that can"
fi

# quiet <log> <what> <command...>: shows the log only if the command fails.
quiet() {
    local log=$build/$1 what=$2
    shift 2
    say "$what"
    "$@" >"$log" 2>&1 || { cat "$log"; fail "$what (log: $log)"; }
}

# run_example <program> <arguments...>: its output, indented; kept in $build/out too.
run_example() {
    local program=$1
    shift
    LD_LIBRARY_PATH=$libdir "$programs/$program" "$@" >"$build/out" || fail "$program $*"
    sed 's/^./    &/' "$build/out"
}

# check_ints <file> <od or tr command that gives one int a line...>: awk's own sum, minimum, maximum and count.
check_ints() {
    local file=$1
    shift
    "$@" <"$file" | awk 'NF { s += $1; if (!n++ || $1 < low) low = $1; if (n == 1 || $1 > high) high = $1 }
        END { printf "sum %.0f\nmin %.0f\nmax %.0f\ncount %d\n", s, low, high, n }' >"$build/want"
    head -n 4 "$build/out" | cmp -s - "$build/want" || fail "awk finds something else in $file: $(tr '\n' ' ' <"$build/want")"
    echo "    awk agrees"
}

say "looking for what the build needs"
needs=(make:make /usr/include/png.h:libpng-dev)
if has_nvcc; then needs+=(g++:g++); fi
install_build_tools "${needs[@]}"

quiet configure.log "configuring in $build" cmake -S "$root" -B "$build/library" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_INSTALL_PREFIX="$prefix" -DGPUPRIM_TESTS=OFF -DGPUPRIM_EXAMPLES=OFF -DGPUPRIM_BENCH=OFF -DGPUPRIM_TOOLS=OFF "$@"
grep '^-- gpuprim ' "$build/configure.log" | sed 's/^-- /    /'
say "building"
cmake --build "$build/library" --parallel "$(nproc)" || fail "building"
quiet install.log "installing to $prefix" cmake --install "$build/library"

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name gpuprim.pc)")
export PKG_CONFIG_PATH
libdir=$(dirname "$PKG_CONFIG_PATH")
pkg-config --exists gpuprim || fail "pkg-config does not find the installed library"
quiet examples.log "building the examples by pkg-config" make -B -C "$root/examples" \
    OUT="$(realpath --relative-to="$root/examples" "$programs")" # make splits names at spaces, which $root may hold

say "what is here, and which kernels would be chosen"
run_example device_query
backends=(cpu)
if ! grep -q ' 0 usable GPUs$' "$build/out"; then backends+=(cuda); fi

random=$build/random.bin
head -c 16777216 /dev/urandom >"$random"
for backend in "${backends[@]}"; do
    say "reducing files of ints (-b $backend)"
    run_example sum_file -b "$backend" "$data/ints.txt"
    check_ints "$data/ints.txt" tr -s '[:space:]' '\n'
    run_example sum_file -b "$backend" "$random"
    check_ints "$random" od -An -v -w4 -t d4

    say "local statistics and transpose of a photograph (-b $backend)"
    mkdir -p "$pictures/$backend"
    run_example local_stats -b "$backend" "$data/chelsea.png" "$pictures/$backend/mean.png" \
        "$pictures/$backend/deviation.png" "$pictures/$backend/normalised.png"
    run_example threshold -b "$backend" "$pictures/$backend/page.png" "$pictures/$backend/black-and-white.png"
    run_example transpose_image -b "$backend" "$data/chelsea.png" "$pictures/$backend/transposed.png"
    run_example statistics -b "$backend" "$data/chelsea.png"
    run_example statistics -b "$backend" "$data/table.npy"
    for picture in "$pictures/$backend"/*.png; do
        cmp -s "$picture" "$pictures/cpu/${picture##*/}" || fail "the GPU's ${picture##*/} differs from the processor's"
    done
done
if [ ${#backends[@]} -eq 2 ]; then echo "    the GPU's pictures are the processor's, byte for byte"; fi

say "matrix product, the width of its tiles chosen from the device"
run_example tiled_matmul
rm -f "$random" "$build/out" "$build/want"

echo "PASSED: every result was checked; the pictures are mean.png, deviation.png, normalised.png, page.png, black-and-white.png and transposed.png in $pictures/${backends[-1]}"
