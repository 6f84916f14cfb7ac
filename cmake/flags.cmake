# SPDX-License-Identifier: GPL-3.0-or-later
# Warnings, floating-point rules and sanitizers, as one interface library.
add_library(dlsim_flags INTERFACE)
target_compile_options(dlsim_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wundef
  -Wvla -Wcast-qual -Wdouble-promotion -Wformat=2 -Wno-sign-conversion
  -Wno-unused-parameter # the functions of a table take what the table says
  -ffp-contract=off # the same bytes from every compiler
  >)
target_compile_definitions(dlsim_flags INTERFACE _GNU_SOURCE DLS_VERSION="${PROJECT_VERSION}")
if(DLSIM_WERROR)
  target_compile_options(dlsim_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-Werror>)
endif()
if(DLSIM_SANITIZE)
  target_compile_options(dlsim_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
    $<$<BOOL:${DLSIM_TRAP}>:-fsanitize-undefined-trap-on-error>>)
  # At a fixed address: half a million relocations of what is watched were a fifth of a short run.
  target_link_options(dlsim_flags INTERFACE -fsanitize=address$<$<NOT:$<BOOL:${DLSIM_TRAP}>>:,undefined>
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
endif()
if(DLSIM_FUZZ)
  # Without the other sanitizers executions a second are what counts: comparisons are not traced.
  target_compile_options(dlsim_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-UNDEBUG
    -fsanitize-coverage-ignorelist=${PROJECT_SOURCE_DIR}/tests/fuzz/uncovered.txt
    $<IF:$<BOOL:${DLSIM_SANITIZE}>,-fsanitize=fuzzer-no-link,-fsanitize-coverage=inline-8bit-counters$<COMMA>pc-table>>)
  target_link_options(dlsim_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(DLSIM_TSAN)
  target_compile_options(dlsim_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-fsanitize=thread>)
  target_link_options(dlsim_flags INTERFACE -fsanitize=thread)
endif()
# A build links some two hundred programs with the whole library.
option(DLSIM_MOLD "Link with mold where it is installed" ON)
find_program(mold mold)
mark_as_advanced(mold)
if(DLSIM_MOLD AND mold)
  add_link_options(-fuse-ld=mold)
endif()
