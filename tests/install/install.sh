#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the built library to a fresh prefix, moves the prefix elsewhere, and builds and runs a user's project with it.
# Usage: install.sh <build folder> <libdir> <way>, with CMAKE_GENERATOR, CC, CXX, PYTHON in the environment
set -euo pipefail
build=$1 libdir=$2 way=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The project lies outside the library's tree and sees nothing of it but the prefix.
cp -r "$here/consumer" "$work/consumer"
cd "$work/consumer"

# What is installed is noted in a file of the build folder, which is one for all ways.
lock() {
    flock "$build/install.lock" "$@"
}

install_and_move() {
    lock cmake --install "$build" --prefix "$work/first" >/dev/null
    mkdir "$work/second"
    mv "$work/first" "$work/second/moved"
    prefix=$work/second/moved
    lib=$prefix/$libdir
    export PKG_CONFIG_PATH=$lib/pkgconfig
    if grep -rIl "$work/first" "$prefix"; then
        echo "these files hold the prefix they were installed to"
        exit 1
    fi
}

# expect_links shared|static <program>: linked the way that was asked for, and it runs
expect_links() {
    local needs=static
    if readelf -d "$2" | grep -q 'NEEDED.*libgpuprim\.so\.0'; then
        needs=shared
    fi
    [ "$needs" = "$1" ] || { echo "linked $needs, expected $1"; exit 1; }
    LD_LIBRARY_PATH=$lib "$2"
}

pkg_config_shared() {
    install_and_move
    # shellcheck disable=SC2046
    "$CC" $(pkg-config --cflags gpuprim) consumer.c $(pkg-config --libs gpuprim) -o consumer
    expect_links shared ./consumer
}

pkg_config_static() {
    install_and_move
    rm "$lib"/libgpuprim.so*
    # shellcheck disable=SC2046
    "$CC" $(pkg-config --cflags gpuprim) consumer.c $(pkg-config --static --libs gpuprim) -o consumer
    expect_links static ./consumer
}

with_cmake() {
    install_and_move
    cmake -S . -B out -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$CC" -DLINKAGE="$1" >log 2>&1 || { cat log; exit 1; }
    cmake --build out >log 2>&1 || { cat log; exit 1; }
    grep -q "^gpuprim_DIR:PATH=$lib/" out/CMakeCache.txt || { echo "another gpuprim was found"; exit 1; }
    expect_links "$1" out/consumer
}

find_package_shared() {
    with_cmake shared
}

find_package_static() {
    with_cmake static
}

cxx() {
    install_and_move
    # shellcheck disable=SC2046
    "$CXX" -std=c++11 -pedantic-errors $(pkg-config --cflags gpuprim) -x c++ consumer.c -x none $(pkg-config --libs gpuprim) -o consumer
    expect_links shared ./consumer
}

ctypes() {
    install_and_move
    "$PYTHON" consumer.py "$lib/libgpuprim.so.0"
}

# What the guide says, word by word.
guide() {
    install_and_move
    mkdir "$work/bin" "$work/guide"
    printf '#!/bin/sh\nexec "%s" -Wall -Wextra -Werror "$@"\n' "$(command -v "$CC")" >"$work/bin/cc"
    chmod +x "$work/bin/cc"
    cd "$work/guide"
    CUDA_VISIBLE_DEVICES='' PATH=$work/bin:$prefix/bin:$PATH LD_LIBRARY_PATH=$lib "$PYTHON" "$here/guide.py" "$(cd "$here/../.." && pwd)"
}

# As a package is made: to a staging folder, with nothing beside it.
destdir() {
    local stage=$work/stage wanted file
    DESTDIR=$stage lock cmake --install "$build" --prefix /opt/gp >/dev/null
    wanted="include/gpuprim/gpuprim.h include/gpuprim/array.h include/gpuprim/explain.h include/gpuprim/window.h $libdir/libgpuprim.so \
        $libdir/libgpuprim.so.0 $libdir/libgpuprim.a \
        $libdir/pkgconfig/gpuprim.pc $libdir/cmake/gpuprim/gpuprim-config.cmake $libdir/cmake/gpuprim/gpuprim-config-version.cmake"
    for file in $wanted; do
        [ -e "$stage/opt/gp/$file" ] || { echo "$file is missing"; exit 1; }
    done
    [ "$(cd "$stage" && echo ./* ./*/*)" = "./opt ./opt/gp" ] || { echo "files outside the prefix"; exit 1; }
    if grep -rIl "$stage" "$stage"; then
        echo "these files hold the staging folder"
        exit 1
    fi
    lib=$stage/opt/gp/$libdir
    # shellcheck disable=SC2046
    PKG_CONFIG_PATH=$lib/pkgconfig "$CC" $(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --cflags gpuprim) consumer.c \
        $(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --libs gpuprim) -o consumer
    expect_links shared ./consumer
}

install_and_uninstall() {
    cmake --install "$build" --prefix "$work/first"
    [ -e "$work/first/$libdir/libgpuprim.so.0" ] || { echo "nothing was installed"; exit 1; }
    cmake --build "$build" --target uninstall
    [ -z "$(find "$work/first" ! -type d)" ] || { find "$work/first" ! -type d; echo "these are left"; exit 1; }
}

uninstall() {
    export build work libdir
    export -f install_and_uninstall
    lock bash -euc install_and_uninstall >log 2>&1 || { cat log; exit 1; }
}

# Who asks for one kind of library is told that it makes no difference.
build_shared_libs() {
    cmake -S "$here/../.." -B out -DGPUPRIM_CUDA=OFF -DGPUPRIM_TESTS=OFF -DGPUPRIM_TOOLS=OFF -DGPUPRIM_EXAMPLES=OFF \
        -DCMAKE_C_COMPILER="$CC" -DBUILD_SHARED_LIBS=OFF >log 2>&1 || { cat log; exit 1; }
    grep -q 'BUILD_SHARED_LIBS makes no difference' log || { cat log; exit 1; }
}

"$way"
