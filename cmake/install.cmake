# SPDX-License-Identifier: GPL-3.0-or-later
# The program, the public headers, the library, shared and static, with a pkg-config file and a CMake
# package.
if(NOT TARGET dlsim)
  return()
endif()

add_library(dlsim_static STATIC ${objects})
set_target_properties(dlsim_static PROPERTIES OUTPUT_NAME dlsim LINKER_LANGUAGE C)
# SOVERSION and the version in dlsim.map change together, when a program that is linked with the library
# would have to be compiled again.
set(map ${CMAKE_CURRENT_SOURCE_DIR}/cmake/dlsim.map)
add_library(dlsim_shared SHARED ${objects})
set_target_properties(dlsim_shared PROPERTIES OUTPUT_NAME dlsim LINKER_LANGUAGE C SOVERSION 1
  VERSION 1.0 LINK_DEPENDS ${map})
target_link_options(dlsim_shared PRIVATE -Wl,--version-script=${map} -Wl,--no-undefined)
target_link_libraries(dlsim_shared PRIVATE dlsim_flags dlsim::gsl dlsim::libconfig dlsim::hdf5
  dlsim::zlib dlsim::deflate dlsim::jsonc dlsim::protobufc dlsim::glpk Threads::Threads m ${CMAKE_DL_LIBS})

# From the folders of the two package files up to the prefix: LIBDIR may be lib or lib/<triplet>.
string(REGEX REPLACE "[^/]+" ".." up ${CMAKE_INSTALL_LIBDIR})
set(DLSIM_UP_FROM_PC ${up}/..)
set(DLSIM_UP_FROM_CMAKE ${up}/../..)
foreach(file dlsim.pc dlsimConfig.cmake)
  configure_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/${file}.in ${CMAKE_CURRENT_BINARY_DIR}/${file} @ONLY)
endforeach()
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/dlsimConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)

install(TARGETS dlsim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS dlsim_static dlsim_shared DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY sim/include/dlsim DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dlsim.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dlsimConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/dlsimConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dlsim)
install(DIRECTORY plots DESTINATION ${CMAKE_INSTALL_DATADIR}/dlsim PATTERN __pycache__ EXCLUDE)
install(DIRECTORY traces/samples DESTINATION ${CMAKE_INSTALL_DATADIR}/dlsim/traces
  FILES_MATCHING PATTERN *.csv)
install(DIRECTORY configs DESTINATION ${CMAKE_INSTALL_DATADIR}/dlsim FILES_MATCHING PATTERN *.cfg PATTERN *.csv
    PATTERN *.csv.gz)
install(DIRECTORY predictor/inspectors DESTINATION ${CMAKE_INSTALL_DATADIR}/dlsim OPTIONAL
  FILES_MATCHING PATTERN *.h5)
install(DIRECTORY predictor/measure/bench DESTINATION ${CMAKE_INSTALL_DATADIR}/dlsim
  FILES_MATCHING PATTERN *.py)
install(FILES docs/dlsim.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES cmake/dlsim.bash RENAME dlsim
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
