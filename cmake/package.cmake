# SPDX-License-Identifier: GPL-3.0-or-later
# cpack -G DEB: a Debian package of a build with the prefix /usr; what it depends on is read from the program.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dlsim)
set(CPACK_PACKAGE_CONTACT "the dlsim authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3-h5py, python3-pandas, python3-plotly, python3-matplotlib")
include(CPack)
