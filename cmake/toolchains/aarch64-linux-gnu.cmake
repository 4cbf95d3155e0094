# SPDX-License-Identifier: Apache-2.0
# For 64-bit ARM on another Debian or Ubuntu: its cross compiler, its arm64 packages, tests in qemu's user mode.
# scripts/cross-aarch64.sh installs these and uses this file.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu) # where find_library() looks for arm64 packages
find_program(GPUPRIM_QEMU NAMES qemu-aarch64 qemu-aarch64-static)
if(GPUPRIM_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${GPUPRIM_QEMU})
endif()
