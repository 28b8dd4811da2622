# Compile options of every target, and msprobe_layer(): one static library per folder of src/.

add_library(msprobe_options INTERFACE)
target_include_directories(msprobe_options INTERFACE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)
target_compile_options(msprobe_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wimplicit-fallthrough -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms of GCC 12 on std::string concatenation (GCC bug 105651).
  target_compile_options(msprobe_options INTERFACE -Wno-restrict)
endif()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  # Highway picks the best instruction set at run time; its baseline would be scalar without this.
  target_compile_options(msprobe_options INTERFACE -march=x86-64-v2)
endif()
# Highway's inline functions depend on the instruction sets that a file wants. Where they are not inlined
# one of them would serve all files, and call kernels that a file does not have. (The warning is a false alarm
# of GCC 12 about its own AVX-512 headers.)
target_compile_options(msprobe_options INTERFACE "$<$<CONFIG:Debug>:-Og;-Wno-uninitialized>")
if(MSPROBE_SANITIZE)
  target_compile_options(msprobe_options INTERFACE
    -fsanitize=${MSPROBE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(msprobe_options INTERFACE -fsanitize=${MSPROBE_SANITIZE})
endif()
if(MSPROBE_COVERAGE)
  target_compile_options(msprobe_options INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(msprobe_options INTERFACE --coverage)
endif()

# msprobe_layer(<folder> [DEPS <folder>...] [LIBS <library>...])
#   library msprobe_<folder> of all *.cc below the folder except *_test.cc,
#   test program msprobe_<folder>_test of all *_test.cc.
function(msprobe_layer name)
  cmake_parse_arguments(ARG "" "" "DEPS;LIBS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$|/main\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(TRANSFORM ARG_DEPS PREPEND msprobe_)
  if(sources)
    add_library(msprobe_${name} STATIC ${sources})
    target_link_libraries(msprobe_${name} PUBLIC msprobe_options ${ARG_DEPS} PRIVATE ${ARG_LIBS})
  else()
    add_library(msprobe_${name} INTERFACE)
    target_link_libraries(msprobe_${name} INTERFACE msprobe_options ${ARG_DEPS} ${ARG_LIBS})
  endif()
  if(tests AND MSPROBE_TESTS)
    add_executable(msprobe_${name}_test ${tests})
    target_link_libraries(msprobe_${name}_test PRIVATE msprobe_${name} GTest::gmock GTest::gtest GTest::gtest_main)
    target_compile_definitions(msprobe_${name}_test PRIVATE MSPROBE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    gtest_discover_tests(msprobe_${name}_test DISCOVERY_TIMEOUT 60)
  endif()
endfunction()
