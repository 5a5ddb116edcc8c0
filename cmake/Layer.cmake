# smemtune_layer(NAME HEADERS ... SOURCES ... PUBLIC ... PRIVATE ... PRECOMPILE ...): makes the static library
# smemtune::NAME from the sources of one folder. PRECOMPILE lists headers that most sources of this layer include, in
# addition to the headers that are precompiled for every layer.

add_library(smemtune_options INTERFACE)
target_compile_options(smemtune_options INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:SMEMTUNE_JOINED_TESTS>>>:-Wshadow>
    -Wno-missing-field-initializers  # intended: many aggregates have initialisers for only some fields
    # g++ 12 warns falsely about "literal" + string (GCC bug 105329).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    # In unity builds, g++ 12 also warns falsely about uninitialised variables. No preset has a unity build with g++ and
    # -Werror, so builds with -Werror keep this warning.
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<NOT:$<BOOL:${SMEMTUNE_WERROR}>>>:-Wno-maybe-uninitialized>
    $<$<BOOL:${SMEMTUNE_WERROR}>:-Werror>)

function(smemtune_layer name)
    cmake_parse_arguments(LAYER "" "" "HEADERS;SOURCES;PUBLIC;PRIVATE;PRECOMPILE" ${ARGN})
    add_library(smemtune_${name} STATIC ${LAYER_HEADERS} ${LAYER_SOURCES})
    add_library(smemtune::${name} ALIAS smemtune_${name})
    set_target_properties(smemtune_${name} PROPERTIES SMEMTUNE_DEPENDENCIES "${LAYER_PRIVATE}")  # read by Install.cmake
    target_include_directories(smemtune_${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_compile_features(smemtune_${name} PUBLIC cxx_std_20)
    target_link_libraries(smemtune_${name} PUBLIC ${LAYER_PUBLIC} PRIVATE ${LAYER_PRIVATE} smemtune_options)
    if(SMEMTUNE_BUILD_FUZZERS)
        # For fuzzers: records which code an input reaches.
        target_compile_options(smemtune_${name} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
    if(NOT SMEMTUNE_PRECOMPILE)
        return()
    elseif(name STREQUAL "util" OR LAYER_PRECOMPILE)
        target_precompile_headers(smemtune_${name} PRIVATE <algorithm> <array> <chrono> <filesystem> <functional> <map>
            <memory> <optional> <set> <string> <string_view> <thread> <variant> <vector> ${LAYER_PRECOMPILE})
    else()
        target_precompile_headers(smemtune_${name} REUSE_FROM smemtune_util)
    endif()
endfunction()

# smemtune_embed(OUTPUT FUNCTION FOLDER FILES...): writes the C++ source OUTPUT, which defines FUNCTION(). The function
# returns a map from the path of each file below FOLDER to its text.
function(smemtune_embed output function folder)
    set(files ${ARGN})
    list(TRANSFORM files PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/ OUTPUT_VARIABLE paths)
    list(JOIN files "|" listed)
    add_custom_command(
        OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFUNCTION=${function}
                -DFOLDER=${CMAKE_CURRENT_SOURCE_DIR}/${folder} "-DFILES=${listed}"
                -P ${PROJECT_SOURCE_DIR}/cmake/Embed.cmake
        DEPENDS ${paths} ${PROJECT_SOURCE_DIR}/cmake/Embed.cmake
        VERBATIM)
    # The command gets its own target without dependencies. If it were a part of the layer's target, it would wait for
    # the libraries that the layer links, and every source of the layer would wait for it.
    add_custom_target(smemtune_${function} DEPENDS ${output})
endfunction()

# smemtune_hot(SOURCES...): optimises these sources in builds with AddressSanitizer, too, because the tests spend their
# time in them. The sources are still sanitized.
function(smemtune_hot)
    if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
        set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)
    endif()
endfunction()
