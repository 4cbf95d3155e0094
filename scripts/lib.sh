# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Shell functions that the scripts of this folder share. Source it: . "$(dirname "$0")/lib.sh"

say() {
    printf '==> %s\n' "$*"
}

fail() {
    printf 'FAILED: %s\n' "$*" >&2
    exit 1
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        fail "this needs root: $*"
    fi
}

apt() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 "$@"
}

# install_missing <command or file>:<package>...: installs the packages whose command or file is not there.
install_missing() {
    local pair packages=()
    for pair in "$@"; do
        case $pair in
        /*) [ -e "${pair%%:*}" ] || packages+=("${pair#*:}") ;;
        *) command -v "${pair%%:*}" >/dev/null || packages+=("${pair#*:}") ;;
        esac
    done
    [ ${#packages[@]} -gt 0 ] || return 0
    command -v apt-get >/dev/null || fail "not a Debian or Ubuntu system; install what these packages hold: ${packages[*]}"
    say "installing ${packages[*]}"
    apt update >/dev/null || fail "apt-get update"
    apt install --no-install-recommends "${packages[@]}" >/dev/null || fail "apt-get install ${packages[*]}"
}

# What every build of the library needs.
install_build_tools() {
    install_missing gcc:gcc /usr/include/stdio.h:libc6-dev cmake:cmake ninja:ninja-build pkg-config:pkg-config "$@"
    local version
    version=$(cmake --version | sed -n '1s/[^0-9]*//p')
    if [ "$(printf '%s\n3.25\n' "$version" | sort -V | head -n 1)" != 3.25 ]; then
        fail "cmake $version is too old, 3.25 or newer is needed (a newer one: https://apt.kitware.com or pip install cmake)"
    fi
}

# What the tests need besides; the command needs libpng and jansson, the oracles GMP.
install_test_tools() {
    local gmp
    gmp=/usr/include/$(gcc -print-multiarch 2>/dev/null || true)/gmp.h
    install_build_tools g++:g++ python3:python3 /usr/include/cmocka.h:libcmocka-dev /usr/include/png.h:libpng-dev \
        /usr/include/jansson.h:libjansson-dev "$gmp:libgmp-dev" "$@"
}

# clang's libFuzzer lies in a package of clang's run time.
install_fuzz_tools() {
    install_test_tools clang:clang
    [ -e "$(clang -print-file-name=lib/linux/libclang_rt.fuzzer-$(uname -m).a)" ] ||
        install_missing "/no/such/file:libclang-rt-$(clang -dumpversion | cut -d . -f 1)-dev"
}

# nvcc needs a C++ compiler; without nvcc none is needed to build the library.
has_nvcc() {
    command -v nvcc >/dev/null || [ -x "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc" ]
}

# report_tests <file that ctest --output-junit wrote>: counts, why tests were skipped, and the last word. 1: not all passed.
report_tests() {
    awk '
        function attribute(name) { return match($0, name "=\"[0-9]+\"") ? substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 3) : "" }
        /<testsuite/ { head = 1 }
        head && attribute("tests") != "" { tests = attribute("tests") + 0 }
        head && attribute("failures") != "" { failed = attribute("failures") + 0 }
        head && attribute("skipped") != "" { skipped = attribute("skipped") + 0 }
        head && />/ { head = 0 }
        /<testcase / { in_skipped = 0 }
        /<skipped/ { in_skipped = 1; reason = "no reason given" }
        in_skipped && match($0, /[Ss]kipped: /) { reason = substr($0, RSTART + RLENGTH); sub(/<\/system-out>.*/, "", reason) }
        in_skipped && /<\/testcase>/ { if (!(reason in seen)) { seen[reason]; reasons = reasons (reasons == "" ? "" : "; ") reason } }
        END {
            passed = tests - failed - skipped
            printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
            why = skipped ? " (" reasons ")" : ""
            if (tests == 0 || failed) { printf "FAILED: %d of %d tests failed, %d skipped%s\n", failed, tests, skipped, why; exit 1 }
            printf "PASSED: %d tests passed, %d skipped%s\n", passed, skipped, why
        }' "$1"
}
