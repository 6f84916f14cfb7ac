# SPDX-License-Identifier: GPL-3.0-or-later
#
# What is run from a build folder finds the source's data around it (sim/base/datapath.c), or by this link.
file(RELATIVE_PATH DLSIM_TO_BUILD ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
if(NOT DLSIM_TO_BUILD MATCHES "^[^/]+(/[^/]+)?$" OR DLSIM_TO_BUILD MATCHES "^\\.\\.")
  file(CREATE_LINK ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/source SYMBOLIC)
endif()
