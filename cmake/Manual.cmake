# Installs shell completions and manual pages. The program writes them from the tables of its --help. A cross-compiled
# program cannot run here, so a cross build installs neither.
if(CMAKE_CROSSCOMPILING)
    return()
endif()
set(manual_folder ${PROJECT_BINARY_DIR}/manual)
add_custom_command(
    OUTPUT ${manual_folder}/written
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${manual_folder}
    COMMAND smemtune completion --to ${manual_folder}/share
    COMMAND smemtune man --to ${manual_folder}/share/man
    COMMAND ${CMAKE_COMMAND} -E touch ${manual_folder}/written
    DEPENDS smemtune
    COMMENT "Writing the completions of shells and the manual pages"
    VERBATIM)
add_custom_target(smemtune_manual ALL DEPENDS ${manual_folder}/written)
install(DIRECTORY ${manual_folder}/share/ DESTINATION ${CMAKE_INSTALL_DATAROOTDIR} COMPONENT tools
    PATTERN zsh EXCLUDE)
# Debian's zsh reads site-functions only below /usr/local. Packages use vendor-completions below /usr instead.
install(CODE "
    set(zsh site-functions)
    if(CMAKE_INSTALL_PREFIX MATCHES \"/usr$\")
        set(zsh vendor-completions)
    endif()
    file(INSTALL ${manual_folder}/share/zsh/site-functions/_smemtune
        DESTINATION \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATAROOTDIR}/zsh/\${zsh})" COMPONENT tools)
