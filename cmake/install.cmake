# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: headers, libraries, gpuprim.pc, the CMake package.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gpuprim)
install(FILES include/gpuprim/array.h include/gpuprim/explain.h include/gpuprim/gpuprim.h include/gpuprim/window.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gpuprim)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Two sets: a program that links the shared library needs no CUDA toolkit, one that links the archive does.
install(TARGETS gpuprim EXPORT gpuprim-shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS gpuprim_static EXPORT gpuprim-static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(set gpuprim-shared gpuprim-static)
  install(EXPORT ${set} NAMESPACE gpuprim:: DESTINATION ${package_dir} FILE ${set}.cmake)
endforeach()

configure_package_config_file(cmake/gpuprim-config.cmake.in ${PROJECT_BINARY_DIR}/gpuprim-config.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gpuprim-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gpuprim-config.cmake ${PROJECT_BINARY_DIR}/gpuprim-config-version.cmake
  DESTINATION ${package_dir})

# gpuprim.pc finds its prefix from where it lies, however deep libdir is. A directory that was given as an absolute
# path stays absolute.
file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
foreach(dir LIBDIR INCLUDEDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${dir}}")
    set(pc_${dir} ${CMAKE_INSTALL_${dir}})
  else()
    set(pc_${dir} "\${prefix}/${CMAKE_INSTALL_${dir}}")
  endif()
endforeach()
set(pc_libs_private -lpthread)
if(GPUPRIM_WITH_CUDA) # no release of the toolkit has a cudart_static.pc to require
  set(pc_libs_private "-L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt -lpthread")
endif()
configure_file(gpuprim.pc.in ${PROJECT_BINARY_DIR}/gpuprim.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/gpuprim.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
    -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake VERBATIM)
endif()
