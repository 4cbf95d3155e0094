#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs some tests, the kept inputs of fuzz targets and the command under valgrind's memcheck, which alone sees memory that
# is used before it was set. It knows no AVX-512, so that the other rows run. Installs what is missing.
# Usage: scripts/valgrind.sh BUILD_DIR   a build with tests and the command, best one that is not optimised
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/lib.sh"
[ $# -eq 1 ] || fail "name the build folder"
build=$1
data=$root/examples/data
install_missing valgrind:valgrind
export GPUPRIM_TEST_REDUCED=1 CUDA_VISIBLE_DEVICES=

# check <program> <argument>...: its output only if something is wrong.
check() {
    timeout 300 valgrind --quiet --error-exitcode=9 "$@" >"$build/valgrind.log" 2>&1 || { cat "$build/valgrind.log"; fail "$*"; }
    echo "    ${1##*/}${2:+ $2}"
}

for test in test_misuse test_misuse_arrays test_misuse_rearrange test_misuse_reduce test_explain test_layout; do
    check "$build/tests/$test"
done
for target in exact png npy text json csv device words; do
    check "$build/tests/fuzz/fuzz_$target" "$root/tests/fuzz/corpus/fuzz_$target"
done
for command in 'reduce --axis 0 --op mean,max,argmax,std' 'window --size 3x3 --op mean,max' 'rearrange --flip 0'; do
    # shellcheck disable=SC2086
    case $command in
    reduce*) check "$build/tools/gpuprim" $command "$data/table.npy" ;;
    window*) check "$build/tools/gpuprim" $command "$data/table.npy" "$build/mean.npy" "$build/max.npy" ;;
    *) check "$build/tools/gpuprim" $command "$data/table.npy" -o "$build/flipped.npy" ;;
    esac
done
check "$build/tools/gpuprim" sum "$data/ints.txt"
check "$build/tools/gpuprim" explain transpose 1003x1003 4 --device h200
check "$build/tools/gpuprim" explain reduce --shape 480x640x3 --axis 0,1 --op mean,std --device t4 --format json
