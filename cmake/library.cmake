# SPDX-License-Identifier: Apache-2.0
# The library: its sources, compiled once, and the shared and static library made of them.
set(host_sources
  api.c catalogue.c context.c copy_out.c create.c device.c exact.c explain.c footprint.c fork.c occupancy.c
  plan.c primitives.c run.c split.c status.c
  cpu/available.c cpu/threads.c
  rearrange/call.c rearrange/cpu.c rearrange/cpu_job.c rearrange/cpu_quick.c
  rearrange/fit_mirror.c rearrange/fit_pick.c rearrange/fit_pieces.c rearrange/fit_tiles.c rearrange/problem.c
  rearrange/rows.c rearrange/split.c
  rearrange_array/boxes.c rearrange_array/call.c rearrange_array/cpu.c
  rearrange_array/cpu_elements.c rearrange_array/cpu_pairs.c rearrange_array/cpu_planes.c rearrange_array/cpu_rectangles.c
  rearrange_array/cpu_runs.c rearrange_array/cpu_strips.c rearrange_array/fit.c rearrange_array/fit_cycle.c rearrange_array/pairs.c
  rearrange_array/problem.c rearrange_array/raw.c rearrange_array/rows.c rearrange_array/views.c
  rearrange_array/walks.c
  reduce/call.c reduce/cpu.c reduce/problem.c reduce/rows.c
  reduce_array/accumulator.c reduce_array/accumulator_write.c reduce_array/call.c reduce_array/check.c
  reduce_array/columns.c reduce_array/cpu.c reduce_array/cpu_blocks.c reduce_array/cpu_bounds.c
  reduce_array/cpu_gathered.c reduce_array/cpu_passes.c reduce_array/fit.c reduce_array/fit_forms.c
  reduce_array/fit_many.c reduce_array/made.c reduce_array/operations.c
  reduce_array/problem.c reduce_array/rows.c reduce_array/views.c reduce_array/work.c
  study/recursive.c study/rows.c
  window/call.c window/cpu.c window/cpu_batch.c window/cpu_slide.c
  window/fit_rows.c window/fit_scan.c window/problem.c window/rows.c window/split.c
  window_array/call.c window_array/check.c window_array/cpu_boxes.c window_array/cpu_floats.c
  window_array/cpu_plain.c window_array/cpu_tiles.c window_array/fit.c window_array/fit_any.c
  window_array/fit_extremes.c window_array/fit_lanes.c window_array/fold.c window_array/one.c
  window_array/problem.c window_array/pack.c window_array/rows.c window_array/views.c)
list(TRANSFORM host_sources PREPEND src/host/)

# What is compiled for each instruction set: a primitive's cpu_simd.h over the vectors of cpu/simd_<instructions>.h.
set(host ${PROJECT_SOURCE_DIR}/src/host)
foreach(primitive rearrange reduce reduce_array window window_array)
  foreach(instructions avx2 avx512 neon)
    set(source ${PROJECT_BINARY_DIR}/src/host/${primitive}/cpu_${instructions}.c)
    file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
      "#include \"${host}/cpu/simd_${instructions}.h\"\n#include \"${host}/${primitive}/cpu_simd.h\"\n")
    list(APPEND host_sources ${source})
    if(GPUPRIM_COVERAGE) # where no constant is folded one function is 50 MB
      set_property(SOURCE ${source} PROPERTY COMPILE_OPTIONS -O1)
    elseif(GPUPRIM_SANITIZE AND CMAKE_C_COMPILER_ID MATCHES "Clang" AND primitive STREQUAL rearrange)
      set_property(SOURCE ${source} PROPERTY COMPILE_OPTIONS -O0) # at -O1 clang takes 150 s for one of these files, at -O0 3 s
    endif()
  endforeach()
endforeach()
# Square roots as instructions, in vectors: nobody asks for errno, and the library needs no libm. Nor for flags of
# exceptions, so that both sides of a choice may be computed.
set(of_windows ${PROJECT_BINARY_DIR}/src/host/window_array/cpu_)
set(of_reductions ${PROJECT_BINARY_DIR}/src/host/reduce_array/cpu_)
set_property(SOURCE src/host/window_array/cpu_plain.c src/host/window_array/cpu_floats.c
  ${of_windows}avx2.c ${of_windows}avx512.c ${of_windows}neon.c
  ${of_reductions}avx2.c ${of_reductions}avx512.c ${of_reductions}neon.c
  APPEND PROPERTY COMPILE_OPTIONS -fno-math-errno -fno-trapping-math)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set_property(SOURCE ${of_windows}avx512.c APPEND PROPERTY COMPILE_OPTIONS -mprefer-vector-width=512)
endif()

if(GPUPRIM_WITH_CUDA)
  set(device_sources
    driver.c enqueue.c memory.c query.c
    rearrange/mirror.cu rearrange/mirror_pick.cu rearrange/pick.cu rearrange/pieces.cu rearrange/plain.cu
    rearrange/skew.cu rearrange/strip.cu rearrange/swap.cu rearrange/vector.cu
    rearrange_array/any.cu rearrange_array/cycle.cu rearrange_array/pairs.c rearrange_array/tile.cu
    reduce/reduce.cu
    reduce_array/all.cu reduce_array/any.cu reduce_array/many.cu reduce_array/short.cu
    stage/memory.c stage/move.c stage/run.c stage/stage.c stage/whole.c
    study/reduce_ladder.cu study/reduce_ladder_sum.c study/window_ladder.cu
    window/naive.cu window/rows.cu window/scan.cu window/stream.cu
    window_array/any.cu window_array/bytes.cu window_array/extremes.cu window_array/floats.cu window_array/means.cu
    window_array/line.cu window_array/near.cu
    window_array/walks.cu)
else()
  set(device_sources none.c)
endif()
list(TRANSFORM device_sources PREPEND src/device/)

set(THREADS_PREFER_PTHREAD_FLAG OFF)
find_package(Threads REQUIRED)
set(gp_needs Threads::Threads)
if(GPUPRIM_WITH_CUDA)
  list(APPEND gp_needs CUDA::cudart_static)
endif()

add_library(gpuprim_objects OBJECT ${host_sources} ${device_sources})
gp_flags(gpuprim_objects)
target_compile_options(gpuprim_objects PRIVATE $<$<COMPILE_LANGUAGE:C>:${gp_counting}>)
target_include_directories(gpuprim_objects PUBLIC ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(gpuprim_objects PUBLIC ${gp_needs})

add_library(gpuprim SHARED $<TARGET_OBJECTS:gpuprim_objects>)
add_library(gpuprim::gpuprim ALIAS gpuprim)
set(map ${PROJECT_SOURCE_DIR}/src/host/gpuprim.map)
set_target_properties(gpuprim PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${GPUPRIM_SOVERSION} LINK_DEPENDS ${map})
# Threads sleep in the library until their context is destroyed, and CUDA remembers its kernels: dlclose() may not take
# it away beneath them.
target_link_options(gpuprim PRIVATE
  LINKER:--version-script=${map} LINKER:--no-undefined-version LINKER:--as-needed LINKER:--exclude-libs,ALL
  LINKER:-z,nodelete)
if(NOT GPUPRIM_SANITIZE) # a sanitizer's own symbols come from the program
  target_link_options(gpuprim PRIVATE LINKER:--no-undefined)
endif()

# The archive holds one object, in which names that are not the public calls' are local: a program may have functions
# of those names. Groups become plain sections, as a program with CUDA code of its own has groups of the same names.
set(whole ${CMAKE_CURRENT_BINARY_DIR}/gpuprim_whole.o)
separate_arguments(relink UNIX_COMMAND "${CMAKE_C_COMPILER} ${CMAKE_C_FLAGS} -r -nostdlib -fuse-ld=bfd")
if(CMAKE_C_COMPILER_TARGET)
  list(APPEND relink ${CMAKE_C_COMPILE_OPTIONS_TARGET}${CMAKE_C_COMPILER_TARGET})
endif()
add_custom_command(OUTPUT ${whole} DEPENDS $<TARGET_OBJECTS:gpuprim_objects> COMMAND_EXPAND_LISTS VERBATIM
  COMMAND ${relink} -Wl,--force-group-allocation $<TARGET_OBJECTS:gpuprim_objects> -o ${whole}
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${whole})
set_source_files_properties(${whole} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
add_library(gpuprim_static STATIC ${whole})
add_library(gpuprim::static ALIAS gpuprim_static)
set_target_properties(gpuprim_static PROPERTIES OUTPUT_NAME gpuprim EXPORT_NAME static)

foreach(library gpuprim gpuprim_static)
  gp_flags(${library})
  target_include_directories(${library} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${library} PRIVATE ${gp_needs})
endforeach()
