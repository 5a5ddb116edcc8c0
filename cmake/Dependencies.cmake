# The dependencies of smemtune. All of them except the CUDA Toolkit are Debian 12 packages, which `make demo` installs.

set(SMEMTUNE_CUDA_OLDEST 12.8)
find_package(CUDAToolkit ${SMEMTUNE_CUDA_OLDEST} QUIET)
if(NOT CUDAToolkit_FOUND)
    message(FATAL_ERROR
        "smemtune needs the CUDA Toolkit, ${SMEMTUNE_CUDA_OLDEST} or newer (tested with 13.0), and did not find it.\n"
        "No GPU is needed to build. Install the toolkit from https://developer.nvidia.com/cuda-downloads, then put its "
        "bin folder on PATH or configure with -DCUDAToolkit_ROOT=/path/to/cuda.")
endif()

if(SMEMTUNE_PORTABLE)
    set(Boost_USE_STATIC_LIBS ON)
    # Finds the static SQLite before SQLiteCpp's package looks for SQLite, so that SQLiteCpp uses the static library,
    # too.
    find_library(SQLite3_LIBRARY NAMES libsqlite3.a REQUIRED)
    find_library(ZLIB_LIBRARY NAMES libz.a REQUIRED)
    add_link_options(-static-libstdc++ -static-libgcc)
endif()

# A program with sanitizers is 300 MB large. lld links it in a fifth of the time that the default linker takes.
find_program(SMEMTUNE_LLD ld.lld)
if(SMEMTUNE_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    add_link_options(-fuse-ld=lld)
endif()

find_package(Threads REQUIRED)
set(SMEMTUNE_BOOST_OLDEST 1.74)
find_package(Boost ${SMEMTUNE_BOOST_OLDEST} REQUIRED COMPONENTS context program_options)
find_package(SQLite3 REQUIRED)
find_package(SQLiteCpp REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)

# libmd computes SHA-256. It was chosen over OpenSSL because it has no dependencies. It has no CMake package.
find_path(SMEMTUNE_LIBMD_HEADERS sha2.h REQUIRED)
mark_as_advanced(SMEMTUNE_LIBMD_HEADERS)
set(SMEMTUNE_LIBMD md)
if(SMEMTUNE_PORTABLE)
    set(SMEMTUNE_LIBMD -l:libmd.a)
endif()

# Debian has no static libfmt, so a portable build uses libfmt's header-only target.
set(SMEMTUNE_FMT fmt::fmt)
if(SMEMTUNE_PORTABLE)
    set(SMEMTUNE_FMT $<BUILD_INTERFACE:fmt::fmt-header-only>)
endif()
