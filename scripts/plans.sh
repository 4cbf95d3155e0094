#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The planner's choices for GPUs that are not there, as a page: docs/plans.md.
# Usage: scripts/plans.sh GPUPRIM             writes the page to standard output
#        scripts/plans.sh GPUPRIM --check FILE  fails unless FILE is that page
#   GPUPRIM  the command gpuprim
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/lib.sh"
[ $# -ge 1 ] || fail "name the command gpuprim"
tool=$1
export CUDA_VISIBLE_DEVICES=
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # a command that fails leaves through exit()

# Devices as `gpuprim explain' takes them; the last is one that pretends to be small.
devices=("D" "t4" "a100" "rtx3090" "rtx4090" "h200" "b200" "rtx5090" "h200 --smem 16384 --regs 16384")
problems=("reduce 2^24" "window 4096x4096 31 --border reflect_101" "window 4096x4096 301 --border reflect_101"
    "window 4096x4096 1001 --border reflect_101" "window 1000000x64 31 --border reflect_101" "transpose 4096x4096 4"
    "transpose 4096x4096 16" "transpose 8192x8192 1" "transpose 4097x4095 4" "transpose 4097x4095 1" "transpose 1000000x3 4")

row() { # <problem> <device>
    # shellcheck disable=SC2086
    "$tool" explain $1 --device $2 --format csv | awk -F, -v device="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        $column["chosen"] == "true" {
            printf "| %s | `%s` | %s x %s | %s | %s | %s, %s |\n", device, $column["kernel"], $column["grid"], $column["threads"],
                $column["regs_per_thread"], $column["smem_static"] + $column["smem_dynamic"], $column["blocks_per_sm"], $column["limited_by"]
        }'
}

page() {
    local problem device
    cat <<'EOF'
<!-- SPDX-License-Identifier: Apache-2.0 -->
# Plans for other GPUs

What the [planner](design.md#the-planner) chooses for GPUs that it knows by their figures alone. Nothing was run on them.
`D` is the textbook device of [occupancy.md](occupancy.md), with 16384 registers and 16 KiB of shared memory an SM. The
others are what `gpuprim explain --devices` lists, with sources.

The last line of each table is an H200 of which a block may have only 16 KiB and 16384 registers, as
`gp_context_limit()` makes it. Such a plan also runs: `tests/core/test_gpu_limits.c` compares its results with the
processor's, and `gpuprim-bench --on gpu limits` measures what it loses.

This page is written by `scripts/plans.sh`, and a test compares it. For any other problem or device ask `gpuprim
explain`.
EOF
    for problem in "${problems[@]}"; do
        printf '\n## %s\n\n| device | kernel | blocks x threads | registers a thread, at most | shared bytes a block | blocks an SM, limit |\n|---|---|---|---|---|---|\n' "$problem"
        for device in "${devices[@]}"; do
            row "$problem" "$device"
        done
    done
}

if [ "${2:-}" = --check ]; then
    page | diff "$3" - || fail "$3 is not what the planner says now; write it anew: scripts/plans.sh GPUPRIM >docs/plans.md"
else
    page
fi
