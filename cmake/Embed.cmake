# Writes a C++ source OUTPUT. It defines FUNCTION(), which returns the text files FILES of FOLDER as a std::map of raw
# strings.
# Usage: cmake -DOUTPUT= -DFUNCTION= -DFOLDER= -DFILES=a|b -P Embed.cmake
string(REPLACE "|" ";" FILES "${FILES}")
set(text "// Generated from the files it names. Do not edit.\n#include <map>\n#include <string>\n\n")
string(APPEND text "namespace smemtune {\n\nconst std::map<std::string, std::string>& ${FUNCTION}() {\n")
string(APPEND text "    static const std::map<std::string, std::string> files{\n")
foreach(file IN LISTS FILES)
    # The contents must not pass through a list command of CMake, because such a command would change `;` and `[`.
    file(READ "${FOLDER}/${file}" content)
    string(APPEND text "        {\"${file}\", R\"smemtune(${content})smemtune\"},\n")
endforeach()
string(APPEND text "    };\n    return files;\n}\n\n}  // namespace smemtune\n")
file(WRITE "${OUTPUT}" "${text}")
