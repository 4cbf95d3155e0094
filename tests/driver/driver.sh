#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The shipped library under drivers that are missing, broken, too old or without a device: it says which, and computes.
# Usage: driver.sh <probe> <folder of the made-up libcuda.so.1> <1: built with CUDA, 0: without>
set -euo pipefail
probe=$1 fake=$2 with_cuda=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run <case> <pattern that the reason matches> <expected status of the CUDA backend>
run() {
    local text reason
    text=$("$probe") || { echo "$1: the probe failed: $text"; exit 1; }
    reason=$(sed -n 's/^reason: //p' <<<"$text")
    echo "$1: $reason"
    grep -qx 'devices: 0' <<<"$text" || { echo "$1: devices found"; exit 1; }
    grep -qE "$2" <<<"$reason" || { echo "$1: the reason does not match $2"; exit 1; }
    grep -qxE "CUDA backend: $3" <<<"$text" || { echo "$1: $text"; exit 1; }
    echo "$reason" >>"$work/reasons"
}

no_device=6 driver=7
if [ "$with_cuda" != 1 ]; then
    run "built without CUDA" "without CUDA" $no_device
    exit 0
fi

# An empty file in front of a real driver hides it, and is no driver itself.
mkdir "$work/junk"
: >"$work/junk/libcuda.so.1"
LD_LIBRARY_PATH=$work/junk run "unreadable driver" "no .*driver" $driver
if ! ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; then
    run "no driver" "no .*driver" $driver
fi
export LD_LIBRARY_PATH=$fake
FAKE_DRIVER_VERSION=12040 run "driver 12.4" "(too old|older).*|12\.4.*" $driver
FAKE_DRIVER_VERSION=99000 FAKE_DRIVER_INIT=100 run "no device" "no .*(device|GPU)" $no_device
FAKE_DRIVER_VERSION=99000 FAKE_DRIVER_INIT=999 run "driver fails" "error" $driver

# However often "no driver" was asked, the four kinds of trouble have four texts.
kinds=$(sort -u "$work/reasons" | wc -l)
[ "$kinds" -eq 4 ] || { echo "$kinds different reasons, expected 4"; exit 1; }
