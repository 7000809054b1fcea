# The project's own CMake vocabulary: one function per kind of target.
include(CheckCXXCompilerFlag)
include(GoogleTest)

# What is installed has what the compiler has against exploits; tests/docs/elf.py looks for
# it. All of the objects, generated ones too, so before any target.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  add_compile_options(-fPIE -fstack-protector-strong -fstack-clash-protection -U_FORTIFY_SOURCE
                      -D_FORTIFY_SOURCE=3 -D_GLIBCXX_ASSERTIONS)
  add_link_options(-pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
  check_cxx_compiler_flag(-fcf-protection RAPIDEYE_HAS_CONTROL_FLOW_PROTECTION)
  if(RAPIDEYE_HAS_CONTROL_FLOW_PROTECTION)  # x86
    add_compile_options(-fcf-protection)
  endif()
  # The same bytes wherever the clone lies: what debug information says of folders goes into
  # the build's id, which is kept when the rest of it is stripped.
  add_compile_options("-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.")
endif()

# A precompiled header of 100 to 200 MB is a heap that g++'s collector goes through again and
# again: it does not start below this size (KiB), which no file here reaches. Up to a fifth of
# the time of a file.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(--param=ggc-min-heapsize=1048576)
endif()

# The tests alone are some 130 programs: gold, of the same package as the usual linker, links
# them in half its time, and lld, which is clang's, in less. What is installed is linked by the
# usual one.
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  find_program(RAPIDEYE_GOLD ld.gold)
  find_program(RAPIDEYE_LLD ld.lld-19)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND RAPIDEYE_LLD)
    add_link_options(-fuse-ld=lld-19)
  elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND RAPIDEYE_GOLD)
    add_link_options(-fuse-ld=gold)
  endif()
endif()

add_library(rapideye_flags INTERFACE)
target_include_directories(rapideye_flags INTERFACE "${CMAKE_SOURCE_DIR}")
# g++ 12 warns falsely with its three (the last on std::variant), and when optimising with
# two more, on moved strings; clang blames us for what libstdc++ 12's own
# std::stable_sort calls.
target_compile_options(
  rapideye_flags
  INTERFACE -Wall -Wextra -Werror -pthread
            $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-stringop-overflow;-Wno-maybe-uninitialized>
            $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-Wno-array-bounds;-Wno-stringop-overread>
            $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations;-Wthread-safety>)
if(RAPIDEYE_SANITIZE)
  # The excluded checks cost most of the compile time and find least here.
  set(sanitize -fsanitize=${RAPIDEYE_SANITIZE} -fno-sanitize=null,alignment,object-size,vptr
               -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(rapideye_flags INTERFACE ${sanitize})
  target_link_options(rapideye_flags INTERFACE ${sanitize})
  # Debian's symbolizer carries its version in its name, so the runtime misses it.
  find_program(LLVM_SYMBOLIZER NAMES llvm-symbolizer-19 llvm-symbolizer)
endif()

if(RAPIDEYE_FUZZERS)
  # The fuzzers see which branches of the libraries an input takes.
  target_compile_options(rapideye_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(rapideye_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Most of the time of compiling goes into the headers of the libraries: they are
# read once for all. A file still includes what it uses, since clang-tidy reads
# every file without this.
#
#   pure      the standard library and absl: for cores, parsers and their like
#   program   also gRPC, protobuf, spdlog and JSON, which cost a file that includes one of
#             them several seconds: for what programs are made of
#
# CLI11 is in neither: it defines objects in its header, and so all of it is compiled in
# every file that has read it.
#
# Either with GoogleTest for tests.
#
# clang with sanitizers takes two and a half times as long for a test's own files where it
# optimises them, and their time is not what a test waits for. g++ gains nothing.
set(rapideye_test_optimisation $<$<AND:$<CXX_COMPILER_ID:Clang>,$<CONFIG:Debug>>:-O0>)
option(RAPIDEYE_PRECOMPILE "Read the common headers once for all" ON)
set(rapideye_pure_headers
    <algorithm>
    <cstdint>
    <functional>
    <map>
    <memory>
    <optional>
    <set>
    <string>
    <string_view>
    <utility>
    <variant>
    <vector>
    <absl/container/flat_hash_map.h>
    <absl/status/status.h>
    <absl/status/statusor.h>
    <absl/strings/str_cat.h>
    <absl/strings/str_format.h>
    <absl/strings/str_join.h>
    <absl/strings/str_split.h>
    <absl/time/time.h>)
set(rapideye_program_headers
    ${rapideye_pure_headers}
    <condition_variable>
    <mutex>
    <thread>
    <google/protobuf/message.h>
    <grpcpp/grpcpp.h>
    <nlohmann/json.hpp>
    <spdlog/spdlog.h>
    <proto/common/logging/fmt_instances.h>)
set(rapideye_test_headers <gmock/gmock.h> <gtest/gtest.h>)
# spdlog's headers depend on how Debian built it, whoever links it.
foreach(library spdlog::spdlog fmt::fmt)
  get_target_property(definitions ${library} INTERFACE_COMPILE_DEFINITIONS)
  list(APPEND rapideye_program_definitions ${definitions})
endforeach()

# rapideye_precompiled(<name> <header>...)
function(rapideye_precompiled name)
  file(WRITE "${CMAKE_BINARY_DIR}/${name}.cc" "")
  add_library(${name} OBJECT "${CMAKE_BINARY_DIR}/${name}.cc")
  target_link_libraries(${name} PRIVATE rapideye_flags)
  target_precompile_headers(${name} PRIVATE ${ARGN})
  if(name MATCHES "program")
    target_compile_definitions(${name} PRIVATE ${rapideye_program_definitions})
  endif()
  if(name MATCHES "test")
    target_compile_options(${name} PRIVATE ${rapideye_test_optimisation})
  endif()
  # Clones share their objects: the age of a header says nothing.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(${name} PRIVATE -Xclang -fno-pch-timestamp)
  endif()
endfunction()
if(RAPIDEYE_PRECOMPILE)
  foreach(kind pure program)
    rapideye_precompiled(rapideye_${kind}_pch ${rapideye_${kind}_headers})
    rapideye_precompiled(rapideye_${kind}_test_pch ${rapideye_${kind}_headers}
                         ${rapideye_test_headers})
    target_link_libraries(rapideye_${kind}_test_pch PRIVATE GTest::gmock)
  endforeach()
endif()
# rapideye_use_precompiled(<target> <kind, or empty for pure> [test])
function(rapideye_use_precompiled target kind)
  if(NOT kind)
    set(kind pure)
  endif()
  if(RAPIDEYE_PRECOMPILE)
    list(JOIN ARGN "" test)
    if(test)
      string(APPEND kind _test)
    endif()
    target_precompile_headers(${target} REUSE_FROM rapideye_${kind}_pch)
    if(kind MATCHES "program")
      target_compile_definitions(${target} PRIVATE ${rapideye_program_definitions})
    endif()
  endif()
endfunction()

# Files of a target are compiled sixteen at a time: most of what is left goes into templates
# of the libraries, which the sixteen then share. APART lists files that are compiled alone, because
# each uses a name of the others for a thing of its own. With --long clang-tidy reads every file by
# itself, so that each includes what it uses.
option(RAPIDEYE_UNITY "Compile the files of a target sixteen at a time" ON)
function(rapideye_use_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${RAPIDEYE_UNITY} UNITY_BUILD_BATCH_SIZE 16)
  target_sources(${target} PRIVATE ${ARGN})
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# rapideye_library(<name> SOURCES ... DEPS ... [APART ...] [PRECOMPILED program]): a
# library of this folder.
function(rapideye_library name)
  cmake_parse_arguments(arg "" "PRECOMPILED" "SOURCES;APART;DEPS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  rapideye_use_unity(${name} ${arg_APART})
  target_link_libraries(${name} PUBLIC rapideye_flags ${arg_DEPS})
  rapideye_use_precompiled(${name} "${arg_PRECOMPILED}")
endfunction()

# rapideye_program(<name> SOURCES ... DEPS ...): a program, in <build>/bin. The target
# `programs` builds them all.
add_custom_target(programs)
function(rapideye_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  rapideye_use_unity(${name})
  target_link_libraries(${name} PRIVATE rapideye_flags ${arg_DEPS})
  rapideye_use_precompiled(${name} program)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
  add_dependencies(programs ${name})
endfunction()

# rapideye_not_sanitized(<target>...): nothing that runs under sanitizers needs these targets, so
# that they are built with them only when they are asked for by name.
function(rapideye_not_sanitized)
  if(RAPIDEYE_SANITIZE)
    set_target_properties(${ARGN} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()

# rapideye_test(<name> SOURCES ... DEPS ... [DATA <dir>] [LABELS ...] [TIMEOUT <s>] [COST <s>]
#               [PRECOMPILED program] [APART ...])
# a GoogleTest binary, run as one ctest test; DATA is passed as RAPIDEYE_TEST_DATA.
# Its cases are counted from the report it leaves in <build>/Testing/gtest: to
# start a process per case would cost more than most cases.
# tests/run.sh says what the LABELS mean. Those with "release" or "long" are built by the
# target `release_tests`, those with neither "full" nor "long" by `default_tests`, those with
# "fault" by `fault_tests`. COST is about
# how long it takes: without, a few seconds. The longest start first, so that none is left over
# at the end.
add_custom_target(release_tests)
add_custom_target(default_tests)
add_custom_target(fault_tests)
function(rapideye_test name)
  cmake_parse_arguments(arg "" "DATA;PRECOMPILED;TIMEOUT;COST" "SOURCES;APART;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  rapideye_use_unity(${name} ${arg_APART})
  target_link_libraries(${name} PRIVATE rapideye_flags ${arg_DEPS} GTest::gmock GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${rapideye_test_optimisation})
  rapideye_use_precompiled(${name} "${arg_PRECOMPILED}" test)
  add_test(NAME ${name} COMMAND ${name})
  if("release" IN_LIST arg_LABELS OR "long" IN_LIST arg_LABELS)
    add_dependencies(release_tests ${name})
  endif()
  if(NOT "full" IN_LIST arg_LABELS AND NOT "long" IN_LIST arg_LABELS)
    add_dependencies(default_tests ${name})
  endif()
  if("fault" IN_LIST arg_LABELS)
    add_dependencies(fault_tests ${name})
  endif()
  if("fault" IN_LIST arg_LABELS OR "static" IN_LIST arg_LABELS)
    rapideye_not_sanitized(${name})
  endif()
  rapideye_gtest_properties(${name} "${arg_TIMEOUT}" "${arg_COST}" "${arg_LABELS}")
  if(arg_DATA)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "RAPIDEYE_TEST_DATA=${arg_DATA}")
  endif()
endfunction()

# rapideye_long_test(<name> OF <test> ENVIRONMENT <variable>=<value>... TIMEOUT <s>): the
# binary of another test once more, told to try more: tests/run.sh --long runs it.
function(rapideye_long_test name)
  cmake_parse_arguments(arg "" "OF;TIMEOUT" "ENVIRONMENT" ${ARGN})
  add_test(NAME ${name} COMMAND ${arg_OF})
  add_dependencies(release_tests ${arg_OF})
  rapideye_gtest_properties(${name} ${arg_TIMEOUT} "${arg_TIMEOUT}" long)
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()

# rapideye_processors(<variable> <labels>): how many of the two places of a core, which
# tests/run.sh gives to ctest, a test with these labels takes. Tests in real time mostly wait,
# and twice as many fit; not so under sanitizers.
function(rapideye_processors variable labels)
  set(processors 2)
  if("realtime" IN_LIST labels AND NOT RAPIDEYE_SANITIZE)
    set(processors 1)
  endif()
  set(${variable} ${processors} PARENT_SCOPE)
endfunction()

function(rapideye_gtest_properties name timeout cost labels)
  if(NOT timeout)
    set(timeout 120)
  endif()
  # The limit is for a test that stands, not for a slow machine. Sanitizers take several times
  # as long.
  if(RAPIDEYE_SANITIZE)
    math(EXPR timeout "3 * ${timeout}")
  endif()
  if(NOT cost)
    set(cost 0)
  endif()
  rapideye_processors(processors "${labels}")
  set(environment "GTEST_OUTPUT=set:xml:${CMAKE_BINARY_DIR}/Testing/gtest/${name}.xml")
  if(RAPIDEYE_SANITIZE)
    list(APPEND environment "ASAN_OPTIONS=set:external_symbolizer_path=${LLVM_SYMBOLIZER}"
         "LSAN_OPTIONS=set:suppressions=${PROJECT_SOURCE_DIR}/.cmake/leaks.supp:print_suppressions=0"
         "UBSAN_OPTIONS=set:print_stacktrace=1:external_symbolizer_path=${LLVM_SYMBOLIZER}")
  endif()
  set_tests_properties(
    ${name}
    PROPERTIES TIMEOUT ${timeout}
               COST ${cost}
               PROCESSORS ${processors}
               LABELS "${labels}"
               ENVIRONMENT_MODIFICATION "${environment}")
endfunction()

# rapideye_check(<name> COMMAND ... [LABELS ...] [TIMEOUT <s>] [COST <s>]): a test that
# looks at the text or the objects of the project and runs none of it, so that one
# build suffices (label "static"). Exit status 77 means skipped; its last line of
# output is then the reason. COST as above.
function(rapideye_check name)
  cmake_parse_arguments(arg "" "TIMEOUT;COST" "COMMAND;LABELS" ${ARGN})
  set(labels static ${arg_LABELS})
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(NOT arg_COST)
    set(arg_COST 0)
  endif()
  rapideye_processors(processors "${labels}")
  set_tests_properties(
    ${name}
    PROPERTIES TIMEOUT ${arg_TIMEOUT}
               COST ${arg_COST}
               PROCESSORS ${processors}
               LABELS "${labels}"
               SKIP_RETURN_CODE 77
               ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
endfunction()
