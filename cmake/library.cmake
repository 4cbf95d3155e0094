# SPDX-License-Identifier: Apache-2.0
# The library: its sources, compiled once, and the shared and static library made of them.
set(host_sources
  api.c catalogue.c context.c copy_out.c device.c explain.c fork.c occupancy.c place.c plan.c problem.c
  rows_ladder.c rows_reduce.c rows_transpose.c rows_window.c run.c shape.c status.c
  transpose_cut.c transpose_cut_mirror.c transpose_cut_pick.c transpose_supports.c window_cut.c
  cpu/available.c cpu/recursive.c cpu/threads.c
  cpu/reduce.c cpu/reduce_avx2.c cpu/reduce_avx512.c cpu/reduce_neon.c
  cpu/transpose.c cpu/transpose_avx2.c cpu/transpose_avx512.c cpu/transpose_neon.c
  cpu/transpose_lines.c cpu/transpose_quick.c cpu/transpose_runs.c cpu/transpose_skew.c cpu/transpose_thin.c cpu/transpose_thin_avx2.c
  cpu/transpose_thin_avx512.c cpu/transpose_tiles.c
  cpu/window.c cpu/window_avx2.c cpu/window_avx512.c cpu/window_avx512_row.c cpu/window_neon.c
  cpu/window_batch.c cpu/window_batch_avx2.c cpu/window_batch_avx512.c cpu/window_batch_map.c
  cpu/window_batch_stream.c cpu/window_border.c cpu/window_slide.c)
list(TRANSFORM host_sources PREPEND src/host/)

if(GPUPRIM_WITH_CUDA)
  set(device_sources
    driver.c launch.c memory.c query.c stage.c stage_cut.c stage_memory.c stage_move.c stage_rates.c stage_run.c
    reduce.cu reduce_ladder.cu reduce_ladder_smem.cu reduce_ladder_sum.c
    transpose.cu transpose_any.cu transpose_bulk.cu transpose_quad.cu transpose_rows.cu transpose_skew.cu
    transpose_strip.cu transpose_vector.cu
    transpose_mirror.cu transpose_mirror_bytes.cu transpose_mirror_pick.cu transpose_mirror_quads.cu
    transpose_pick.cu transpose_pick_any.cu transpose_pick_flow.cu transpose_pick_long.cu transpose_pick_thin.cu
    transpose_pick_whole.cu
    window.cu window_flat.cu window_ladder.cu window_rows.cu window_scan.cu window_scan_few.cu window_stream.cu)
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
target_include_directories(gpuprim_objects PUBLIC ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(gpuprim_objects PUBLIC ${gp_needs})

add_library(gpuprim SHARED $<TARGET_OBJECTS:gpuprim_objects>)
add_library(gpuprim::gpuprim ALIAS gpuprim)
set(map ${PROJECT_SOURCE_DIR}/src/host/gpuprim.map)
set_target_properties(gpuprim PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${GPUPRIM_SOVERSION} LINK_DEPENDS ${map})
target_link_options(gpuprim PRIVATE
  LINKER:--version-script=${map} LINKER:--no-undefined-version LINKER:--as-needed LINKER:--exclude-libs,ALL
  LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
if(NOT GPUPRIM_SANITIZE) # a sanitizer's own symbols come from the program
  target_link_options(gpuprim PRIVATE LINKER:--no-undefined)
endif()

add_library(gpuprim_static STATIC $<TARGET_OBJECTS:gpuprim_objects>)
add_library(gpuprim::static ALIAS gpuprim_static)
set_target_properties(gpuprim_static PROPERTIES OUTPUT_NAME gpuprim EXPORT_NAME static)

foreach(library gpuprim gpuprim_static)
  gp_flags(${library})
  target_include_directories(${library} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${library} PRIVATE ${gp_needs})
endforeach()
