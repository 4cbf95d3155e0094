#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the examples on good input, with checks of their own, and on every kind of bad input.
# Usage: test_examples.sh <folder of the built examples> <source folder examples> ints|device|pictures
# Exit status 77: skipped. examples/CMakeLists.txt adds a test an area; `pictures` only if libpng was found.
set -euo pipefail

programs=$(cd "$1" && pwd)
sources=$(cd "$2" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0:allocator_may_return_null=1" # an example that fails leaves through exit()
export PYTHONDONTWRITEBYTECODE=1
checks=0

fail() {
    echo "test_examples: $*" >&2
    exit 1
}

# expect <file of output> <word> <value>: the line "word value" is there.
expect() {
    grep -qx "$2 $3" "$1" || { cat "$1"; fail "expected '$2 $3'"; }
    checks=$((checks + 1))
}

# refused <text> <command...>: exit status 1, and one line on standard error that holds the text.
refused() {
    local text=$1 rc=0
    shift
    "$@" >stdout 2>stderr || rc=$?
    [ "$rc" -eq 1 ] || { cat stderr; fail "exit status $rc instead of 1: $*"; }
    [ "$(wc -l <stderr)" -eq 1 ] || { cat stderr; fail "not one line on standard error: $*"; }
    grep -qF -- "$text" stderr || { cat stderr; fail "expected '$text': $*"; }
    checks=$((checks + 1))
}

test_ints() {
    local sum=$programs/sum_file file form
    # mawk prints integers past 32 bits only as floats, exactly up to 2^53.
    for file in "$sources/data/ints.txt" "$sources/data/ints.bin"; do
        case $file in
        *.txt) form="tr -s '[:space:]' '\n'" ;;
        *) form="od -An -v -w4 -t d4" ;;
        esac
        eval "$form" <"$file" | awk 'NF { s += $1; if (!n++ || $1 < low) low = $1; if (n == 1 || $1 > high) high = $1 }
            END { printf "sum %.0f\nmin %.0f\nmax %.0f\ncount %d\n", s, low, high, n }' >want
        "$sum" "$file" >got
        head -n 4 got | diff - want || fail "wrong result for $file"
        grep -q '^sum: reduce_[a-z0-9_]* on the .* us a call, .* GB/s' got || fail "no report of the kernel"
        checks=$((checks + 2))
    done
    "$sum" -b cpu "$sources/data/ints.txt" | head -n 4 | diff - want || fail "backend cpu differs"

    printf '7' >one && "$sum" -t one >got && expect got sum 7 && expect got min 7 && expect got count 1
    printf ' \n-2147483648 +5\t2147483647\r\n' >ends.txt && "$sum" ends.txt >got && expect got sum 4
    expect got min -2147483648 && expect got max 2147483647
    : >none.bin && "$sum" none.bin >got && expect got sum 0 && expect got count 0
    if grep -q min got; then fail "a minimum of nothing"; fi
    printf '\001\000\000\200' | "$sum" -i /dev/stdin >got && expect got sum -2147483647

    refused 'missing.bin: No such file' "$sum" missing.bin
    refused 'Is a directory' "$sum" -i .
    printf '0123456789' >odd.bin
    refused 'odd.bin: 10 bytes' "$sum" odd.bin
    refused 'at byte 8,' "$sum" odd.bin
    printf '1 2\n3\n4 five 6\n' >word.txt
    refused "word.txt: line 3: 'five' is no integer" "$sum" word.txt
    for token in 1.5 0x10 1e3 - 7x '1,2' '--1'; do
        printf '1\n%s\n' "$token" >bad.txt
        refused "bad.txt: line 2: '$token' is no integer" "$sum" bad.txt
    done
    printf '1\n2\0003\n' >zero.txt
    refused "zero.txt: line 2: '2?3' is no integer" "$sum" zero.txt
    printf '\033[31m\n' >escape.txt
    refused "escape.txt: line 1: '?[31m' is no integer" "$sum" escape.txt
    for token in 2147483648 -2147483649 99999999999999999999; do
        printf '0\n0\n%s\n' "$token" >big.txt
        refused "big.txt: line 3: $token does not fit in 32 bits" "$sum" big.txt
    done
    refused 'say -t for text or -i for binary' "$sum" one
    refused "-b takes auto, cpu or cuda, not 'gpu'" "$sum" -b gpu ends.txt
    if [ -c /dev/full ]; then
        refused 'standard output: No space left' sh -c "'$sum' '$sources/data/ints.txt' >/dev/full"
    fi
    for arguments in '' '-q ends.txt' 'ends.txt ends.txt'; do
        # shellcheck disable=SC2086
        if "$sum" $arguments >stdout 2>stderr; then fail "accepted: $arguments"; elif [ $? -ne 2 ]; then fail "usage: not 2"; fi
    done
}

test_device() {
    "$programs/device_query" >got
    grep -q '^libgpuprim [0-9]*\.[0-9]*\.[0-9]*, [0-9]* usable GPUs$' got || fail "no version"
    grep -q '^device D (made up: nothing is executed)$' got || fail "no made-up device"
    if grep -q ' 0 usable GPUs$' got; then
        grep -q '^  no GPU  *[^ ]' got || fail "no reason for having no GPU"
        grep -q 'sum of 1000 ints *reduce_[a-z0-9]*, up to 1 threads' got || fail "the processor is not chosen without a GPU"
    fi
    sed '1,/^device D/d' got >model
    [ "$(grep -c ' blocks of [0-9]* threads, .* limited by' model)" -eq 7 ] || fail "not 7 plans for device D"
    if grep -E "_cpu|_avx|_neon" model; then fail "a processor kernel planned for a GPU"; fi
    checks=$((checks + 4))

    "$programs/rearrange_batch" >got
    grep -qx '16 pictures of 224 x 224 pixels became planes' got || fail "no planes"
    grep -qx 'and pictures again, equal to the first' got || fail "no pictures"
    [ "$(grep -c '^to p[a-z]*: .* us a call, .* GB/s' got)" -eq 2 ] || fail "no report of the kernels"
    "$programs/rearrange_batch" -b cpu 3 5 7 >got || fail "small pictures"
    for arguments in '1 2' '0 1 1' '1 2 x' '-q'; do
        # shellcheck disable=SC2086
        if "$programs/rearrange_batch" $arguments >stdout 2>stderr; then fail "accepted: $arguments"; elif [ $? -ne 2 ]; then fail "usage: not 2"; fi
    done
    checks=$((checks + 8))

    "$programs/tiled_matmul" >got
    sed -n '/^device D/,/chosen/p' got >model
    # 16 x 16: 8 blocks by shared memory, 6 by threads: 6 blocks, 12 KiB.
    grep -q 'tile 16:  256 threads, 2048 bytes:  6 blocks, 1536 threads,  12288 bytes an SM' model || fail "device D"
    grep -q 'tile 32: 1024 threads, 8192 bytes:  1 blocks' model || fail "device D, tile 32"
    grep -qx '  chosen: 16' model || fail "device D: tile 16 expected"
    sed -n '/^compute capability 9.0/,/chosen/p' got | grep -qx '  chosen: 32' || fail "tile 32 expected where it fits"
    "$programs/tiled_matmul" 1 1 1 >got && "$programs/tiled_matmul" 17 33 31 >got
    [ "$(grep -c 'equal to the plain product$' got)" -ge 2 ] || fail "the product was not checked"
    if "$programs/tiled_matmul" 0 1 1 2>stderr; then fail "0 rows accepted"; fi
    if [ -c /dev/full ]; then
        refused 'standard output: No space left' sh -c "'$programs/device_query' >/dev/full"
    fi
    checks=$((checks + 7))
}

test_pictures() {
    command -v python3 >/dev/null || { echo "Skipped: no python3 to make and check PNG files"; exit 77; }
    python3 "$here/test_examples.py" "$programs" "$sources" "$work"
}

case ${3:-} in
ints | device | pictures) "test_$3" ;;
*) fail "unknown area '${3:-}'" ;;
esac
[ "$3" = pictures ] || echo "$checks checks passed"
