# SPDX-License-Identifier: Apache-2.0
# Compiler flags of everything in this tree, as the function gp_flags(target).
include(CheckCCompilerFlag)
include(CheckCompilerFlag)

set(gp_warnings -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wmissing-prototypes)
# -Wpedantic and -Wconversion would judge the code that nvcc generates; nothing in a .cu has a C prototype.
set(gp_cuda_flags -Xcompiler=-Wall,-Wextra,-Wshadow)
if(GPUPRIM_WERROR)
  list(APPEND gp_warnings -Werror)
  list(APPEND gp_cuda_flags -Xcompiler=-Werror -Werror=all-warnings)
endif()

# Cheap protections, kept where the compiler knows them.
set(gp_hardening "")
foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection)
  string(MAKE_C_IDENTIFIER "GPUPRIM_HAVE${flag}" have)
  check_c_compiler_flag(${flag} ${have})
  if(${have})
    list(APPEND gp_hardening ${flag})
  endif()
endforeach()
if(NOT GPUPRIM_SANITIZE)
  # Undefined first: some distributions' compilers define it themselves. It needs optimisation.
  list(APPEND gp_hardening $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
endif()

if(GPUPRIM_WITH_CUDA)
  # Host code that needs no libstdc++, so that the library needs libc alone.
  list(APPEND gp_cuda_flags -Xcompiler=-fno-exceptions,-fno-rtti,-fno-threadsafe-statics)
  check_compiler_flag(CUDA --compress-mode=size GPUPRIM_HAVE_COMPRESS_MODE)
  if(GPUPRIM_HAVE_COMPRESS_MODE)
    list(APPEND gp_cuda_flags --compress-mode=size) # a quarter of the default's size
  endif()
endif()

set(gp_sanitize "")
if(GPUPRIM_SANITIZE)
  set(gp_sanitize -fsanitize=${GPUPRIM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
endif()

# What is counted is not optimised, so that a line is one; the tests are, which compute far more than what they test.
set(gp_counting "")
if(GPUPRIM_COVERAGE)
  set(gp_counting --coverage -fprofile-update=atomic -O0)
endif()

function(gp_flags target)
  set_target_properties(${target} PROPERTIES
    C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF C_VISIBILITY_PRESET hidden
    CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF CUDA_VISIBILITY_PRESET hidden
    CUDA_ARCHITECTURES "${cuda_architectures}" CUDA_RUNTIME_LIBRARY None
    VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON LINKER_LANGUAGE C)
  target_compile_definitions(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE>
    $<$<BOOL:${GPUPRIM_WITH_CUDA}>:GPUPRIM_WITH_CUDA>)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:C>:${gp_warnings};${gp_hardening};${gp_sanitize}>
    $<$<COMPILE_LANGUAGE:CUDA>:${gp_cuda_flags}>)
  target_link_options(${target} PRIVATE ${gp_sanitize} $<$<BOOL:${GPUPRIM_COVERAGE}>:--coverage>
    LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
endfunction()
