# `cmake --install`: the program with its manual pages and completions, the library with its headers, and what other builds need to
# find it: find_package(remede), or pkg-config remede. tests/project/install.sh builds a program against the result.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# A wheel takes the component "python" only.
get_property(rooms GLOBAL PROPERTY REMEDE_ROOMS)
list(TRANSFORM rooms PREPEND remede_ OUTPUT_VARIABLE libraries)
set_target_properties(remede_all PROPERTIES EXPORT_NAME remede)
install(TARGETS remede_flags remede_all ${libraries} EXPORT remede-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(EXPORT remede-targets NAMESPACE remede:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/remede COMPONENT library)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/remede DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "*.inc" PATTERN "*-inl.h" EXCLUDE PATTERN "web" EXCLUDE)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/remede-config.cmake.in ${PROJECT_BINARY_DIR}/remede-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/remede)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/remede-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/remede-config.cmake ${PROJECT_BINARY_DIR}/remede-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/remede COMPONENT library)

# A static library stands before those it uses, and a room uses only rooms declared before it.
set(pkg_config_libraries "")
foreach(library ${libraries})
  get_target_property(type ${library} TYPE)
  if(NOT type STREQUAL INTERFACE_LIBRARY)
    string(PREPEND pkg_config_libraries "-l${library} ")
  endif()
endforeach()
set(pkg_config_flags "")
if(NOT fmt_VERSION VERSION_LESS 10)
  set(pkg_config_flags "-DFMT_HEADER_ONLY=1")
endif()
file(RELATIVE_PATH pkg_config_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)  # wherever the files end up
configure_file(${CMAKE_CURRENT_LIST_DIR}/remede.pc.in ${PROJECT_BINARY_DIR}/remede.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/remede.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)

# The C interface, for which nothing else needs to be there: find_package(remede-c), or pkg-config remede-c.
if(TARGET remede_c)
  install(TARGETS remede_c EXPORT remede-c-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
  install(EXPORT remede-c-targets NAMESPACE remede:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/remede-c COMPONENT library)
  install(FILES ${PROJECT_SOURCE_DIR}/capi/remede.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/remede-c-config.cmake.in ${PROJECT_BINARY_DIR}/remede-c-config.cmake COPYONLY)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/remede-c-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/remede-c-config.cmake ${PROJECT_BINARY_DIR}/remede-c-config-version.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/remede-c COMPONENT library)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/remede-c.pc.in ${PROJECT_BINARY_DIR}/remede-c.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/remede-c.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
endif()

# The program writes its own pages and completions when it is installed.
install(CODE "
  set(share \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATAROOTDIR}\")
  set(remede \"$<TARGET_FILE:remede>\")
  function(write_output path)
    execute_process(COMMAND \${remede} \${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
    file(WRITE \"\${share}/\${path}\" \"\${text}\")
    message(STATUS \"Installing: \${share}/\${path}\")
  endfunction()
  write_output(bash-completion/completions/remede completion bash)
  write_output(zsh/site-functions/_remede completion zsh)
  write_output(fish/vendor_completions.d/remede.fish completion fish)
  write_output(man/man1/remede.1 manual)
  execute_process(COMMAND \${remede} manual --list OUTPUT_VARIABLE verbs COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL \"[a-z-]+\" verbs \"\${verbs}\")
  foreach(verb \${verbs})
    write_output(man/man1/remede-\${verb}.1 manual \${verb})
  endforeach()
" COMPONENT program)
