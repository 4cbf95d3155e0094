#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the command gpuprim as its users do, with good and bad arguments and files. No GPU is needed, none is used.
# Usage: test_tool.sh <gpuprim> <source tree> look|files|reduce|window|bench|refusals
#        test_tool.sh <gpuprim> <source tree> faults <library to preload> [all]
set -euo pipefail

tool=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
tree=$(cd "$2" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export CUDA_VISIBLE_DEVICES= PYTHONDONTWRITEBYTECODE=1
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0:allocator_may_return_null=1" # a command that fails leaves through exit()
checks=0

fail() {
    echo "test_tool: $*" >&2
    exit 1
}

# has <text> <command...>: exit status 0 and the text on standard output.
has() {
    local text=$1
    shift
    "$@" >stdout 2>stderr || { cat stderr; fail "exit status $?: $*"; }
    grep -qF -- "$text" stdout || { cat stdout; fail "expected '$text': $*"; }
    checks=$((checks + 1))
}

# refused <status> <text> <command...>: that status, the text on standard error, nothing on standard output.
refused() {
    local status=$1 text=$2 rc=0
    shift 2
    "$@" >stdout 2>stderr || rc=$?
    [ "$rc" -eq "$status" ] || { cat stderr; fail "exit status $rc instead of $status: $*"; }
    [ ! -s stdout ] || { cat stdout; fail "something on standard output: $*"; }
    [ "$status" -ne 1 ] || [ "$(wc -l <stderr)" -eq 1 ] || { cat stderr; fail "not one line on standard error: $*"; }
    [ -z "$text" ] || grep -qF -- "$text" stderr || { cat stderr; fail "expected '$text': $*"; }
    checks=$((checks + 1))
}

# value <python expression over d, the JSON on standard output> <wanted> <command...>
value() {
    local expression=$1 wanted=$2 got
    shift 2
    got=$("$@" | python3 -c "import json, sys; d = json.load(sys.stdin); print($expression)") || fail "no JSON: $*"
    [ "$got" = "$wanted" ] || fail "$expression is $got, not $wanted: $*"
    checks=$((checks + 1))
}

block() { # <expression> <wanted> <words of explain block...>
    local expression=$1 wanted=$2
    shift 2
    value "d['block']['$expression']" "$wanted" "$tool" explain block "$@" --device D --format json
}

test_arguments() {
    local command
    has 'Usage: gpuprim' "$tool" --help
    has 'gpuprim ' "$tool" --version
    for command in info kernels explain bench sum reduce window transpose; do
        has "Usage: gpuprim $command" "$tool" "$command" --help
        "$tool" --version | cmp - <("$tool" "$command" --version) || fail "$command --version"
        refused 2 "Try \`gpuprim $command --help'" "$tool" "$command" --no-such-option
        grep -q "^\.Cm $command" "$tree/tools/gpuprim.1" || fail "$command is not in the manual page"
        COMP_WORDS=(gpuprim "${command:0:3}") COMP_CWORD=1
        _gpuprim
        [[ " ${COMPREPLY[*]} " = *" $command "* ]] || fail "$command is not completed"
    done
    refused 2 'which command?' "$tool"
    refused 2 "no command 'nosuch'" "$tool" nosuch
    refused 2 "no command '--'" "$tool" -- --
    refused 2 "not 'xml'" "$tool" info --format xml
    refused 2 'Too many arguments' "$tool" info more
    refused 2 'OP and SHAPE' "$tool" explain
    refused 2 "not 'fold'" "$tool" explain fold 3
    refused 2 'reduce takes N' "$tool" explain reduce
    refused 2 "'12q' is no number" "$tool" explain reduce 12q
    refused 2 "'2^64' is no number" "$tool" explain reduce 2^64
    refused 2 "'-1' is no number" "$tool" explain reduce -- -1
    has 'sum of 1 int32' timeout 9 "$tool" explain reduce 1^9999999999999
    has 'sum of 0 int32' timeout 9 "$tool" explain reduce 0^9999999999999
    refused 2 "is no shape" "$tool" explain transpose 4x 4
    refused 2 "--op is sum, min, max, and, or or xor, not 'mean'" "$tool" explain reduce 3 --op mean
    refused 2 'window takes no --op' "$tool" explain window 4x4 3 --op sum
    refused 2 'reduce takes no --border' "$tool" explain reduce 9 --border none
    refused 2 'block takes no --kernel' "$tool" explain block 512 --device D --kernel reduce_grid
    refused 1 '--kernel: window_scan is no kernel of reduce' "$tool" explain reduce 9 --device h200 --kernel window_scan
    refused 1 'window is 0' "$tool" explain window 4x4 0
    refused 1 'smem_per_block: 65536 is more' "$tool" explain reduce 9 --device D --smem 64K
    refused 1 'there is no kernel' "$tool" explain reduce 9 --kernel reduce_none
    refused 1 "'reduce_grid:x' is no NAME:THREADS" "$tool" explain reduce 9 --kernel reduce_grid:x
    refused 1 '' "$tool" sum --backend cuda "$tree/examples/data/ints.txt"
}

# The worked answers for device D: 1536 threads, 16384 registers, 16384 bytes, 8 blocks an SM.
test_worked_answers() {
    block full_regs_per_thread 10 512 10
    block blocks_per_sm 3 512 10
    block threads_per_sm 1536 512 10
    block blocks_per_sm 2 512 11
    block threads_per_sm 1024 512 11
    block limited_by registers 512 11
    block full_smem_per_block 2048 192
    block blocks_per_sm 8 192 0 2K
    block blocks_per_sm 3 64 0 5K
    block limited_by 'shared memory' 64 0 5K
    block blocks_by_smem 8 256 10 2048
    block blocks_by_threads 6 256 10 2048
    block blocks_per_sm 6 256 10 2048
    block blocks_by_regs None 512
    block blocks_by_smem None 512
    block smem_used_per_sm 12288 256 10 2048
    has 'an SM holds 6 blocks: 1536 threads, 12288 bytes' "$tool" explain block 256 10 2048 --device D
    has ',threads,6,,,8,' "$tool" explain block 256 --device D --format csv
    refused 1 'there is no GPU here' "$tool" explain block 256
}

test_explain() {
    local name count
    "$tool" explain --devices --format csv >devices.csv
    count=$(($(wc -l <devices.csv) - 1))
    [ "$count" -ge 11 ] || fail "only $count devices"
    sed '1d; s/,.*//' devices.csv >names
    while read -r name; do
        value "bool(d['device']['source'])" True "$tool" explain reduce 2^24 --device "$name" --format json
        value "[v['kernel'] for v in d['verdicts'] if v['chosen']] == [d['kernel']]" True \
            "$tool" explain window 1000x1000 15 --device "$name" --format json
        value "len([v for v in d['verdicts'] if v['fits']]) > 0" True \
            "$tool" explain transpose 100x2^20 8 --device "$name" --format json
    done <names
    has '* reduce_cpu' "$tool" explain reduce 0 --kernel reduce_cpu
    has 'chosen: tile 32 x 32, 256 threads, 1024 blocks' "$tool" explain transpose 1024x1024 4 --device h200 --kernel transpose_tile
    value "d['kernel']" reduce_unroll8 "$tool" explain reduce 9 --device h200 --kernel reduce_unroll8:64 --format json
    value "d['bytes_written']" 1099511627776 "$tool" explain transpose 2^19x2^19 4 --device h200 --format json
    has 'sum of 1152921504606846976 int32' "$tool" explain reduce 2^60 --device h200
    has 'window 15 of 1 x 1152921504606846976' "$tool" explain window 1x2^60 15
    refused 1 'out: 9223372036854775807 elements of 1 bytes' "$tool" explain transpose 9223372036854775807x1 1 --device h200
    # A device by file: what info and --devices print can be read back.
    "$tool" explain --devices --format json |
        python3 -c "import json, sys; p = json.load(sys.stdin)['presets'][-1]; del p['device'], p['source']; json.dump({'devices': [p]}, open('last.json', 'w'))"
    name=$(sed '$!d; s/,.*//' devices.csv)
    "$tool" explain reduce 2^24 --device "$name" | grep -v ^figures >want
    "$tool" explain reduce 2^24 --device last.json | grep -v ^figures | diff want - || fail "a file's plan differs"
    echo '{"threads_per_sm": 64, "regs_per_sm": 1024, "smem_per_sm": 0, "blocks_per_sm": 1}' >lacks.json
    refused 1 'model lacks' "$tool" explain reduce 9 --device lacks.json
    echo '{"threads_per_sm": 64, "regs_per_sm": 64, "smem_per_sm": 64, "blocks_per_sm": 1}' >tiny.json
    if "$tool" explain reduce 9 --device tiny.json >stdout 2>stderr; then fail "a kernel on a tiny device"; fi
    grep -q 'no kernel can do this here' stderr || fail "no reason for no kernel"
    echo '{"threads": 5}' >key.json
    refused 1 '"threads" is no field' "$tool" explain reduce 9 --device key.json
    echo '{"threads_per_sm": -5}' >low.json
    refused 1 'threads_per_sm is no integer' "$tool" explain reduce 9 --device low.json
    echo '{"threads_per_sm": ' >cut.json
    refused 1 'cut.json: line' "$tool" explain reduce 9 --device cut.json
    echo '[1]' >list.json
    refused 1 'holds no object' "$tool" explain reduce 9 --device list.json
    refused 1 'nosuch' "$tool" explain reduce 9 --device nosuch
}

test_look() {
    # shellcheck source=/dev/null
    . "$tree/tools/completion.bash"
    test_arguments
    test_worked_answers
    test_explain
    has 'usable GPU' "$tool" info
    value "d['devices'][-1]['backend']" cpu "$tool" info --format json
    value "d['gpus'] > 0 or len(d['no_gpu_reason']) > 9" True "$tool" info --format json
    has 'device,field,value' "$tool" info --format csv
    "$tool" kernels --format csv >kernels.csv
    python3 - "$tool" <<'EOF' || fail "the catalogue differs between its formats"
import csv, json, subprocess, sys
rows = list(csv.DictReader(open("kernels.csv")))
kernels = json.loads(subprocess.check_output([sys.argv[1], "kernels", "--format", "json"]))["kernels"]
assert [r["kernel"] for r in rows] == [k["kernel"] for k in kernels] and len(rows) > 20
assert [r["about"] for r in rows] == [k["about"] for k in kernels]
text = subprocess.check_output([sys.argv[1], "kernels"]).decode()
assert all("\n" + k["kernel"] + "  " in "\n" + text for k in kernels)
EOF
    python3 "$here/test_tool.py" terminal "$tool"
    # Standard output that cannot take it.
    if [ -c /dev/full ]; then
        for name in info kernels 'explain reduce 9' 'kernels --format json' 'kernels --help' --help; do
            refused 1 'standard output: No space left' sh -c "'$tool' $name >/dev/full"
        done
    fi
    refused 0 '' sh -c "'$tool' kernels 2>&3 | :" 3>err
    [ ! -s err ] || { cat err; fail "a closed pipe is told of"; }
    if command -v mandoc >/dev/null; then
        mandoc -T lint -W warning "$tree/tools/gpuprim.1" || fail "the manual page"
    fi
    bash -n "$tree/tools/completion.bash"
}

test_files() {
    local data=$tree/examples/data full
    has "$(tr -s '[:space:]' '\n' <"$data/ints.txt" | awk '{ s += $1 } END { printf "%.0f", s }')  " "$tool" sum "$data/ints.txt"
    has "$(od -An -v -w4 -t d4 "$data/ints.bin" | awk '{ s += $1 } END { printf "%.0f", s }')  " "$tool" sum "$data/ints.bin"
    has '6  -' sh -c "echo 1 2 3 | '$tool' sum -"
    value "[r['value'] for r in d['results']]" '[-7, 4]' sh -c "echo -7 4 >a.txt; echo 4 9 >b.txt; '$tool' sum --op min a.txt b.txt --format json"
    has 'file,op,value,count,kernel' "$tool" sum a.txt --format csv
    : >none.txt
    has '0  none.txt' "$tool" sum none.txt
    refused 1 'none.txt: n is 0' "$tool" sum --op min none.txt
    refused 1 'missing.txt: No such file' "$tool" sum a.txt missing.txt
    refused 1 'Is a directory' "$tool" sum .
    refused 2 'FILE is missing' "$tool" sum
    cp a.txt a.dat
    refused 1 'say --text or --binary' "$tool" sum a.dat
    refused 1 '5 bytes are no whole number' "$tool" sum --binary a.dat
    echo '1 2x' >bad.txt
    refused 1 "bad.txt: line 1: '2x' is no integer" "$tool" sum bad.txt
    echo '3000000000' >big.txt
    refused 1 'line 1: 3000000000 does not fit' "$tool" sum big.txt
    refused 2 'IN and OUT are needed' "$tool" window a.txt
    refused 2 'too many files' "$tool" transpose a b c
    refused 2 'sums do not fit in a picture' "$tool" window a.npy b.png --values sum
    refused 1 'give --shape ROWSxCOLS' "$tool" window a.txt out.npy
    refused 1 'are not that many' "$tool" transpose a.txt out.raw --shape 3x4
    if [ "$(id -u)" -ne 0 ]; then
        cp a.txt shut.txt && chmod 0 shut.txt
        refused 1 'shut.txt: Permission denied' "$tool" sum shut.txt
    fi
    cp a.txt $'\xff.txt'
    has $'4  \xff.txt' "$tool" sum --op max a.txt $'\xff.txt'
    has $'\xff.txt,sum,' "$tool" sum $'\xff.txt' --format csv
    refused 1 'a name that is not UTF-8' "$tool" sum $'\xff.txt' --format json
    python3 "$here/test_tool.py" files "$tool" "$tree"
    mkdir outputs
    (cd outputs && python3 "$here/test_tool_outputs.py" "$tool")
    # A disk that is full, a folder that is not there: one line, and what was there before stays.
    head -c 400000 /dev/zero >zeros.raw
    refused 1 'No space left' "$tool" transpose --shape 100x1000 zeros.raw /dev/full
    refused 1 'standard output: No space left' sh -c "'$tool' transpose --shape 100x1000 zeros.raw - >/dev/full"
    refused 1 'nowhere/out.npy: No such file' "$tool" transpose --shape 100x1000 zeros.raw nowhere/out.npy
    echo before >kept.npy
    refused 1 'nowhere/out.npy: No such file' "$tool" window --shape 100x1000 zeros.raw kept.npy nowhere/out.npy
    [ "$(cat kept.npy)" = before ] || fail "an output was left half written"
    head -c 12000000 /dev/zero >large.raw # counts of a measured build are files too, of 3 MB
    refused 1 'File too large' bash -c "ulimit -f 8000; trap '' XFSZ; '$tool' transpose --shape 3000x1000 large.raw kept.npy"
    [ "$(cat kept.npy)" = before ] || fail "an output was left half written"
    full=$(find . -name '*.tmp-*' -o -name '*.part-*')
    [ -z "$full" ] || fail "temporary files are left: $full"
    refused 1 'is to be written twice' "$tool" window --shape 100x1000 zeros.raw out.raw out.raw
    refused 0 '' sh -c "'$tool' transpose --shape 100x1000 zeros.raw - 2>&3 | :" 3>err
}

test_bench() {
    refused 2 "not 'fast'" "$tool" bench fast
    refused 2 '--rounds is 1 to 101' "$tool" bench --rounds 0
    refused 2 'sizes are 1 or more' "$tool" bench --n 0
    refused 2 '--threads is' "$tool" bench --threads 100
    refused 1 'ends in neither .svg nor .png' "$tool" bench --plot out.pdf
    mkdir empty
    refused 1 'needs gnuplot' env PATH="$work/empty" "$tool" bench --plot out.svg
    has ' of floor' "$tool" bench reduce --quick --n 1,33,1000
    "$tool" bench --quick --n 10007,2^16 --shape 61x67,128x128 --window 3,8 --elem 3,4 --format csv >bench.csv
    [ "$(head -n 1 bench.csv)" = group,operation,kernel,floor,chosen,n,rows,cols,window,elem_bytes,threads,us,us_low,us_high,gb_s,share,step,total ] ||
        fail "the columns of CSV"
    python3 "$here/test_tool.py" bench bench.csv
    value "(d['wrong'], len(d['lines']) > 2)" '(0, True)' "$tool" bench ladder --quick --n 4099 --shape 40x50 --format json
    test_saved
    if command -v gnuplot >/dev/null; then
        for kind in svg png; do
            "$tool" bench reduce ladder --quick --n 1000,2000 --shape 50x50 --plot "it's.$kind" >stdout 2>stderr || { cat stderr; fail "plot"; }
            [ ! -s stderr ] || { cat stderr; fail "gnuplot complains"; }
            [ -s "it's.$kind" ] || fail "no plot"
        done
        grep -q '</svg>' "it's.svg" || fail "the SVG is cut off"
        refused 0 '' "$tool" bench --from run.json --plot saved.svg
        [ ! -s stderr ] || { cat stderr; fail "gnuplot complains of a saved run"; }
        grep -q '</svg>' saved.svg || fail "the SVG of a saved run is cut off"
        if "$tool" bench reduce --quick --n 1000 --plot nowhere/out.svg >stdout 2>stderr; then fail "a plot in no folder"; fi
        checks=$((checks + 4))
    fi
}

# spoilt <python statement over d, the saved run> <text>: refused in one line, nothing drawn.
spoilt() {
    python3 -c "import json; d = json.load(open('run.json')); $1; json.dump(d, open('spoilt.json', 'w'))"
    refused 1 "$2" "$tool" bench --from spoilt.json --plot spoilt.svg
    [ ! -e spoilt.svg ] || fail "a spoilt run was drawn: $1"
}

# A saved run is drawn as it was when it ran. What gnuplot is told is kept by a program in its place.
test_saved() {
    mkdir bin
    cat >bin/gnuplot <<'EOF'
#!/bin/sh
cat >commands
echo drawn
[ ! -e refuse ]
EOF
    chmod +x bin/gnuplot
    local PATH=$work/bin:$PATH
    refused 2 '--from needs --plot' "$tool" bench --from run.json
    refused 2 '--from measures and prints nothing' "$tool" bench --from run.json --plot a.svg --quick
    "$tool" bench --quick --n 1000,2000 --shape 50x60,40x50 --window 3 --format json --plot live.svg >run.json || fail "live plot"
    mv commands live
    refused 0 '' "$tool" bench --from run.json --plot saved.svg
    [ ! -s stderr ] || { cat stderr; fail "--from says something"; }
    [ "$(cat saved.svg)" = drawn ] || fail "--from draws nothing"
    python3 "$here/test_tool.py" same_plot live commands
    refused 0 '' "$tool" bench ladder --from run.json --n 2000 --plot some.svg
    [ "$(grep '^set title .*ladder' commands)" = "set title 'reduce ladder, 2000 ints (over a bar: gain over the step before)'" ] ||
        fail "other lines than those asked for"
    refused 0 '' "$tool" bench --from run.json --window 3 --shape 40x50 --plot some.svg
    [ "$(grep -c "^set title 'window.* 40 x 50, window 3" commands)" = 2 ] || fail "not the windows asked for"
    if grep -q '50 x 60\|transpose_' commands; then fail "more than the windows asked for"; fi
    refused 1 'no line is of such groups and sizes' "$tool" bench --from run.json --n 7 --plot none.svg
    refused 1 'missing.json: No such file' "$tool" bench --from missing.json --plot none.svg
    head -c 300 run.json >cut.json
    refused 1 'cut.json: line' "$tool" bench --from cut.json --plot none.svg
    spoilt "d['command'] = 'gpuprim info'" 'not what `gpuprim bench'
    spoilt "d['schema'] = 2" 'not what `gpuprim bench'
    spoilt "d['lines'] = {}" 'not what `gpuprim bench'
    spoilt "del d['device']" 'not what `gpuprim bench'
    spoilt "d['device']['name'] = '\`touch here\`'" 'not what `gpuprim bench'
    spoilt "del d['lines'][1]['gb_s']" 'lines[1] is no line'
    spoilt "d['lines'][2]['shape'] = 4" 'lines[2] is no line'
    spoilt "d['lines'][0]['kernel'] = 'a\'; b'" 'lines[0] is no line'
    spoilt "d['lines'][0] = []" 'lines[0] is no line'
    spoilt "d['lines'] = []" 'no line is of such groups'
    refused 1 'nowhere/out.svg: No such file' "$tool" bench --from run.json --plot nowhere/out.svg
    touch refuse && ln -s saved.svg link.svg
    refused 1 '--plot: none.svg: gnuplot could not write it' "$tool" bench --from run.json --plot none.svg
    [ "$(echo none.svg*)" = 'none.svg*' ] || fail "something is left of a plot that failed"
    rm refuse saved.svg && : >saved.svg
    refused 0 '' "$tool" bench --from run.json --plot link.svg
    [ "$(cat saved.svg)" = drawn ] || fail "a plot replaced the link instead of the file"
    test_curves
}

# The CSV of gpuprim-bench: a panel a series, a line each for floor, peer and library.
test_curves() {
    cat >curves.csv <<'EOF'
op,who,role,shape,n,rows,cols,window,gbps,targets,series
# Made-up GPU, 132 SMs, libgpuprim 100, 9 rounds
sum,"read",floor,"sum 2^20",1048576,0,0,0,2000.00,,"sum of int32"
sum,"CUB",peer,"sum 2^20",1048576,0,0,0,1500.00,,"sum of int32"
sum,"ours",ours,"sum 2^20",1048576,0,0,0,1800.00,"a, b","sum of int32"
# CLIFF of something
sum,"read",floor,"sum 2^10",1024,0,0,0,2.00,,"sum of int32"
sum,"CUB",peer,"sum 2^10",1024,0,0,0,1.00,,"sum of int32"
sum,"ours",ours,"sum 2^10",1024,0,0,0,1.50,,"sum of int32"
sum,"ours",ours,"sum 2^11",2048,0,0,0,9.50,,""
window,"read 1, write 2",floor,"window 64x64 w=3",0,64,64,3,700.00,,"windows over 64 x 64"
window,"ours",ours,"window 64x64 w=3",0,64,64,3,600.00,,"windows over 64 x 64"
window,"read 1, write 2",floor,"window 64x64 w=15",0,64,64,15,700.00,,"windows over 64 x 64"
window,"ours",ours,"window 64x64 w=15",0,64,64,15,500.00,,"windows over 64 x 64"
EOF
    refused 0 '' "$tool" bench --from curves.csv --plot curves.svg
    for words in "set title 'sum of int32'" "set xlabel 'ints'" "set title 'windows over 64 x 64'" '1048576 1800' '15 500' \
        "set xlabel 'width of the window'" 'title "Made-up GPU: effective bandwidth'; do
        grep -qF "$words" commands || { cat commands; fail "no '$words' in the curves"; }
    done
    [ "$(grep -c "title 'floor'.*title 'CUB'.*title 'ours'" commands)" = 1 ] || fail "the sum's three lines"
    if grep -qF '2048 9.5' commands; then fail "a line of no series was drawn"; fi
    refused 0 '' "$tool" bench window --from curves.csv --plot curves.svg
    if grep -q 'sum of' commands; then fail "more than the group asked for"; fi
    sed 's/gbps/speed/' curves.csv >spoilt.csv
    refused 1 'no column gbps' "$tool" bench --from spoilt.csv --plot none.svg
    sed '4s/,.*//' curves.csv >spoilt.csv
    refused 1 'line 4: no who' "$tool" bench --from spoilt.csv --plot none.svg
    sed "3s/sum of int32/a'; b/" curves.csv >spoilt.csv
    refused 1 'lines[0] is no line' "$tool" bench --from spoilt.csv --plot none.svg
    printf 'op,who,role,n,rows,cols,window,gbps,series\n#' >spoilt.csv # a comment without a name of a device
    refused 1 'no line is of such groups' "$tool" bench --from spoilt.csv --plot none.svg
    # Each line is looked at once: compared in pairs, these take minutes.
    seq 20000 | sed 's/.*/sum,"ours",ours,"x",&,0,0,0,1.50,,"sum of int32"/' | cat <(head -n 2 curves.csv) - >long.csv
    refused 0 '' timeout 100 "$tool" bench --from long.csv --plot curves.svg
    grep -qx '20000 1.5' commands || fail "not all of a long run is drawn"
    : >spoilt.csv
    refused 1 'nothing in it' "$tool" bench --from spoilt.csv --plot none.svg
    refused 1 'missing.csv: No such file' "$tool" bench --from missing.csv --plot none.svg
}

test_reduce() {
    python3 "$here/test_tool_reduce.py" "$tool" "$tree"
    refused 2 'FILE is missing' "$tool" reduce
    refused 2 'too many files' "$tool" reduce a.npy b.npy
    refused 2 "--op is sum, min," "$tool" reduce --op median a.npy
    refused 2 "var_sample or std_sample, not ''" "$tool" reduce --op sum, a.npy
    refused 2 'sum stands there twice' "$tool" reduce --op sum,max,sum a.npy
    refused 2 "--type is u8, " "$tool" reduce --type float a.npy
    for axes in x 1, ,1 1x '' 99999999999999999999 0,1,2,3,4,5,6,7,8; do
        refused 2 "not '$axes'" "$tool" reduce --axis "$axes" a.npy
    done
}

command -v python3 >/dev/null || { echo "Skipped: no python3 to judge what is printed"; exit 77; }
case ${3:-} in
look | files | reduce | bench) "test_$3" ;;
window | refusals | faults) python3 "$here/test_tool_$3.py" "$tool" "$tree" "${@:4}" ;;
*) fail "unknown area '${3:-}'" ;;
esac
echo "$checks checks passed"
