#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the libraries show to the outside. symbols.txt, beside this file, is what programs may have been linked against:
# a line is added by hand with each new function, and none is ever taken away or changed while the SONAME stays.
# Usage: symbols.sh exported <folder of headers> <map> <libgpuprim.so> | archive <libgpuprim.a> | needed <libgpuprim.so> |
#        hardened <library or program>...
set -euo pipefail

same() {
    if [ "$2" != "$3" ]; then
        echo "$1 differ; only one has:"
        printf '%s\n' "$2" "$3" | sort | uniq -u
        exit 1
    fi
}

exported() {
    local header map versions library
    header=$(cat "$1"/*.h | tr '\n' ' ' | grep -oE 'GP_API [^(;]*\(' | grep -oE 'gp_[a-z0-9_]+\($' | tr -d '(' | sort)
    map=$(grep -oE '^ *gp_[a-z0-9_]+;' "$2" | tr -d ' ;' | sort)
    versions=$(nm -D --defined-only "$3" | awk '$2 != "A" { print $3 }' | sort)
    library=$(sed 's/@.*//' <<<"$versions")
    [ -n "$header" ]
    same "symbols.txt and library" "$(cat "$known")" "$versions"
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

# Names that a program linked with the archive could clash with: the public functions alone.
archive() {
    same "symbols.txt and archive" "$(sed 's/@.*//' "$known")" \
        "$(nm --defined-only --extern-only "$1" | awk 'NF == 3 { print $3 }' | sort)"
}

# Addresses are bound at the start and read-only from then on, and no stack holds code.
hardened() {
    local file
    for file in "$@"; do
        [ -n "$file" ] || continue # the command is not built where its libraries are missing
        readelf -d "$file" | grep -q BIND_NOW || { echo "$file binds lazily"; exit 1; }
        readelf -lW "$file" | grep -q GNU_RELRO || { echo "$file has no relro"; exit 1; }
        ! readelf -lW "$file" | grep -q 'GNU_STACK.* RWE ' || { echo "$file has an executable stack"; exit 1; }
    done
}

known=$(dirname "${BASH_SOURCE[0]}")/symbols.txt

"$@"
