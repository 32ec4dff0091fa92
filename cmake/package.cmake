# `cpack` in the build folder: a Debian package with the program, its manual pages and completions, the library and the C interface
# (tools/package-deb builds and tests it).
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME remede)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Decision trees that remember")
set(CPACK_PACKAGE_CONTACT "The remede developers")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libfmt-dev, nlohmann-json3-dev, zlib1g-dev, libzstd-dev")  # to build against the C++ library
set(CPACK_STRIP_FILES ON)
include(CPack)
