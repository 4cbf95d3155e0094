#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A table with more rows than gp_context_explain() has room for does not compile.
# Usage: rows.sh <C compiler> <source tree>
set -euo pipefail

# table <rows>
table() {
    printf '#include "src/host/kernel.h"\nconst gp_kernel gp_made_up_rows[%s] = {{0}};\nGP_COUNT_ROWS(made_up);\n' "$1"
}

told=$(mktemp)
trap 'rm -f "$told"' EXIT
cd "$2"
compile=("$1" -std=c11 -D_GNU_SOURCE -I include -I . -x c -fsyntax-only -)
most=$(sed -nE 's/^#define GP_TABLE_ROWS_MAX ([0-9]+).*/\1/p' src/host/kernel.h)
table "$most" | "${compile[@]}"
if table $((most + 1)) | "${compile[@]}" 2>"$told"; then
    echo "a table of $((most + 1)) rows compiles"
    exit 1
fi
grep -q 'has no room for so many rows' "$told" || { cat "$told"; exit 1; }
