# Installs the program, libsmemtune as a shared and a static library, the public headers, a CMake package
# (find_package(smemtune)) and pkg-config files. Both libraries are made of the layers' objects, which are compiled
# once.
include(CMakePackageConfigHelpers)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME runtime)  # the shared library and the files that it reads at run time
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/smemtune)
set(exports ${PROJECT_SOURCE_DIR}/runtime/c/exports.map)

set(objects)
set(dependencies)
foreach(layer util templates db runtime)
    list(APPEND objects $<TARGET_OBJECTS:smemtune_${layer}>)
    get_target_property(layer_dependencies smemtune_${layer} SMEMTUNE_DEPENDENCIES)
    list(APPEND dependencies ${layer_dependencies})
endforeach()
list(REMOVE_DUPLICATES dependencies)

# smemtune_library(shared|static): makes the library of this kind and installs it with its own CMake package.
function(smemtune_library kind)
    string(TOUPPER ${kind} type)
    add_library(smemtune_${kind} ${type} ${objects})
    set_target_properties(smemtune_${kind} PROPERTIES
        OUTPUT_NAME smemtune EXPORT_NAME ${kind} LINKER_LANGUAGE CXX UNITY_BUILD OFF
        # Before version 1.0, a new minor version may change the interface.
        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    target_include_directories(smemtune_${kind} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_compile_features(smemtune_${kind} INTERFACE cxx_std_20)
    target_link_libraries(smemtune_${kind} PRIVATE ${dependencies})
    install(TARGETS smemtune_${kind} EXPORT smemtune_${kind}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
    install(EXPORT smemtune_${kind} NAMESPACE smemtune:: FILE smemtune_${kind}.cmake DESTINATION ${package_folder}
        COMPONENT dev)
endfunction()

smemtune_library(static)
if(SMEMTUNE_SHARED)
    smemtune_library(shared)
    target_link_options(smemtune_shared PRIVATE LINKER:--version-script=${exports})
    set_target_properties(smemtune_shared PROPERTIES LINK_DEPENDS ${exports})
endif()

install(TARGETS smemtune RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
include(Manual)
# Installs the three public headers. Two keep their folders, because runtime.h includes problem.h by a relative path.
# All other headers are internal and not installed.
install(FILES runtime/c/smemtune.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/smemtune COMPONENT dev)
install(FILES runtime/runtime.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/smemtune/runtime COMPONENT dev)
install(FILES templates/space/problem.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/smemtune/templates/space COMPONENT dev)

configure_package_config_file(cmake/smemtuneConfig.cmake.in ${PROJECT_BINARY_DIR}/smemtuneConfig.cmake
    INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/smemtuneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/smemtuneConfig.cmake ${PROJECT_BINARY_DIR}/smemtuneConfigVersion.cmake
    DESTINATION ${package_folder} COMPONENT dev)

# For pkg-config: the libraries that a program needs when it links the static library.
set(requires sqlite3 libmd fmt)
set(libraries -lSQLiteCpp -lboost_context)
if(SMEMTUNE_PORTABLE)
    set(requires)
    set(libraries -lSQLiteCpp -l:libboost_context.a -l:libsqlite3.a -l:libmd.a)
endif()
list(JOIN requires ", " requires)
list(JOIN libraries " " libraries)
file(RELATIVE_PATH prefix_of_pkgconfig /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
set(folder ${PROJECT_BINARY_DIR}/pkgconfig)
configure_file(cmake/smemtune-static.pc.in ${folder}/smemtune-static.pc @ONLY)
if(SMEMTUNE_SHARED)
    configure_file(cmake/smemtune.pc.in ${folder}/smemtune.pc @ONLY)
endif()
install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)

include(Debian)
