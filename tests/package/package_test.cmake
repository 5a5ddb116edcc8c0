# cmake -DBUILD= -DSOURCE= -DSCRATCH= -DCACHE= -P package_test.cmake
# Installs the build, builds examples/matmul against what was installed, tunes one size, and runs the application.

function(run out)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
    message("${text}")
    if(NOT result EQUAL 0)
        list(JOIN ARGN " " command)
        message(FATAL_ERROR "${command}: ${result}")
    endif()
    set(${out} "${text}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
set(prefix ${SCRATCH}/prefix)
run(installed ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})

file(GLOB_RECURSE headers RELATIVE ${prefix}/include ${prefix}/include/*)
list(SORT headers)
set(expected smemtune/runtime/runtime.h smemtune/templates/space/problem.h)
if(NOT headers STREQUAL expected)
    message(FATAL_ERROR "installed headers: ${headers}, and not just ${expected}")
endif()

# A package that names this tree or the build's own helpers would fail on any other machine.
file(GLOB_RECURSE package ${prefix}/*.cmake)
foreach(file IN LISTS package)
    file(READ ${file} text)
    foreach(leak ${SOURCE} ${BUILD} ${prefix} smemtune_options)
        string(FIND "${text}" "${leak}" at)
        if(NOT at EQUAL -1)
            message(FATAL_ERROR "${file} names ${leak}")
        endif()
    endforeach()
endforeach()

# CACHE: the compiler and the flags of this build, so that a sanitized library meets a sanitized application.
run(configured ${CMAKE_COMMAND} -C ${CACHE} -S ${SOURCE}/examples/matmul -B ${SCRATCH}/build
    -DCMAKE_PREFIX_PATH=${prefix})
run(built ${CMAKE_COMMAND} --build ${SCRATCH}/build)
run(tuned ${prefix}/bin/smemtune --device host --sizes 64 --templates tiled --db ${SCRATCH}/tuning.db)
run(said ${SCRATCH}/build/matmul ${SCRATCH}/tuning.db host)

foreach(line
        "64x64x64 +tiled TILE_WIDTH=[0-9]+  match: exact, tuned for [^\n]*64x64x64  right"
        "65x70x48 +tiled TILE_WIDTH=[0-9]+  match: nearest, tuned for [^\n]*64x64x64  right"
        "64x64x64 +naive [^\n]*  match: untuned  right")
    if(NOT said MATCHES "${line}")
        message(FATAL_ERROR "the application did not say: ${line}")
    endif()
endforeach()
