# SPDX-License-Identifier: GPL-3.0-or-later
# The libraries the simulator links, as imported targets weir::<name>. libweir links none of them.

find_package(PkgConfig REQUIRED)

# Finds one pkg-config module and makes weir::<name> of it.
function(weir_dependency name module package)
    pkg_check_modules(${name} QUIET IMPORTED_TARGET GLOBAL ${module})
    if(NOT ${name}_FOUND)
        message(FATAL_ERROR "${module} is missing: install ${package} (./dev build does it as root)")
    endif()
    add_library(weir::${name} ALIAS PkgConfig::${name})
endfunction()

weir_dependency(gsl gsl libgsl-dev)
weir_dependency(sqlite sqlite3 libsqlite3-dev)
weir_dependency(fyaml libfyaml libfyaml-dev)
weir_dependency(jansson jansson libjansson-dev)
weir_dependency(smartcols smartcols libsmartcols-dev)
weir_dependency(zlib zlib zlib1g-dev)
weir_dependency(zstd libzstd libzstd-dev)

# libcsv comes without a pkg-config file.
find_path(CSV_INCLUDE_DIR csv.h)
find_library(CSV_LIBRARY csv)
if(NOT CSV_INCLUDE_DIR OR NOT CSV_LIBRARY)
    message(FATAL_ERROR "libcsv is missing: install libcsv-dev (./dev build does it as root)")
endif()
add_library(weir::csv UNKNOWN IMPORTED)
set_target_properties(weir::csv PROPERTIES IMPORTED_LOCATION "${CSV_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${CSV_INCLUDE_DIR}")

# GLPK neither.
find_path(GLPK_INCLUDE_DIR glpk.h)
find_library(GLPK_LIBRARY glpk)
if(NOT GLPK_INCLUDE_DIR OR NOT GLPK_LIBRARY)
    message(FATAL_ERROR "GLPK is missing: install libglpk-dev (./dev build does it as root)")
endif()
add_library(weir::glpk UNKNOWN IMPORTED)
set_target_properties(weir::glpk PROPERTIES IMPORTED_LOCATION "${GLPK_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${GLPK_INCLUDE_DIR}")
