#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Rows whose launches overlap (.overlaps) begin by waiting for the kernels before them: as many waits as kernels in
# every file that launches such a row, and no such row whose file has none.
# Usage: awaits.sh <source tree>
set -euo pipefail
cd "$1"

rows=$(awk '/\{\.name = "/ { split($0, part, "\""); name = part[2] } /\.overlaps = true/ { print name }' src/host/rows_*.c)
[ "$(wc -w <<<"$rows")" -gt 4 ] || { echo "found too few rows that overlap: $rows"; exit 1; }
for row in $rows; do
    file=$(grep -lE "^extern \"C\" gp_status gp_launch_$row\(" src/device/*.cu) || { echo "$row: no launcher"; exit 1; }
    kernels=$(grep -cE '__global__' "$file" || true)
    waits=$(grep -cE '^    gp_await_earlier_kernels\(\);$' "$file" || true)
    if [ "$kernels" -eq 0 ] || [ "$kernels" -gt "$waits" ]; then
        echo "$row: $file has $kernels kernels and $waits waits"
        exit 1
    fi
done
