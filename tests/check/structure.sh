#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Calls and includes go down only. A unit is what has one stem in one folder: x.c, x.cu, x.h and x.cuh together.
#  - Of src/device, src/host includes launch.h alone.
#  - No circle of units that include each other, nor of units that use each other's symbols.
#  - No file of more than 400 lines.
#  - Planning narrows no number by a cast: see src/host/arithmetic.h.
# First proves on made-up trees that it finds each of these.
# Usage: structure.sh <source tree> <the units' object files, with ; between them>
set -euo pipefail

LINES_MAX=400

sources() {
    find include src -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh'
}

# Lines "file included-file", as paths below the tree, for includes in quotes that name a file of it.
includes() {
    local file name found
    sources | xargs grep -HoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"[^"]+"' | tr -d '"' |
        sed -E 's/:[[:space:]]*#[[:space:]]*include[[:space:]]*/ /' | while read -r file name; do
        for found in "$(dirname "$file")/$name" "include/$name"; do
            if [ -f "$found" ]; then
                echo "$file $(realpath --relative-to=. "$found")"
                break
            fi
        done
    done
}

# Lines "unit used-unit" from lines "file used-file".
units() {
    sed -E 's/\.(c|cu|h|cuh) / /; s/\.(c|cu|h|cuh)$//' | awk '$1 != $2' | sort -u
}

# Lines "unit used-unit" from object files: who uses a symbol that another one defines.
calls() {
    [ $# -eq 0 ] || nm -A --extern-only "$@" | sed -E 's|^.*/(src/[^:]*)\.(c\|cu)\.o:|\1 |' | awk '
        $NF !~ /gp_/ { next }
        $(NF - 1) == "U" { uses[$1 " " $NF]; next }
        { owner[$NF] = $1 }
        END { for (use in uses) { split(use, at, " "); if (at[2] in owner && owner[at[2]] != at[1]) print at[1], owner[at[2]] } }' | sort -u
}

# A circle in lines "unit used-unit".
circle() {
    local found
    found=$(tsort 2>&1 >/dev/null) || true
    [ -z "$found" ] || { echo "$1 in a circle:"; echo "$found"; return 1; }
}

# check <tree> <object>...: all of it; each violation is told
check() (
    cd "$1"
    shift
    failed=0
    if includes | grep -E '^src/host/[^ ]* src/device/' | grep -v ' src/device/launch\.h$'; then
        echo "these include more of src/device than launch.h"
        failed=1
    fi
    includes | units | circle "these include each other" || failed=1
    calls "$@" | circle "these use each other's symbols" || failed=1
    folders=()
    for folder in include src bench tests tools examples; do
        [ ! -d "$folder" ] || folders+=("$folder")
    done
    find "${folders[@]}" \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.sh' -o -name '*.py' -o -name '*.1' \
        -o -name CMakeLists.txt \) -exec wc -l {} + | awk -v most="$LINES_MAX" '$2 != "total" && $1 > most { print; n++ } END { exit n > 0 }' ||
        { echo "these have more than $LINES_MAX lines"; failed=1; }
    casts=$(find src/host \( -name 'fit*.[ch]' -o -name rows.c -o -name boxes.c -o -name occupancy.c \) -exec \
        grep -HnE '\((u?int(8|16|32)_t|int|unsigned)\)[a-z(]' {} + || true)
    [ -z "$casts" ] || { echo "$casts"; echo "these narrow by a cast"; failed=1; }
    return "$failed"
)

# Made-up trees: a right one, then one violation each.
fresh() {
    rm -rf "$made" && mkdir -p "$made"/{include/gpuprim,src/host/cpu,src/device} && cd "$made"
    echo '#include "plan.h"' >src/host/plan.c
    echo '#include "gpuprim/gpuprim.h"' | tee src/host/plan.h >include/gpuprim/explain.h
    echo '  #  include "../device/launch.h"' >src/host/run.c
    echo '#include "../host/plan.h"' >src/device/launch.h
    : >include/gpuprim/gpuprim.h
    seq "$LINES_MAX" >src/device/long.cu
}

# refuses <words>: check finds it in the tree as it is, and says so
refuses() {
    local told
    if told=$(check "$made" "$made"/build/src/*.o 2>&1); then
        echo "a tree was accepted though $1"
        exit 1
    fi
    grep -q "$1" <<<"$told" || { echo "told for '$1': $told"; exit 1; }
}

self_test() (
    made=$(mktemp -d)
    trap 'rm -rf "$made"' EXIT
    shopt -s nullglob
    fresh
    check "$made" || { echo "a right tree was refused"; exit 1; }
    fresh && echo '#include "../../device/gpu.h"' >src/host/cpu/rows.c && : >src/device/gpu.h
    refuses "more of src/device than launch.h"
    fresh && echo '#include "../host/run.h"' >src/device/launch.c && : >src/host/run.h
    refuses "include each other in a circle"
    fresh && echo '#include "b.h"' >src/host/a.h && echo '#include "a.h"' >src/host/b.h
    refuses "include each other in a circle"
    fresh && echo 401 >>src/device/long.cu
    refuses "more than $LINES_MAX lines"
    fresh && echo 'unsigned a = (unsigned)wide;' >src/host/cpu/fit_rows.c
    refuses "narrow by a cast"
    fresh && mkdir -p build/src
    echo 'void gp_b(void); void gp_a(void); void gp_a(void) { gp_b(); }' >src/a.c
    echo 'void gp_a(void); void gp_b(void); void gp_b(void) { gp_a(); }' >src/b.c
    for unit in a b; do
        "${CC:-cc}" -c src/$unit.c -o build/src/$unit.c.o
    done
    refuses "use each other's symbols in a circle"
)

self_test
IFS=';' read -ra objects <<<"${2:-}"
check "$1" "${objects[@]}"
