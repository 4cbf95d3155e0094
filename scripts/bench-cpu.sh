#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures the processor rows against memory and other libraries, counts their instructions, and writes
# docs/measurements/cpu-DATE.md and .csv. Installs what is missing (Debian, Ubuntu).
# Usage: scripts/bench-cpu.sh [options for gpuprim-bench-cpu, such as --quick, --rounds 31 or --no-peers]
# Environment: BUILD_DIR (default build/bench-cpu in the tree), OUT_DIR (default docs/measurements), COMMIT (in a tree
# without .git), PYTHON (one that has numpy and OpenCV; default: python3 if it has them, else Debian's).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/lib.sh"
build=${BUILD_DIR:-$root/build/bench-cpu}
out=${OUT_DIR:-$root/docs/measurements}
report=$out/cpu-$(date -u +%F)
bench=$build/bench/gpuprim-bench-cpu
mkdir -p "$build" "$out"

has_modules() {
    "$1" -c 'import numpy, cv2' 2>/dev/null
}

say "looking for what the build and the peers need"
install_build_tools valgrind:valgrind
python=${PYTHON:-python3}
case " $* " in
*' --no-peers '*) ;;
*)
    if ! has_modules "$python"; then
        python=/usr/bin/python3
        install_missing $python:python3 /usr/share/doc/python3-numpy:python3-numpy \
            /usr/share/doc/python3-opencv:python3-opencv
        has_modules "$python" || fail "$python has no numpy or no cv2; set PYTHON"
    fi
    install_missing "/usr/lib/$(gcc -dumpmachine)/libopenblas.so.0:libopenblas0-pthread"
    ;;
esac

say "building in $build"
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DGPUPRIM_CUDA=OFF -DGPUPRIM_BENCH=ON \
    -DGPUPRIM_TESTS=OFF -DGPUPRIM_EXAMPLES=OFF -DGPUPRIM_TOOLS=OFF >"$build/configure.log" 2>&1 ||
    { cat "$build/configure.log"; fail "configuring"; }
cmake --build "$build" --parallel "$(nproc)" >"$build/build.log" 2>&1 || { cat "$build/build.log"; fail "building"; }

commit() {
    if git -C "$root" rev-parse HEAD >/dev/null 2>&1; then
        # The reports are no part of what is measured.
        echo "$(git -C "$root" rev-parse --short=12 HEAD)$([ -z "$(git -C "$root" status --porcelain -- . ':!docs')" ] ||
            echo ', with changes')"
    else
        echo "${COMMIT:-unknown}"
    fi
}

fact() {
    lscpu | sed -n "s/^ *$1: *//p" | head -n 1
}

compiler() {
    local path
    path=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
    "$path" --version | head -n 1
}

# Before the measurement: a load that is not near 0 says that neighbours worked too.
load=$(cut -d ' ' -f 1 /proc/loadavg)

say "measuring"
rc=0
"$bench" --python "$python" "$@" --csv "$build/table.csv" --markdown "$build/table.md" all 2>"$build/errors" |
    tee "$build/log" || rc=$?
cat "$build/errors" >&2
grep -q '^wrong results: ' "$build/log" || fail "measuring (log: $build/log)"

# instructions <case> <kernel> <calls>: of the public calls alone; empty where the kernel cannot run.
instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=gp_reduce_int \
        --toggle-collect=gp_sum_and_square_window --toggle-collect=gp_transpose \
        "$bench" --count "$1:$2:$3" 2>&1 >/dev/null | sed -n 's/.*Collected : //p'
}

# Those of a third call after two, and by the element: the first also resolves symbols.
count_instructions() {
    printf '| job in cache | kernel | elements | instructions a call | an element |\n|---|---|---:|---:|---:|\n'
    local name kernel elements two three
    "$bench" --count-list | grep -v avx512 | while read -r name kernel elements; do
        if ! "$bench" --count "$name:$kernel:1" >/dev/null 2>&1; then continue; fi
        two=$(instructions "$name" "$kernel" 2)
        three=$(instructions "$name" "$kernel" 3)
        awk -v name="$name" -v kernel="$kernel" -v n="$elements" -v calls="$((three - two))" \
            'BEGIN { printf "| %s | %s | %d | %d | %.3f |\n", name, kernel, n, calls, calls / n }'
    done
}

say "counting instructions"
count_instructions >"$build/instructions.md"
cat "$build/instructions.md"

{
    cat <<HEAD
<!-- SPDX-License-Identifier: Apache-2.0 -->
# Processor rows, ${report##*/cpu-}

Written by \`scripts/bench-cpu.sh${*:+ $*}\`; every figure is of this one run. The same as data: [${report##*/}.csv](${report##*/}.csv).

- Processor: $(fact 'Model name'), $(nproc) processors for this process, $(fact 'Thread(s) per core') thread a core$(
        [ -z "$(fact 'Hypervisor vendor')" ] || echo ", virtual ($(fact 'Hypervisor vendor'))")
- Caches: L1d $(fact 'L1d cache'), L2 $(fact 'L2 cache'), L3 $(fact 'L3 cache')
- Kernel: $(uname -sr), huge pages by $(sed -n 's/.*\[\(.*\)\].*/\1/p' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null || echo unknown); load average of the minute before: $load
- Compiler: $(compiler), Release
- $(sed -n 's/^# peers: /Peers: /p' "$build/log")$(sed -n 's/^# \(OpenBLAS [0-9.]*\).*/, \1/p' "$build/log")
- Commit: $(commit)
- $(sed -n 's/^# \(libgpuprim .*\)/\1/p' "$build/log")
- $(sed -n 's/^# .*\(pinned to .*\)/\1/p' "$build/log")

"Of limit": of the fastest limit in the same table but those only shown (for transposes that is memcpy, the streamed
copy being shown). "Of peer": times the speed of the fastest peer for the same job. GB/s counts each element of input
and output once. All results were first compared with the reference rows'; peers that failed that were not timed:

$(sed -n 's/^# \(.*WRONG.*\|.*left out.*\)/- \1/p' "$build/log" | sed '$!b' | grep . || echo "- none")
HEAD
    cat "$build/table.md"
    printf '\n### Instructions\n\n%s\n%s\n\n' \
        "Under callgrind ($(valgrind --version)), which does not know AVX-512: the other rows, pinned, one thread. These" \
        "figures do not depend on the machine's neighbours."
    cat "$build/instructions.md"
} >"$report.md"
cp "$build/table.csv" "$report.csv"
say "wrote $report.md and .csv"
exit "$rc"
