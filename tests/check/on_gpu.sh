#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a test program where the library finds a GPU, else says why not and exits with 77, which counts as skipped.
# Usage: on_gpu.sh <driver_probe> <program> [argument...]
set -euo pipefail

found=$("$1") || { echo "$1 failed: $found"; exit 1; }
if grep -qx 'devices: 0' <<<"$found"; then
    echo "skipped: GPU tests, $(sed -n 's/^reason: //p' <<<"$found")"
    exit 77
fi
shift
exec "$@"
