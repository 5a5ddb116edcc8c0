# Compiles the portfolios of db/portfolios/ with NVRTC, which needs no GPU, into one database for each architecture.
# Installs the databases where the runtime looks for system databases.
set(default_targets)
if(PROJECT_IS_TOP_LEVEL)
    set(default_targets all)
endif()
set(SMEMTUNE_PORTFOLIO_TARGETS "${default_targets}" CACHE STRING
    "Architectures (such as 90;100) whose portfolios are compiled and installed. all: those of db/portfolios. Empty: none")

set(SMEMTUNE_PORTFOLIOS "" CACHE STRING
    "Regular expression: only portfolios whose file names match are compiled, such as gemm-f32. Empty: all")

file(GLOB portfolio_texts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/db/portfolios/*.toml)
set(portfolio_databases)
set(any_matches NO)
foreach(text IN LISTS portfolio_texts)
    get_filename_component(name ${text} NAME)
    if(SMEMTUNE_PORTFOLIOS AND NOT name MATCHES "${SMEMTUNE_PORTFOLIOS}")
        continue()
    endif()
    set(any_matches YES)
    file(STRINGS ${text} architecture REGEX "^compute_capability = [0-9]+$" LIMIT_COUNT 1)
    string(REGEX REPLACE ".* = " "" architecture "${architecture}")
    if(SMEMTUNE_PORTFOLIO_TARGETS STREQUAL "all" OR architecture IN_LIST SMEMTUNE_PORTFOLIO_TARGETS)
        list(APPEND portfolio_texts_${architecture} ${text})
        list(APPEND portfolio_databases ${architecture})
    endif()
endforeach()
if(SMEMTUNE_PORTFOLIOS AND NOT any_matches)
    message(FATAL_ERROR "SMEMTUNE_PORTFOLIOS: no file of db/portfolios matches '${SMEMTUNE_PORTFOLIOS}'")
endif()
list(REMOVE_DUPLICATES portfolio_databases)
foreach(architecture IN LISTS SMEMTUNE_PORTFOLIO_TARGETS)
    if(NOT architecture STREQUAL "all" AND NOT architecture IN_LIST portfolio_databases)
        message(FATAL_ERROR "SMEMTUNE_PORTFOLIO_TARGETS: db/portfolios has no portfolio for ${architecture}")
    endif()
endforeach()

# A database depends on the portfolios' texts and on the kernels. The program that compiles the portfolios must be built
# first. But an edit of the program must not compile all portfolios again.
get_target_property(kernels smemtune_templates SMEMTUNE_KERNELS)
list(TRANSFORM portfolio_databases REPLACE "(.+)" "${PROJECT_BINARY_DIR}/portfolios/sm_\\1.db" OUTPUT_VARIABLE files)
foreach(architecture IN LISTS portfolio_databases)
    set(file ${PROJECT_BINARY_DIR}/portfolios/sm_${architecture}.db)
    add_custom_command(
        OUTPUT ${file}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/portfolios
        COMMAND ${CMAKE_COMMAND} -E rm -f ${file}  # if no member compiles, 'db compile' would keep the old file
        COMMAND smemtune db compile --to ${file} ${portfolio_texts_${architecture}}
        DEPENDS ${portfolio_texts_${architecture}} ${kernels}
        COMMENT "Compiling the shipped portfolios for sm_${architecture}"
        VERBATIM)
endforeach()
if(files)
    add_custom_target(portfolios ALL DEPENDS ${files})
    # Installed databases are read-only.
    install(FILES ${files} COMPONENT runtime DESTINATION ${CMAKE_INSTALL_DATADIR}/smemtune/portfolios
        PERMISSIONS OWNER_READ GROUP_READ WORLD_READ)
endif()
