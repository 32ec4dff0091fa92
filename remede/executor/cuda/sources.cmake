# The files that the GPU's kernels are made of, as constants: they are compiled again at run time, for one layout each.
# Run by remede/CMakeLists.txt; as a script (-P, with ROOT, FILES and OUTPUT) it writes the source.
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "// Made by remede/executor/cuda/sources.cmake.\n#include \"remede/executor/cuda/compile.h\"\n\nnamespace remede::cuda {\n\n")
  string(APPEND text "std::span<const SourceFile> kernel_sources() {\n  static const SourceFile kFiles[] = {\n")
  string(REPLACE "|" ";" FILES "${FILES}")
  foreach(path IN LISTS FILES)
    file(READ "${ROOT}/${path}" content)
    string(APPEND text "      {\"${path}\", R\"~remede~(${content})~remede~\"},\n")
  endforeach()
  string(APPEND text "  };\n  return kFiles;\n}\n\n}  // namespace remede::cuda\n")
  file(WRITE "${OUTPUT}" "${text}")
  return()
endif()

file(GLOB remede_cuda_files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_LIST_DIR}/*.cuh)
list(APPEND remede_cuda_files remede/executor/cuda/layout.h remede/executor/cuda/stepper.h remede/objective/formulas.inc remede/objective/objectives.def)
list(JOIN remede_cuda_files "|" remede_cuda_list)
list(TRANSFORM remede_cuda_files PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE remede_cuda_paths)
set(remede_cuda_source ${CMAKE_CURRENT_BINARY_DIR}/cuda_sources.cpp)
add_custom_command(OUTPUT ${remede_cuda_source}
  COMMAND ${CMAKE_COMMAND} "-DROOT=${PROJECT_SOURCE_DIR}" "-DFILES=${remede_cuda_list}" "-DOUTPUT=${remede_cuda_source}"
          -P ${CMAKE_CURRENT_LIST_DIR}/sources.cmake
  DEPENDS ${remede_cuda_paths} ${CMAKE_CURRENT_LIST_DIR}/sources.cmake VERBATIM)
target_sources(remede_cuda_host PRIVATE ${remede_cuda_source})
