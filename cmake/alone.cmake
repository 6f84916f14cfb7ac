# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim_alone: the program linked with archives alone, which runs on any Linux of its processor (packaging/tarball.sh).
# Built with the tests where all archives are there; it opens no libraries at run time: no plug-ins, no device.
if(NOT DLSIM_ARCHIVES OR DLSIM_FUZZ OR DLSIM_SANITIZE)
  return()
endif()
add_executable(dlsim_alone sim/cli/main.c packaging/alone.c ${objects})
if(NOT DLSIM_TESTS)
  set_target_properties(dlsim_alone PROPERTIES EXCLUDE_FROM_ALL YES)
endif()
set_target_properties(dlsim_alone PROPERTIES OUTPUT_NAME dlsim RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/alone)
target_include_directories(dlsim_alone PRIVATE sim/include)
target_link_libraries(dlsim_alone PRIVATE dlsim_flags dlsim::hdf5_headers ${HDF5_ARCHIVE} ${DLSIM_ARCHIVES} m)
target_link_options(dlsim_alone PRIVATE -static)
target_sources(dlsim_alone PRIVATE ${CMAKE_CURRENT_LIST_DIR}/no_ltdl.c)
