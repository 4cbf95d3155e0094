#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What limits a kernel: profiles the library's choice, chosen rows and the floor on one shape of each primitive with
# Nsight Compute, and writes a line of CSV a kernel: time, DRAM, L2 sectors, bank conflicts, warps, issue, and the four
# reasons for which warps wait longest between two instructions.
# Usage: scripts/ncu.sh [--bench PROGRAM] [--only reduce|window|transpose] [--shape TEXT] [--pin ROW[:THREADS],...] [OUT.csv]
#   --bench  gpuprim-bench-gpu, default build/gpu/bench/gpuprim-bench-gpu
#   --shape  text that the bench's label of a line contains, with --only; default: one shape of each primitive
#   --pin    rows beside the library's own choice
# Clocks are left as they are. OUT.csv: default standard output.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/lib.sh"
bench=$root/build/gpu/bench/gpuprim-bench-gpu only="reduce window transpose" shape="" pin="" out=""
while [ $# -gt 0 ]; do
    case $1 in
    --bench) bench=$2 && shift 2 ;;
    --only) only=$2 && shift 2 ;;
    --shape) shape=$2 && shift 2 ;;
    --pin) pin=$2 && shift 2 ;;
    -*) fail "unknown option $1" ;;
    *) out=$1 && shift ;;
    esac
done
PATH=$PATH:${CUDA_PATH:-/usr/local/cuda}/bin
command -v ncu >/dev/null || fail "ncu (Nsight Compute) not found"
[ -x "$bench" ] || fail "$bench: no such program; build it with -DGPUPRIM_BENCH=ON"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

reasons="barrier branch_resolve dispatch_stall drain imc_miss lg_throttle long_scoreboard math_pipe_throttle membar
    mio_throttle misc no_instruction not_selected short_scoreboard sleeping tex_throttle wait"
metrics=gpu__time_duration.sum,dram__throughput.avg.pct_of_peak_sustained_elapsed,dram__bytes_read.sum,dram__bytes_write.sum
metrics+=,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum
metrics+=,sm__warps_active.avg.pct_of_peak_sustained_active,smsp__issue_active.avg.per_cycle_active
for reason in $reasons; do
    metrics+=,smsp__average_warps_issue_stalled_${reason}_per_issue_active.ratio
done

# profile <group of the bench> <text of the label>: what ncu prints, kernels as rows and metrics as columns.
profile() {
    ncu --clock-control none --csv --page raw --print-units base --metrics "$metrics" --log-file "$work/$1.csv" \
        --kernel-name 'regex:^(reduce_|window_|transpose_|read_only|read_and_write)' \
        "$bench" --once --match "$2" ${pin:+--pin "$pin"} "$1" >"$work/$1.txt" 2>&1 ||
        { cat "$work/$1.txt" "$work/$1.csv" >&2; fail "profiling $1"; }
    grep -q '^"ID"' "$work/$1.csv" || { cat "$work/$1.txt" "$work/$1.csv" >&2; fail "no kernel of group $1 was profiled"; }
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
    echo 'line,kernel,grid,block,us,dram_pct,read_MB,written_MB,l2_read_sectors,l2_written_sectors,bank_conflicts,warps_active_pct,issue_active_pct,wait1,wait2,wait3,wait4'
    for group in $only; do
        case $group in
        reduce) label="sum 2^28" ;;
        window) label="window 4096x4096 w=31 zero" ;;
        transpose) label="transpose 8192x8192 4 B" ;;
        *) label="" ;;
        esac
        profile "$group" "${shape:-$label}"
        table "$work/$group.csv" "${shape:-$label}"
    done
} >"$work/table"
if [ -n "$out" ]; then cp "$work/table" "$out"; else cat "$work/table"; fi
