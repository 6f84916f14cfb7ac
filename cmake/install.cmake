# SPDX-License-Identifier: GPL-3.0-or-later
if(TARGET dlsim)
  install(TARGETS dlsim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY sim/include/dlsim DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
