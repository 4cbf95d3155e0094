#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gpuprim-bench on the processor: its command line, its table, which kernels it takes, and its exit status.
# Usage: test_bench.sh <gpuprim-bench>
set -euo pipefail

bench=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "FAILED: $*"
    cat out 2>/dev/null || true
    exit 1
}

# run <exit status> <text that it prints> <argument>...
run() {
    local want=$1 text=$2 got=0
    shift 2
    "$bench" "$@" >out 2>&1 || got=$?
    [ "$got" -eq "$want" ] || fail "exit status $got, not $want: $*"
    [ -z "$text" ] || grep -qF -- "$text" out || fail "no '$text': $*"
}

# kernel <kernel> <option>...: what the sum of the list "cached" takes
kernel() {
    local want=$1
    shift
    run 0 'wrong results: 0' --on cpu --no-peers --threads 1 --rounds 1 --quick --csv table.csv "$@" cached-reduce
    grep -q "^sum,\"ours\",ours,.*,\"$want\"," table.csv || { cat table.csv; fail "not $want: $*"; }
}

run 2 "no group 'nosuch'" nosuch
run 2 'which groups?'
run 2 '--rounds is 1 to 101' --rounds 0 calls
run 2 '--on is gpu or cpu' --on nosuch calls
run 0 '  sweep ' --help
kernel reduce_cpu --without reduce_avx512,reduce_avx2,reduce_neon
run 0 'transpose, 1 x 1 of 4 bytes, 1 thread' --on cpu --no-peers --threads 1 --rounds 1 calls
run 0 'reduce_cpu' --on cpu --no-peers --threads 1 --rounds 1 --pin reduce_cpu cached-reduce
run 1 'there is no such kernel' --on cpu --no-peers --threads 1 --rounds 1 --pin reduce_nosuch cached-reduce
run 0 'transpose_cpu' --on cpu --no-peers --threads 1 --rows --calls 2 count-transpose

# Of what --rows writes the same verdicts come as in the run itself.
status=0
"$bench" --on cpu --no-peers --threads 1 --rounds 1 --quick --rows --csv rows.csv calls cached >live 2>&1 || status=$?
grep -q ' of .* stays\| of .* BELOW THE BAR' live || { cp live out && fail "no verdicts on rows"; }
again=0
"$bench" --from rows.csv >saved || again=$?
[ "$status" -eq "$again" ] || { cp saved out && fail "--from exits with $again, the run with $status"; }
verdicts() { # without the medians, of which the table has fewer digits
    sed -nE 's/^([a-z_0-9]+ +[0-9]+ of [0-9]+) +[^ ]+/\1/p' "$1"
}
diff <(verdicts live) <(verdicts saved) || fail "--from tells something else"
run 1 'no column primitive' --from <(echo who,role,shape,median_us,kernel)
run 1 'No such file' --from nosuch.csv
echo passed
