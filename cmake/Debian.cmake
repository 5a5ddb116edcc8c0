# `cpack -G DEB` in the build folder makes three Debian packages: the shared library, the development files, the
# program.
set(abi ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL runtime dev tools)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PACKAGE_CONTACT "the smemtune authors <smemtune@localhost>")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libsmemtune${abi})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "${PROJECT_DESCRIPTION}: shared library")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_GENERATE_SHLIBS ON)

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libsmemtune-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_DESCRIPTION "${PROJECT_DESCRIPTION}: headers and static library")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libsmemtune${abi} (= ${PROJECT_VERSION})")
# Only the static library needs these packages. It also needs the CUDA Toolkit.
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS
    "libsqlitecpp-dev, libsqlite3-dev, libfmt-dev, libboost-context-dev, libmd-dev")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME smemtune)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOLS_DESCRIPTION "${PROJECT_DESCRIPTION}")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER ${component} upper)
    install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME}
        RENAME copyright COMPONENT ${component})
endforeach()
# Licenses of the JavaScript libraries that reports contain.
install(FILES tuner/page/web/vendor/LICENSES DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/smemtune
    COMPONENT tools)
include(CPack)
