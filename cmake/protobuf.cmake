# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim_protobuf(TARGET FILE...): C code of .proto files, made by protoc-c, as an object library with
# its own warnings.
function(dlsim_protobuf target)
  set(dir ${PROJECT_BINARY_DIR}/generated)
  file(MAKE_DIRECTORY ${dir})
  set(sources "")
  foreach(proto IN LISTS ARGN)
    get_filename_component(name ${proto} NAME_WE)
    get_filename_component(folder ${proto} DIRECTORY)
    set(source ${dir}/${name}.pb-c.c)
    add_custom_command(OUTPUT ${source} ${dir}/${name}.pb-c.h
      COMMAND ${PROTOC_C} --c_out=${dir} --proto_path=${folder} ${proto}
      DEPENDS ${proto} VERBATIM)
    list(APPEND sources ${source})
  endforeach()
  add_library(${target} OBJECT ${sources})
  target_compile_options(${target} PRIVATE -w)
  target_link_libraries(${target} PUBLIC dlsim::protobufc)
endfunction()
