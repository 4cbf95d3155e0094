#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CUDA headers are included under src/device alone: host code, examples and tools compile without a toolkit.
# Usage: includes.sh <source tree>
set -euo pipefail
cd "$1"

folders=()
for folder in include src/host examples tools; do
    [ ! -d "$folder" ] || folders+=("$folder")
done
if grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"](cuda|cu[A-Z]|cub/|device_(types|functions|launch|atomic|double)|driver_types|vector_types|nv)' "${folders[@]}"; then
    echo "these include a CUDA header outside src/device"
    exit 1
fi
if find include src/host -name '*.cu' -o -name '*.cuh' | grep .; then
    echo "these are CUDA sources outside src/device"
    exit 1
fi
# The search itself must work: src/device does include one.
[ "$(grep -rlE '^#include <cuda_runtime' src/device | wc -l)" -gt 0 ]
