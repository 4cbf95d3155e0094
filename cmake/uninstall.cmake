# SPDX-License-Identifier: Apache-2.0
# cmake --build <build folder> --target uninstall: removes the files that the last `cmake --install` of that folder put
# somewhere, and no folder. DESTDIR counts as it did then.
# Usage: cmake -DMANIFEST=<install_manifest.txt> -P uninstall.cmake
if(NOT EXISTS ${MANIFEST})
  message(FATAL_ERROR "nothing is known to be installed: there is no ${MANIFEST}")
endif()
file(STRINGS ${MANIFEST} installed)
foreach(file IN LISTS installed)
  message("-- Removing: $ENV{DESTDIR}${file}")
  file(REMOVE $ENV{DESTDIR}${file})
endforeach()
