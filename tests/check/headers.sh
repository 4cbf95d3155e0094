#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each public header compiles alone and twice, as the given standard, without a warning.
# Usage: headers.sh <compiler> <c or c++> <standard> <include folder>
set -euo pipefail

for header in "$4"/gpuprim/*.h; do
    name=gpuprim/$(basename "$header")
    printf '#include "%s"\n#include <%s>\nint gp_unit_is_not_empty;\n' "$name" "$name" |
        "$1" -x "$2" "-std=$3" -pedantic-errors -Wall -Wextra -Wconversion -Wshadow -Werror -I "$4" -c -o /dev/null -
done
