#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the libraries show to the outside.
# Usage: symbols.sh exported <folder of headers> <map> <libgpuprim.so> | needed <libgpuprim.so> | archive <libgpuprim.a>
set -euo pipefail

same() {
    if [ "$2" != "$3" ]; then
        echo "$1 differ; only one has:"
        printf '%s\n' "$2" "$3" | sort | uniq -u
        exit 1
    fi
}

exported() {
    local header map library
    header=$(cat "$1"/*.h | tr '\n' ' ' | grep -oE 'GP_API [^(;]*\(' | grep -oE 'gp_[a-z0-9_]+\($' | tr -d '(' | sort)
    map=$(grep -oE '^ *gp_[a-z0-9_]+;' "$2" | tr -d ' ;' | sort)
    library=$(nm -D --defined-only "$3" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
    [ -n "$header" ]
    same "headers and map" "$header" "$map"
    same "headers and library" "$header" "$library"
    echo "$(wc -l <<<"$library") symbols"
}

# libc alone; it must also find its own file by SONAME, and carry no search path of the machine that built it.
needed() {
    local entries
    entries=$(readelf -d "$1")
    if grep -E '\((RPATH|RUNPATH)\)' <<<"$entries"; then
        echo "the library has a search path"
        exit 1
    fi
    grep -q 'SONAME.*\[libgpuprim\.so\.0\]' <<<"$entries" || { echo "wrong or no SONAME"; exit 1; }
    if grep NEEDED <<<"$entries" | grep -vE '\[(libc\.so\.6|ld-linux-[^]]*)\]'; then
        echo "the library needs more than libc"
        exit 1
    fi
}

# Names that a program linked with the archive could clash with: all ours start with gp_, kernels by C++ rules.
archive() {
    local foreign
    foreign=$(nm --defined-only --extern-only "$1" | awk 'NF == 3 && $3 !~ /^(gp_|_Z)/ { print $3 }' | sort -u)
    if [ -n "$foreign" ]; then
        echo "the archive defines: $foreign"
        exit 1
    fi
}

"$@"
