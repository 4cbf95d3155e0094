#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proof on a GPU: builds, runs the whole suite, then the GPU tests over a reduced case list under compute-sanitizer,
# and writes a report. Installs nothing.
# Usage: scripts/gpu-check.sh [--cmocka DIR] [--arch LIST] [--steps "suite memcheck ..."] REPORT.md
#   --cmocka  where cmocka.h and libcmocka.so lie if not in the system (or CMOCKA_DIR)
#   --arch    CUDA architectures as CMake names them, default 90
#   --steps   of suite memcheck racecheck initcheck synccheck; default all
# Environment: BUILD_DIR (default build/gpu in the tree), COMMIT (in a tree without .git), TOOL_SECONDS (default 400,
# most that one tool may take).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/lib.sh"
build=${BUILD_DIR:-$root/build/gpu}
cmocka=${CMOCKA_DIR:-} arch=90 steps="suite memcheck racecheck initcheck synccheck" report=
while [ $# -gt 0 ]; do
    case $1 in
    --cmocka) cmocka=$(cd "$2" && pwd) && shift 2 ;;
    --arch) arch=$2 && shift 2 ;;
    --steps) steps=$2 && shift 2 ;;
    -*) fail "unknown option $1" ;;
    *) report=$1 && shift ;;
    esac
done
[ -n "$report" ] || fail "name the file for the report"
case $report in /*) ;; *) report=$PWD/$report ;; esac
mkdir -p "$(dirname "$report")" "$build"
logs=$build/check
rm -rf "$logs" && mkdir -p "$logs"

PATH=$PATH:${CUDA_PATH:-/usr/local/cuda}/bin:${CUDA_PATH:-/usr/local/cuda}/compute-sanitizer

commit() {
    if git -C "$root" rev-parse HEAD >/dev/null 2>&1; then
        echo "$(git -C "$root" rev-parse HEAD)$([ -z "$(git -C "$root" status --porcelain)" ] || echo ', with changes')"
    else
        echo "${COMMIT:-unknown}"
    fi
}

say "building in $build for $arch"
started=$SECONDS
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DGPUPRIM_CUDA=ON -DGPUPRIM_CUDA_ARCHITECTURES="$arch" \
    -DGPUPRIM_EXAMPLES=OFF ${cmocka:+"-DCMOCKA_DIR=$cmocka"} >"$logs/configure" 2>&1 || { cat "$logs/configure"; fail "configuring"; }
cmake --build "$build" --parallel "$(nproc)" >"$logs/build" 2>&1 || { cat "$logs/build"; fail "building"; }
build_seconds=$((SECONDS - started))
"$build/tests/driver_probe" | tee "$logs/probe"
! grep -qx 'devices: 0' "$logs/probe" || fail "no usable GPU: $(sed -n 's/^reason: //p' "$logs/probe")"

# One row of the report's table: step, verdict, seconds, what it said last.
row() {
    printf '| %s | %s | %s | %s |\n' "$1" "$2" "$3" "$4" >>"$logs/rows"
    say "$1: $2 in $3 s ($4)"
}

suite() {
    local verdict=passed began=$SECONDS
    ctest --test-dir "$build" --parallel "$(nproc)" --output-on-failure --no-tests=error --timeout 400 \
        --output-junit "$logs/tests.xml" >"$logs/suite" 2>&1 || verdict=FAILED
    report_tests "$logs/tests.xml" >"$logs/counts" || verdict=FAILED
    ! grep -E 'test_[a-z_]*gpu.*Skipped' "$logs/suite" || verdict=FAILED
    [ "$verdict" = passed ] || cat "$logs/suite"
    row suite "$verdict" $((SECONDS - began)) "$(head -n 1 "$logs/counts")"
}

tool_options() {
    case $1 in
    # Tests of errors make CUDA calls fail on purpose; those are not findings.
    memcheck) echo --leak-check full --report-api-errors no ;;
    racecheck) echo --racecheck-report all ;;
    *) ;;
    esac
}

# check_with <tool>: each program under the tool; writes verdict.<tool>
check_with() {
    local program log rc clean=0 ran=0 bad="" began=$SECONDS
    # A tool that cannot watch the device may hide it, and then find nothing wrong.
    timeout 120 compute-sanitizer --tool "$1" "$build/tests/driver_probe" >"$logs/$1.driver_probe" 2>&1 || true
    grep -qE '^devices: [1-9]' "$logs/$1.driver_probe" || bad=" no device under this tool;"
    while read -r program; do
        log=$logs/$1.$program
        rc=0
        # shellcheck disable=SC2046
        GPUPRIM_TEST_REDUCED=1 timeout "$TOOL_SECONDS" compute-sanitizer --tool "$1" $(tool_options "$1") --error-exitcode 86 \
            "$build/tests/$program" </dev/null >"$log" 2>&1 || rc=$?
        ran=$((ran + 1))
        if [ "$rc" -eq 124 ]; then
            bad+=" $program: longer than $TOOL_SECONDS s;"
        elif [ "$rc" -ne 0 ]; then
            bad+=" $program: exit status $rc;"
        elif grep -qE '(ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards)' "$log"; then
            clean=$((clean + 1))
        else
            bad+=" $program: no summary;"
        fi
    done <"$build/tests/gpu_programs"
    [ "$ran" -gt 0 ] || bad+=" no program;"
    echo "${bad:+FAILED:}${bad:-clean}|$((SECONDS - began))|$clean of $ran programs clean" >"$logs/verdict.$1"
}

TOOL_SECONDS=${TOOL_SECONDS:-400}
: >"$logs/rows"
tools=()
for step in $steps; do
    case $step in
    suite) say "the whole suite" && suite ;;
    memcheck | racecheck | initcheck | synccheck) tools+=("$step") ;;
    *) fail "unknown step $step" ;;
    esac
done
if [ ${#tools[@]} -gt 0 ]; then
    command -v compute-sanitizer >/dev/null || fail "compute-sanitizer not found"
    say "compute-sanitizer: ${tools[*]}, side by side"
    for tool in "${tools[@]}"; do
        check_with "$tool" &
    done
    wait
    for tool in "${tools[@]}"; do
        IFS='|' read -r verdict seconds detail <"$logs/verdict.$tool"
        row "$tool" "$verdict" "$seconds" "$detail"
        case $verdict in FAILED*) tail -n 40 "$logs/$tool".* ;; esac
    done
fi

{
    echo '<!-- SPDX-License-Identifier: Apache-2.0 -->'
    echo '# GPU check'
    echo
    echo "Written by \`scripts/gpu-check.sh\`."
    echo
    echo "- date: $(date -u +%Y-%m-%d)"
    echo "- commit: $(commit)"
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1 | sed 's/\(.*\), \(.*\)/- device: \1\n- driver: \2/'
    sed -n 's/^-- gpuprim .* with CUDA (nvcc \([0-9.]*\) .*/- toolkit: \1/p' "$logs/configure"
    echo "- architectures: $arch"
    echo "- host compiler: $(cc --version | head -n 1)"
    echo "- build: $build_seconds s"
    echo
    echo '| step | verdict | seconds | detail |'
    echo '|---|---|---|---|'
    cat "$logs/rows"
    if [ -s "$logs/counts" ]; then
        echo
        echo "The suite: $(tail -n 1 "$logs/counts"). Each program and what it said at its end:"
        echo
        echo '```'
        sed -n 's/^ *[0-9]*\/[0-9]* Test *#[0-9]*: //p' "$logs/suite" | sort
        echo '```'
    fi
} >"$report"

if grep -q '| FAILED' "$logs/rows"; then
    fail "see $report"
fi
echo "PASSED: report in $report"
