#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Rows whose launches overlap (.dependent_launch) begin by waiting for the kernels before them: as many waits as kernels in
# every unit (x.cu and x.cuh) that launches such a row, and no such row whose unit has none.
# Usage: awaits.sh <source tree>
set -euo pipefail
cd "$1"

# GP_GPU_ROW() makes all rows that overlap, by itself or as a table's GPU_ROW(); the study tables have a GPU_ROW() of their own.
[ "$(grep -rl '\.dependent_launch = true' src)" = src/device/launch.h ] || { echo "rows overlap outside of GP_GPU_ROW()"; exit 1; }
rows=$(sed -nE 's/^ +(GP_)?GPU_ROW\(([a-z_0-9]+),.*/\2/p' src/host/*/rows.c)
[ "$(wc -w <<<"$rows")" -gt 4 ] || { echo "found too few rows that overlap: $rows"; exit 1; }
for row in $rows; do
    file=$(grep -lE "^LAUNCHER\($row[,)]|gp_launch_$row[()]" src/device/*/*.cu) || { echo "$row: no launcher"; exit 1; }
    unit=$(cat "${file%.cu}".cu*)
    kernels=$(grep -cE '__global__' <<<"$unit" || true)
    waits=$(grep -cE '^    gp_grid_dependency_wait\(.*\);$' <<<"$unit" || true)
    if [ "$kernels" -eq 0 ] || [ "$kernels" -gt "$waits" ]; then
        echo "$row: $file has $kernels kernels and $waits waits"
        exit 1
    fi
done
