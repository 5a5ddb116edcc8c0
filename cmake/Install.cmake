# The program, the libraries, the public headers, and a CMake package.
