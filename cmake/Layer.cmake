# smemtune_layer(NAME HEADERS ... SOURCES ... PUBLIC ... PRIVATE ... PRECOMPILE ...): one folder, one static library,
# smemtune::NAME. PRECOMPILE: headers that most of its sources include, beside those of every layer.

add_library(smemtune_options INTERFACE)
target_compile_options(smemtune_options INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:SMEMTUNE_JOINED_TESTS>>>:-Wshadow>
    -Wno-missing-field-initializers  # values are aggregates, written with the fields that matter
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>  # g++ 12 warns falsely about "literal" + string (its bug 105329)
    # Nor across joined sources, which only builds without -Werror have.
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<NOT:$<BOOL:${SMEMTUNE_WERROR}>>>:-Wno-maybe-uninitialized>
    $<$<BOOL:${SMEMTUNE_WERROR}>:-Werror>)

function(smemtune_layer name)
    cmake_parse_arguments(LAYER "" "" "HEADERS;SOURCES;PUBLIC;PRIVATE;PRECOMPILE" ${ARGN})
    add_library(smemtune_${name} STATIC ${LAYER_HEADERS} ${LAYER_SOURCES})
    add_library(smemtune::${name} ALIAS smemtune_${name})
    set_target_properties(smemtune_${name} PROPERTIES SMEMTUNE_DEPENDENCIES "${LAYER_PRIVATE}")  # for Install.cmake
    target_include_directories(smemtune_${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_compile_features(smemtune_${name} PUBLIC cxx_std_20)
    target_link_libraries(smemtune_${name} PUBLIC ${LAYER_PUBLIC} PRIVATE ${LAYER_PRIVATE} smemtune_options)
    if(SMEMTUNE_BUILD_FUZZERS)
        target_compile_options(smemtune_${name} PRIVATE -fsanitize=fuzzer-no-link)  # counts what an input reaches
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

# Writes the text files under `folder` into a C++ source that defines `function()` returning path -> text.
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
    # A target of its own, which needs nothing. Otherwise the command waits for the libraries that its layer links, and
    # every source of the layer waits for the command.
    add_custom_target(smemtune_${function} DEPENDS ${output})
endfunction()

# smemtune_hot(sources...): sources that are optimised in sanitized builds, too, because the tests spend their time
# there. They are still sanitized.
function(smemtune_hot)
    if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
        set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)
    endif()
endfunction()
