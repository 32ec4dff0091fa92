# The files of web/ as constants in web_files.cpp: a page is one file, and the program needs none beside it.
# Run by remede/CMakeLists.txt; as a script (-P, with FILES and OUTPUT) it writes the source.
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "// Made by remede/pages/web.cmake.\n#include \"remede/pages/web.h\"\n\nnamespace remede {\n\n")
  string(APPEND text "std::span<const WebFile> web_files() {\n  static const WebFile kFiles[] = {\n")
  string(REPLACE "|" ";" FILES "${FILES}")
  foreach(path IN LISTS FILES)
    get_filename_component(name "${path}" NAME)
    file(READ "${path}" content)
    string(APPEND text "      {\"${name}\", R\"~remede~(${content})~remede~\"},\n")
  endforeach()
  string(APPEND text "  };\n  return kFiles;\n}\n\n}  // namespace remede\n")
  file(WRITE "${OUTPUT}" "${text}")
  return()
endif()

file(GLOB remede_web_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/web/*)
list(JOIN remede_web_files "|" remede_web_list)
set(remede_web_source ${CMAKE_CURRENT_BINARY_DIR}/web_files.cpp)
add_custom_command(OUTPUT ${remede_web_source}
  COMMAND ${CMAKE_COMMAND} "-DFILES=${remede_web_list}" "-DOUTPUT=${remede_web_source}" -P ${CMAKE_CURRENT_LIST_DIR}/web.cmake
  DEPENDS ${remede_web_files} ${CMAKE_CURRENT_LIST_DIR}/web.cmake VERBATIM)
target_sources(remede_pages PRIVATE ${remede_web_source})
