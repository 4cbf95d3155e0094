# SPDX-License-Identifier: Apache-2.0
# Decides whether the GPU part is built, says why, and for which architectures. Sets GPUPRIM_WITH_CUDA.
include(CheckLanguage)

set(GPUPRIM_WITH_CUDA OFF)
set(cuda_minimum 12.4) # __maxnreg__

if(NOT GPUPRIM_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "GPUPRIM_CUDA is ${GPUPRIM_CUDA}; it must be AUTO, ON or OFF")
endif()

# `native` without a GPU builds nvcc's default architecture and only warns.
if(GPUPRIM_CUDA_ARCHITECTURES MATCHES "native")
  message(FATAL_ERROR "GPUPRIM_CUDA_ARCHITECTURES: name the architectures, `native` depends on the machine that builds")
endif()

if(GPUPRIM_CUDA STREQUAL OFF)
  set(cuda_reason "GPUPRIM_CUDA is OFF")
else()
  # CMake looks on PATH only; the toolkit's own installer puts nvcc elsewhere.
  find_program(GPUPRIM_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
  mark_as_advanced(GPUPRIM_NVCC)
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX} AND GPUPRIM_NVCC)
    unset(CMAKE_CUDA_COMPILER CACHE)
    set(CMAKE_CUDA_COMPILER ${GPUPRIM_NVCC})
  endif()
  set(cuda_compiler "${CMAKE_CUDA_COMPILER}")
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    # The compiler check needs some architecture; the library's own list is set below.
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES OFF)
    endif()
    enable_language(CUDA)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS cuda_minimum)
      set(cuda_reason "nvcc ${CMAKE_CUDA_COMPILER_VERSION} is older than ${cuda_minimum}")
    else()
      find_package(CUDAToolkit REQUIRED)
      set(GPUPRIM_WITH_CUDA ON)
      set(cuda_reason "nvcc ${CMAKE_CUDA_COMPILER_VERSION} at ${CMAKE_CUDA_COMPILER}")
    endif()
  elseif(cuda_compiler)
    set(cuda_reason "${cuda_compiler} does not work with this C++ compiler")
  else()
    set(cuda_reason "no nvcc on PATH, in CUDA_PATH, CUDA_HOME or /usr/local/cuda")
  endif()
endif()

if(GPUPRIM_CUDA STREQUAL ON AND NOT GPUPRIM_WITH_CUDA)
  message(FATAL_ERROR "GPUPRIM_CUDA is ON, but ${cuda_reason}")
endif()

if(GPUPRIM_WITH_CUDA)
  set(cuda_architectures ${GPUPRIM_CUDA_ARCHITECTURES})
  if(NOT cuda_architectures)
    # Real code for each generation since Turing; 8.6 and 8.9 run that of 8.0. PTX of 100, or of 90 where this nvcc knows
    # no later one, reaches the GPUs that no real code fits: 11.0, and those to come.
    execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-arch OUTPUT_VARIABLE known)
    set(cuda_architectures 75-real 80-real 90)
    if(known MATCHES "compute_100\n" AND known MATCHES "compute_120\n")
      set(cuda_architectures 75-real 80-real 90-real 100 120-real)
    endif()
  endif()
  message(STATUS "gpuprim ${PROJECT_VERSION}: with CUDA (${cuda_reason}) for ${cuda_architectures}")
else()
  message(STATUS "gpuprim ${PROJECT_VERSION}: without CUDA, processor only (${cuda_reason})")
endif()
