#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What limits a kernel: profiles the library's choice, chosen rows and the floor with Nsight Compute on lines of the
# bench, and writes a line of CSV a kernel: time, DRAM, L2 sectors, bank conflicts, warps, issue, and the four reasons
# for which warps wait longest between two instructions.
# Usage: scripts/ncu.sh [--bench PROGRAM] [--lines FILE | --line "GROUP TEXT"]... [--pin ROW[:THREADS],...] [OUT.csv]
#   --bench  gpuprim-bench, default build/gpu/bench/gpuprim-bench
#   --line   a group of the bench and text that the labels of its lines contain; default: one shape of each primitive
#   --lines  a file of such lines; those that begin with # are comments
#   --pin    rows beside the library's own choice
# The naive kernels in the table are those that the bench compares results with. Clocks are left as they are. OUT.csv: default standard output.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/lib.sh"
bench=$root/build/gpu/bench/gpuprim-bench lines="" pin="" out=""
while [ $# -gt 0 ]; do
    case $1 in
    --bench) bench=$2 && shift 2 ;;
    --line) lines+=$2$'\n' && shift 2 ;;
    --lines) lines+=$(cat "$2")$'\n' && shift 2 ;;
    --pin) pin=$2 && shift 2 ;;
    -*) fail "unknown option $1" ;;
    *) out=$1 && shift ;;
    esac
done
[ -n "$lines" ] || lines=$'reduce sum, 268435456 ints\nwindow window, 4096 x 4096, window 31, zero\ntranspose transpose, 8192 x 8192 of 4 bytes\n'
PATH=$PATH:${CUDA_PATH:-/usr/local/cuda}/bin
command -v ncu >/dev/null || fail "ncu (Nsight Compute) not found"
[ -x "$bench" ] || fail "$bench: no such program; build it with -DGPUPRIM_BENCH=ON"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

reasons="barrier branch_resolve dispatch_stall drain imc_miss lg_throttle long_scoreboard math_pipe_throttle membar
    mio_throttle misc no_instruction not_selected short_scoreboard sleeping tex_throttle wait"
metrics=gpu__time_duration.sum,dram__throughput.avg.pct_of_peak_sustained_elapsed,dram__bytes_read.sum,dram__bytes_write.sum
metrics+=,lts__throughput.avg.pct_of_peak_sustained_elapsed,l1tex__throughput.avg.pct_of_peak_sustained_active
metrics+=,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum
metrics+=,sm__warps_active.avg.pct_of_peak_sustained_active,smsp__issue_active.avg.per_cycle_active
for reason in $reasons; do
    metrics+=,smsp__average_warps_issue_stalled_${reason}_per_issue_active.ratio
done

# profile <group of the bench> <text of the label>: what ncu prints, kernels as rows and metrics as columns.
profile() {
    ncu --clock-control none --csv --page raw --print-units base --metrics "$metrics" --log-file "$work/raw.csv" \
        --kernel-name 'regex:^(reduce_|window_|transpose_|floor_)' \
        "$bench" --on gpu --once --match "$2" ${pin:+--pin "$pin"} "$1" >"$work/said" 2>&1 ||
        { cat "$work/said" "$work/raw.csv" >&2; fail "profiling $1 $2"; }
    grep -q '^"ID"' "$work/raw.csv" || { cat "$work/said" "$work/raw.csv" >&2; fail "no kernel of $1 $2 was profiled"; }
}

# Every field of ncu's CSV is in quotes, numbers have commas.
table() {
    awk -v label="$2" '
        function split_line(line, fields) { sub(/^"/, "", line); sub(/"$/, "", line); return split(line, fields, "\",\"") }
        function number(name) { if (!(name in column)) { print "no metric " name > "/dev/stderr"; exit 1 } value = field[column[name]]; gsub(/,/, "", value); return value }
        /^"ID"/ { n = split_line($0, field); for (i = 1; i <= n; i++) column[field[i]] = i; next }
        /^"[0-9]/ {
            split_line($0, field)
            kernel = field[column["Kernel Name"]]; gsub(/"/, "", kernel)
            printf "\"%s\",\"%s\",\"%s\",\"%s\"", label, kernel, field[column["Grid Size"]], field[column["Block Size"]]
            printf ",%.2f,%.1f,%.2f,%.2f", number("gpu__time_duration.sum") / 1e3, number("dram__throughput.avg.pct_of_peak_sustained_elapsed"), number("dram__bytes_read.sum") / 1e6, number("dram__bytes_write.sum") / 1e6
            printf ",%.1f,%.1f", number("lts__throughput.avg.pct_of_peak_sustained_elapsed"), number("l1tex__throughput.avg.pct_of_peak_sustained_active")
            printf ",%.0f,%.0f,%.0f", number("lts__t_sectors_op_read.sum"), number("lts__t_sectors_op_write.sum"), number("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum")
            printf ",%.1f,%.1f", number("sm__warps_active.avg.pct_of_peak_sustained_active"), 100 * number("smsp__issue_active.avg.per_cycle_active")
            for (name in column)
                if (name ~ /^smsp__average_warps_issue_stalled_/) waits[name] = number(name) + 0
            for (rank = 1; rank <= 4; rank++) {
                most = ""
                for (name in waits) if (most == "" || waits[name] > waits[most]) most = name
                short = most; sub(/^smsp__average_warps_issue_stalled_/, "", short); sub(/_per_issue_active.ratio$/, "", short)
                printf ",%s %.2f", short, waits[most]
                delete waits[most]
            }
            print ""
        }' "$1"
}

{
    echo 'line,kernel,grid,block,us,dram_pct,read_MB,written_MB,l2_pct,l1_pct,l2_read_sectors,l2_written_sectors,bank_conflicts,warps_active_pct,issue_active_pct,wait1,wait2,wait3,wait4'
    while read -r group label; do
        case $group in '' | '#'*) continue ;; esac
        profile "$group" "$label" </dev/null
        table "$work/raw.csv" "$label"
    done <<<"$lines"
} >"$work/table"
if [ -n "$out" ]; then cp "$work/table" "$out"; else cat "$work/table"; fi
