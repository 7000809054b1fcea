# Target Mnl::mnl; Debian's package brings no CMake file of its own.
find_path(Mnl_INCLUDE_DIR libmnl/libmnl.h)
find_library(Mnl_LIBRARY mnl)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Mnl REQUIRED_VARS Mnl_LIBRARY Mnl_INCLUDE_DIR)
if(Mnl_FOUND AND NOT TARGET Mnl::mnl)
  add_library(Mnl::mnl UNKNOWN IMPORTED)
  set_target_properties(Mnl::mnl PROPERTIES IMPORTED_LOCATION "${Mnl_LIBRARY}"
                                            INTERFACE_INCLUDE_DIRECTORIES "${Mnl_INCLUDE_DIR}")
endif()
