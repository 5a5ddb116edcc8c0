# smemtune_layer(NAME HEADERS ... SOURCES ... PUBLIC ... PRIVATE ...): one folder, one static library, smemtune::NAME.

add_library(smemtune_options INTERFACE)
target_compile_options(smemtune_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    -Wno-missing-field-initializers  # values are aggregates, written with the fields that matter
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>  # g++ 12 warns falsely about "literal" + string (its bug 105329)
    $<$<BOOL:${SMEMTUNE_WERROR}>:-Werror>)

# smemtune_precompile(TARGET OWNER headers...): OWNER compiles them, every other target reads its result.
function(smemtune_precompile target owner)
    if(NOT SMEMTUNE_PRECOMPILE)
        return()
    elseif(target STREQUAL owner)
        target_precompile_headers(${target} PRIVATE ${ARGN})
    else()
        target_precompile_headers(${target} REUSE_FROM ${owner})
    endif()
endfunction()

function(smemtune_layer name)
    cmake_parse_arguments(LAYER "" "" "HEADERS;SOURCES;PUBLIC;PRIVATE" ${ARGN})
    add_library(smemtune_${name} STATIC ${LAYER_HEADERS} ${LAYER_SOURCES})
    add_library(smemtune::${name} ALIAS smemtune_${name})
    set_target_properties(smemtune_${name} PROPERTIES SMEMTUNE_DEPENDENCIES "${LAYER_PRIVATE}")  # for Install.cmake
    target_include_directories(smemtune_${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_compile_features(smemtune_${name} PUBLIC cxx_std_20)
    target_link_libraries(smemtune_${name} PUBLIC ${LAYER_PUBLIC} PRIVATE ${LAYER_PRIVATE} smemtune_options)
    if(SMEMTUNE_BUILD_FUZZERS)
        target_compile_options(smemtune_${name} PRIVATE -fsanitize=fuzzer-no-link)  # counts what an input reaches
    endif()
    smemtune_precompile(smemtune_${name} smemtune_util <algorithm> <array> <chrono> <filesystem> <functional> <map> <memory>
        <optional> <set> <string> <string_view> <thread> <variant> <vector>)
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
endfunction()

# smemtune_hot(sources...): sources that are optimised in sanitized builds, too, because the tests spend their time
# there. They are still sanitized.
function(smemtune_hot)
    if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
        set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)
    endif()
endfunction()
