#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Rows whose launches overlap (.dependent_launch) begin by waiting for the kernels before them: as many waits as kernels in
# every file that launches such a row, and no such row whose file has none.
# Usage: awaits.sh <source tree>
set -euo pipefail
cd "$1"

# Rows are written out, or by a macro whose first argument is the row's name (#row) and which overlaps if it says so.
rows=$(awk '/^#define / { sub(/\(.*/, "", $2); macro = $2 } /\.dependent_launch = true/ && /\\$/ { overlaps[macro] = 1; next }
    /\{\.name = "/ { split($0, part, "\""); name = part[2] } /\.dependent_launch = true/ { print name }
    match($0, /^    [A-Z_]+\([a-z_0-9]+,/) { split(substr($0, 5, RLENGTH - 5), part, "("); if (part[1] in overlaps) print part[2] }' \
    src/host/*/rows.c)
[ "$(wc -w <<<"$rows")" -gt 4 ] || { echo "found too few rows that overlap: $rows"; exit 1; }
for row in $rows; do
    file=$(grep -lE "^extern \"C\" gp_status gp_launch_$row\(" src/device/*/*.cu) || { echo "$row: no launcher"; exit 1; }
    kernels=$(grep -cE '__global__' "$file" || true)
    waits=$(grep -cE '^    gp_grid_dependency_wait\(.*\);$' "$file" || true)
    if [ "$kernels" -eq 0 ] || [ "$kernels" -gt "$waits" ]; then
        echo "$row: $file has $kernels kernels and $waits waits"
        exit 1
    fi
done
