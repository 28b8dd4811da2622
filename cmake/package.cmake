# The public C++ library: `cmake --install <build> --component cpp --prefix <prefix>` puts
# libmsprobe, include/msprobe and the CMake package there; programs say find_package(msprobe) and
# link msprobe::msprobe.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(layers base tensor stats formats dump graph compare)
add_library(msprobe_library SHARED)
set_target_properties(msprobe_library PROPERTIES
  OUTPUT_NAME msprobe EXPORT_NAME msprobe
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
foreach(layer ${layers})
  target_sources(msprobe_library PRIVATE $<TARGET_OBJECTS:msprobe_${layer}>)
endforeach()
target_link_libraries(msprobe_library PRIVATE msprobe_compare)
target_compile_features(msprobe_library INTERFACE cxx_std_20)
target_include_directories(msprobe_library INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

set(config ${CMAKE_INSTALL_LIBDIR}/cmake/msprobe)
set(headers status.h tensor_view.h statistics.h record_builder.h dump_writer.h dump_reader.h
  compare.h)
list(TRANSFORM headers PREPEND ${CMAKE_SOURCE_DIR}/include/msprobe/)
install(TARGETS msprobe_library EXPORT msprobe LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp
  NAMELINK_COMPONENT cpp)
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/msprobe COMPONENT cpp)
install(EXPORT msprobe NAMESPACE msprobe:: FILE msprobeConfig.cmake DESTINATION ${config} COMPONENT cpp)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/msprobeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/msprobeConfigVersion.cmake DESTINATION ${config} COMPONENT cpp)
