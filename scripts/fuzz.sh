#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets with clang, under address and undefined-behaviour sanitizers, and runs each for some seconds
# from its kept inputs, two at a time. An input that fails is left in the build folder, and named. Installs what is missing.
# Usage: scripts/fuzz.sh [SECONDS [TARGET...]]   30 seconds and all targets, if not said otherwise
#        scripts/fuzz.sh keep [TARGET...]        writes the kept inputs anew: the fewest, of all found here, that cover as much
# What is found on the way stays in build/fuzz/found, from which the next run starts too.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/lib.sh"
build=$root/build/fuzz
corpus=$root/tests/fuzz/corpus
seconds=${1:-30}
# A command that fails leaves its memory to the system, so that leaks tell nothing; a process starts anew in time.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1

say "looking for what the targets need"
install_fuzz_tools

say "building in $build"
cd "$root"
mkdir -p "$build"
cmake --preset fuzz >"$build/configure.log" 2>&1 || { cat "$build/configure.log"; fail "configuring"; }
cmake --build --preset fuzz --parallel "$(nproc)" --target fuzz_targets >"$build/build.log" 2>&1 ||
    { cat "$build/build.log"; fail "building"; }
mapfile -t targets < <(if [ $# -gt 1 ]; then printf '%s\n' "${@:2}"; else cat "$build/tests/fuzz/programs"; fi)

if [ "$seconds" = keep ]; then
    for target in "${targets[@]}"; do
        mkdir -p "$build/kept" "$build/found/$target"
        fewest=$(mktemp -d -p "$build/kept")
        "$build/tests/fuzz/$target" -set_cover_merge=1 -use_counters=0 -max_len=1024 -close_fd_mask=3 "$fewest" \
            "$corpus/$target" "$build/found/$target" 2>"$build/$target.log"
        rm -rf "${corpus:?}/$target"
        mv "$fewest" "$corpus/$target"
        chmod 755 "$corpus/$target"
        echo "    $target: $(find "$corpus/$target" -type f | wc -l) inputs"
    done
    exit 0
fi

# run <target>: one line of what it did; its log and the input if it failed.
run() {
    local target=$1 log=$build/$1.log end=$((SECONDS + seconds)) left=$seconds
    mkdir -p "$build/found/$target"
    while [ "$left" -gt 0 ]; do
        "$build/tests/fuzz/$target" -max_total_time="$left" -runs=2000000 -timeout=20 -rss_limit_mb=4096 -close_fd_mask=3 \
            -print_final_stats=1 -artifact_prefix="$build/$target-" "$build/found/$target" "$corpus/$target" >"$log" 2>&1 ||
            { tail -n 60 "$log"; echo "FAILED: $target; its input lies beside $build/$target-*"; return 1; }
        left=$((end - SECONDS))
    done
    awk -v target="$target" '/^#.* cov: /{ line = $0 } /number_of_executed_units/ { runs = $2 }
        END { match(line, /cov: [0-9]+/); printf "    %s: %d runs, %s\n", target, runs, substr(line, RSTART, RLENGTH) }' "$log"
}
export -f run
export build corpus seconds

say "running ${#targets[@]} targets for $seconds s each"
printf '%s\0' "${targets[@]}" | xargs -0 -n 1 -P 2 bash -euo pipefail -c 'run "$1"' run || fail "a target failed"
echo "PASSED: ${#targets[@]} targets"
