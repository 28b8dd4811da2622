# cmake -DDIRECTORY=<dir> -DOUTPUT=<file.cc> -P embed_files.cmake
# Writes a C++ file that holds the files of a directory (not those below its folders) as bytes; an
# empty list if the directory does not exist. An output that would not change is left alone.

file(GLOB files ${DIRECTORY}/*.html ${DIRECTORY}/*.js ${DIRECTORY}/*.css ${DIRECTORY}/*.svg)
list(SORT files)
set(arrays "")
set(entries "")
set(number 0)
foreach(file IN LISTS files)
  file(READ ${file} hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR size "${digits} / 2")
  if(size EQUAL 0)
    continue()
  endif()
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  get_filename_component(name ${file} NAME)
  string(APPEND arrays "constexpr unsigned char kFile${number}[] = {${bytes}};\n")
  string(APPEND entries
         "    {\"${name}\", {reinterpret_cast<const char*>(kFile${number}), ${size}}},\n")
  math(EXPR number "${number} + 1")
endforeach()
if(number GREATER 0)
  set(table "const EmbeddedFile kFiles[] = {\n${entries}};\n")
  set(span "kFiles")
else()
  set(table "")
  set(span "{}")
endif()
set(text "// Made by cmake/embed_files.cmake.
#include \"server/assets.h\"

namespace msprobe::server {
namespace {
${arrays}${table}}  // namespace

std::span<const EmbeddedFile> EmbeddedFiles() { return ${span}; }
}  // namespace msprobe::server
")
set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
