#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures the processor rows against memory and other libraries, counts their instructions, and writes
# docs/measurements/cpu-DATE.md and .csv. Installs what is missing (Debian, Ubuntu), and the newest numpy and OpenCV from
# PyPI into a folder of their own under the build folder.
# Usage: scripts/bench-cpu.sh [options and groups for gpuprim-bench, such as --quick, --rounds=31, --no-peers, threads]
# Values stand behind an =. Without a group: all, peers and threads.
# Environment: BUILD_DIR (default build/bench-cpu in the tree), OUT_DIR (default docs/measurements), COMMIT (in a tree
# without .git), PYTHON (default python3), PEERS (a folder that has numpy and OpenCV; nothing is installed then).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/lib.sh"
build=${BUILD_DIR:-$root/build/bench-cpu}
out=${OUT_DIR:-$root/docs/measurements}
report=$out/cpu-$(date -u +%F)
bench=$build/bench/gpuprim-bench
python=${PYTHON:-python3}
peers=${PEERS:-$build/peers}
mkdir -p "$build" "$out"

say "looking for what the build and the peers need"
install_build_tools valgrind:valgrind "$python:python3"
case " $* " in
*' --no-peers '*) ;;
*)
    install_missing pip3:python3-pip "/usr/lib/$(gcc -dumpmachine)/libopenblas.so.0:libopenblas0-pthread"
    if ! PYTHONPATH=$peers "$python" -c 'import numpy, cv2' 2>/dev/null; then
        say "installing numpy and OpenCV in $peers"
        "$python" -m pip install --quiet --disable-pip-version-check --target "$peers" 'numpy>=2.4' 'opencv-python-headless>=5.0' ||
            fail "pip; set PEERS to a folder that has numpy and cv2"
    fi
    export PYTHONPATH=$peers
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

groups=(all peers threads)
for word in "$@"; do
    case $word in -*) ;; *) groups=() ;; esac
done

say "measuring"
rc=0
"$bench" --on cpu --python "$python" --csv "$build/table.csv" "$@" "${groups[@]}" 2>"$build/errors" |
    tee "$build/log" || rc=$?
cat "$build/errors" >&2
grep -q '^wrong results: ' "$build/log" || fail "measuring (log: $build/log)"

# The table of a group of lines as Markdown, if there are any.
table() {
    "$python" - "$1" "$build/table.csv" <<'TABLE'
import csv, sys
lines = [l for l in csv.DictReader(line for line in open(sys.argv[2]) if line[0] != "#") if l["group"] == sys.argv[1]]
if lines:
    print(f"\n### {sys.argv[1]}\n\n| line | who | us | GB/s | of floor | of peer | kernel |\n|---|---|---:|---:|---:|---:|---|")
for l in lines:
    print(f"| {l['shape']} | {l['who']} | {float(l['median_us']):.3f} | {float(l['gbps']):.1f} | {l['ratio_floor']} "
          f"| {l['ratio_peer']} | {l['kernel']} |")
TABLE
}

# instructions <label> <kernel> <calls>: of the public calls alone.
instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=gp_reduce_int \
        --toggle-collect=gp_sum_and_square_window --toggle-collect=gp_transpose \
        "${count[@]}" --match "$1" --pin "$2" --calls "$3" count 2>&1 >/dev/null | sed -n 's/.*Collected : //p'
}

# Those of a third call after two, and by the element: what else is called is called both times.
count_instructions() {
    printf '| job in cache | kernel | elements | instructions a call | an element |\n|---|---|---:|---:|---:|\n'
    local label kernel elements two three count=("$bench" --on cpu --threads 1 --no-peers)
    "${count[@]}" --rows --calls 1 --csv "$build/count.csv" count >/dev/null || true
    "$python" - "$build/count.csv" <<'JOBS' | while IFS='|' read -r label kernel elements; do
import csv, sys
for l in csv.DictReader(line for line in open(sys.argv[1]) if not line.startswith("#")):
    if l["role"] == "row" and "avx512" not in l["who"]:
        print(l["shape"], l["who"], int(l["n"]) + int(l["rows"]) * int(l["cols"]), sep="|")
JOBS
        two=$(instructions "$label" "$kernel" 2)
        three=$(instructions "$label" "$kernel" 3)
        awk -v label="$label" -v kernel="$kernel" -v n="$elements" -v calls="$((three - two))" \
            'BEGIN { printf "| %s | %s | %d | %d | %.3f |\n", label, kernel, n, calls, calls / n }'
    done
}

say "counting instructions"
count_instructions >"$build/instructions.md"
cat "$build/instructions.md"

{
    cat <<HEAD
<!-- SPDX-License-Identifier: Apache-2.0 -->
# Processor rows, ${report##*/cpu-}

Written by \`scripts/bench-cpu.sh${*:+ $*}\`; every figure is of this one run. All lines as data: [${report##*/}.csv](${report##*/}.csv).

- Processor: $(fact 'Model name'), $(nproc) processors for this process, $(fact 'Thread(s) per core') thread a core$(
        [ -z "$(fact 'Hypervisor vendor')" ] || echo ", virtual ($(fact 'Hypervisor vendor'))")
- Caches: L1d $(fact 'L1d cache'), L2 $(fact 'L2 cache'), L3 $(fact 'L3 cache')
- Kernel: $(uname -sr), huge pages by $(sed -n 's/.*\[\(.*\)\].*/\1/p' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null || echo unknown); load average of the minute before: $load
- Compiler: $(compiler), Release
- $(sed -n 's/^# peers: /Peers: /p' "$build/log"), OpenBLAS if it is in the tables
- Commit: $(commit)
$(sed -n 's/^# \(.*\(pinned to\|medians of\).*\)/- \1/p' "$build/log")

"Of floor": of the speed of the fastest of the loops that only move the bytes, and of the peers. "Of peer": times the
speed of the fastest peer for the same job. GB/s counts each element of input and output once. All results were first
compared with the reference rows'; peers that failed that were not timed.
HEAD
    for group in processor cached calls; do
        table "$group"
    done
    printf '\n### Verdicts\n\n```\n%s\n```\n' "$(sed -n '/: .* points, worst /,/^wrong/p' "$build/log")"
    printf '\n### Instructions\n\n%s\n%s\n\n' \
        "Under callgrind ($(valgrind --version)), which does not know AVX-512: the other rows, pinned, one thread. These" \
        "figures do not depend on the machine's neighbours."
    cat "$build/instructions.md"
} >"$report.md"
cp "$build/table.csv" "$report.csv"
say "wrote $report.md and .csv"
exit "$rc"
