# The program, the libraries, the public headers, and a CMake package: find_package(smemtune), smemtune::runtime.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/smemtune)

install(TARGETS smemtune RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS smemtune_util smemtune_templates smemtune_db smemtune_runtime EXPORT smemtune
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

# The other headers are internal. These keep their folders, because runtime.h finds problem.h beside its own.
install(FILES runtime/runtime.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/smemtune/runtime)
install(FILES templates/space/problem.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/smemtune/templates/space)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT smemtune NAMESPACE smemtune:: FILE smemtuneTargets.cmake DESTINATION ${package_folder})
configure_package_config_file(cmake/smemtuneConfig.cmake.in ${PROJECT_BINARY_DIR}/smemtuneConfig.cmake
    INSTALL_DESTINATION ${package_folder})
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/smemtuneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/smemtuneConfig.cmake ${PROJECT_BINARY_DIR}/smemtuneConfigVersion.cmake
    DESTINATION ${package_folder})
