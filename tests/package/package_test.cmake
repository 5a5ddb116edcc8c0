# cmake -DBUILD= -DSOURCE= -DSCRATCH= -DCACHE= -P package_test.cmake
# Makes the Debian packages and unpacks them into an empty root. Then builds the examples against the unpacked packages,
# in C and C++, shared and static, with CMake and with pkg-config, and runs them on the host device. Nothing of smemtune
# is compiled again.
include(${CACHE})

function(run out)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
    message("${text}")
    if(NOT result EQUAL 0)
        list(JOIN ARGN " " command)
        message(FATAL_ERROR "${command}: ${result}")
    endif()
    set(${out} "${text}" PARENT_SCOPE)
endfunction()

function(expect text)
    foreach(line IN LISTS ARGN)
        if(NOT text MATCHES "${line}")
            message(FATAL_ERROR "the application did not say: ${line}")
        endif()
    endforeach()
endfunction()

# Checks the files that the packages install, and the packages' dependencies.
file(REMOVE_RECURSE ${SCRATCH})
run(packed cpack -G DEB --config ${BUILD}/CPackConfig.cmake -B ${SCRATCH}/debs)
file(GLOB debs ${SCRATCH}/debs/*.deb)
foreach(deb IN LISTS debs)
    run(unpacked dpkg -x ${deb} ${SCRATCH}/root)
endforeach()
set(prefix ${SCRATCH}/root/usr)

file(GLOB_RECURSE files RELATIVE ${prefix} ${prefix}/*)
list(FILTER files EXCLUDE REGEX "^lib/cmake/smemtune/smemtune_(shared|static)-[a-z]+\\.cmake$")  # one per build type
list(SORT files)
set(expected
    bin/smemtune
    include/smemtune/runtime/runtime.h include/smemtune/smemtune.h include/smemtune/templates/space/problem.h
    lib/cmake/smemtune/smemtuneConfig.cmake lib/cmake/smemtune/smemtuneConfigVersion.cmake
    lib/cmake/smemtune/smemtune_shared.cmake lib/cmake/smemtune/smemtune_static.cmake
    lib/libsmemtune.a lib/libsmemtune.so lib/libsmemtune.so.0.1 lib/libsmemtune.so.0.1.0
    lib/pkgconfig/smemtune-static.pc lib/pkgconfig/smemtune.pc
    share/doc/libsmemtune-dev/copyright share/doc/libsmemtune0.1/copyright
    share/doc/smemtune/LICENSES share/doc/smemtune/copyright)
file(GLOB portfolios RELATIVE ${BUILD} ${BUILD}/portfolios/*.db)  # one for each architecture that this build ships
list(TRANSFORM portfolios PREPEND share/smemtune/)
list(APPEND expected ${portfolios})
file(GLOB pages RELATIVE ${BUILD}/manual ${BUILD}/manual/share/man/man1/*.1)  # tests/tuner/manual tests the pages
foreach(page smemtune smemtune-tune smemtune-db-trials)
    list(FIND pages share/man/man1/${page}.1 at)
    if(at EQUAL -1)
        message(FATAL_ERROR "the build wrote no manual page ${page}")
    endif()
endforeach()
list(APPEND expected ${pages} share/bash-completion/completions/smemtune share/zsh/vendor-completions/_smemtune
    share/fish/vendor_completions.d/smemtune.fish)
list(SORT expected)
if(NOT files STREQUAL expected)
    message(FATAL_ERROR "installed: ${files}\nand not just: ${expected}")
endif()

foreach(package "libsmemtune0.1;libsqlite3-0 .*libstdc\\+\\+6" "libsmemtune-dev;libsmemtune0.1 \\(= "
        "smemtune;libsqlite3-0 ")
    list(POP_FRONT package name)
    file(GLOB deb ${SCRATCH}/debs/${name}_*.deb)
    run(depends dpkg-deb -f ${deb} Depends)
    expect("${depends}" "${package}")
endforeach()

# A CMake or pkg-config file must not name this source tree, the build folder or a target of the build, because it would
# fail on any other machine.
file(GLOB_RECURSE package ${prefix}/*.cmake ${prefix}/*.pc)
foreach(file IN LISTS package)
    file(READ ${file} text)
    foreach(leak ${SOURCE} ${BUILD} ${prefix} smemtune_options)
        string(FIND "${text}" "${leak}" at)
        if(NOT at EQUAL -1)
            message(FATAL_ERROR "${file} names ${leak}")
        endif()
    endforeach()
endforeach()

run(tuned ${prefix}/bin/smemtune --device host --sizes 64 --templates tiled --db ${SCRATCH}/tuning.db)

run(tuned ${prefix}/bin/smemtune --device host --sizes 3000 --templates ${SOURCE}/examples/histogram --search random
    --evaluations 3 --db ${SCRATCH}/tuning.db)

# Runs the applications that were built into `folder`.
function(run_applications folder)
    run(said ${folder}/matmul ${SCRATCH}/tuning.db host)
    expect("${said}"
        "64x64x64 +tiled TILE_WIDTH=[0-9]+  match: exact, tuned for [^\n]*64x64x64  right"
        "65x70x48 +tiled TILE_WIDTH=[0-9]+  match: nearest, tuned for [^\n]*64x64x64  right"
        "64x64x64 +naive [^\n]*  match: untuned  right")
    run(said ${folder}/gemm host ${SCRATCH}/tuning.db)
    expect("${said}"
        "info: gemm f32 nn 65x70x48: tiled TILE_WIDTH=[0-9]+, nearest, tuned for [^\n]*64x64x64"
        "in one call: right"
        "65x70x48: tiled TILE_WIDTH=[0-9]+, nearest, tuned for [^\n]*64x64x64, workspace of 0 bytes"
        "in two steps: right"
        "transposed: right")
    run(said ${folder}/histogram ${SCRATCH}/tuning.db ${SOURCE}/examples/histogram host)
    expect("${said}" "3000 bytes  histogram COPIES=[0-9],THREADS=[0-9]+,WORK=[0-9]+  match: exact  right")
endfunction()

# `graph` needs a GPU. Without a GPU, it must say so and end with 77.
function(run_graph folder)
    execute_process(COMMAND ${folder}/graph 0 RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
    message("${said}")
    if(NOT (result EQUAL 0 OR (result EQUAL 77 AND said MATCHES "there is no GPU here")))
        message(FATAL_ERROR "graph: ${result}")
    endif()
endfunction()

# CACHE has the compiler and the flags of this build, so that sanitized applications are linked with a sanitized
# library.
foreach(link shared static)
    set(folder ${SCRATCH}/${link})
    run(configured ${CMAKE_COMMAND} -C ${CACHE} -S ${SOURCE}/examples -B ${folder} -DCMAKE_PREFIX_PATH=${prefix}
        -DLINK=${link} -DCMAKE_RUNTIME_OUTPUT_DIRECTORY=${folder}/bin)
    run(built ${CMAKE_COMMAND} --build ${folder})
    run_applications(${folder}/bin)
    run_graph(${folder}/bin)
endforeach()

# Without CMake, each application is compiled once and linked with the shared and with the static library.
set(ENV{PKG_CONFIG_PATH} ${prefix}/lib/pkgconfig)
set(ENV{LD_LIBRARY_PATH} ${prefix}/lib)
function(flags out)
    run(flags pkg-config ${ARGN})
    separate_arguments(flags UNIX_COMMAND "${flags}")
    set(${out} ${flags} PARENT_SCOPE)
endfunction()
separate_arguments(cxx_flags UNIX_COMMAND "${CMAKE_CXX_FLAGS}")
flags(cflags --cflags smemtune)
set(folder ${SCRATCH}/pkgconfig)
file(MAKE_DIRECTORY ${folder})
separate_arguments(c_flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
run(compiled ${CMAKE_C_COMPILER} -std=c99 ${c_flags} ${cflags} -c ${SOURCE}/examples/c/gemm.c -o ${folder}/gemm.o)
foreach(application histogram matmul)
    run(compiled ${CMAKE_CXX_COMPILER} -std=c++20 ${cxx_flags} ${cflags} -c ${SOURCE}/examples/${application}/main.cpp
        -o ${folder}/${application}.o)
endforeach()
foreach(package smemtune smemtune-static)
    flags(libraries --libs ${package})
    file(MAKE_DIRECTORY ${folder}/${package})
    foreach(application gemm histogram matmul)
        run(linked ${CMAKE_CXX_COMPILER} ${cxx_flags} ${folder}/${application}.o ${libraries}
            -o ${folder}/${package}/${application})
    endforeach()
    run_applications(${folder}/${package})
endforeach()
# A C program must link with the shared library alone, without the libraries that smemtune itself uses.
run(linked ${CMAKE_C_COMPILER} ${c_flags} ${folder}/gemm.o -L${prefix}/lib -lsmemtune -o ${folder}/gemm)
