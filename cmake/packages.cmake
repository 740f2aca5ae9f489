# SPDX-License-Identifier: GPL-3.0-or-later
# What is installed beside the programs, and the Debian packages that `./dev deb` makes of it:
# libweir2 and libweir-json2 (for programs that link them), libweir-dev (for those who build them), weir,
# weir-doc.

find_program(BASH_PROGRAM bash)
if(TARGET weir AND BASH_PROGRAM)
    install(CODE "execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND \"${BASH_PROGRAM}\"
        \"${PROJECT_SOURCE_DIR}/cmake/install_pages.sh\" \"$<TARGET_FILE:weir>\"
        \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")" COMPONENT runtime)
endif()
install(FILES analysis/tools/weir.py DESTINATION "${WEIR_PYTHON_DIR}" COMPONENT runtime)
install(FILES analysis/tools/grafana.json analysis/tools/alerts.yaml DESTINATION "${CMAKE_INSTALL_DATADIR}/weir/grafana"
        COMPONENT runtime)
install(DIRECTORY docs/ DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/weir-doc" COMPONENT doc)
install(FILES README.md CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/weir-doc"
        COMPONENT doc)
install(DIRECTORY sched/template/ DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/libweir-dev/examples"
        COMPONENT dev)

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL lib json dev runtime doc)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/strip_archives.cmake")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package says what it is
set(CPACK_PACKAGE_CONTACT "The weir developers <weir@localhost>")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")

# weir_package(component name section description): and who holds the rights, where Debian looks.
function(weir_package component name section description)
    string(TOUPPER ${component} upper)
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name} PARENT_SCOPE)
    set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
    set(CPACK_DEBIAN_${upper}_DESCRIPTION "${description}" PARENT_SCOPE)
    install(FILES "${PROJECT_SOURCE_DIR}/cmake/copyright" COMPONENT ${component}
            DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${name}")
endfunction()
get_target_property(abi_major libweir SOVERSION)
set(same "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
weir_package(lib libweir${abi_major} libs "scheduler core for GPU clusters
Placement, scaling and queueing of jobs and pipelines as a library without a
clock, files or threads. A controller links it and carries out its plans.")
weir_package(json libweir-json${abi_major} libs "decisions of libweir as JSON
Sessions that answer JSON documents with the decisions of a scheduler, and a
module for Python over them.")
weir_package(dev libweir-dev libdevel "scheduler core for GPU clusters, to build with
Headers, static library, pkg-config file and CMake package of libweir.")
weir_package(runtime weir science "simulator and benchmark harness for GPU-cluster schedulers
Simulates pipelines, jobs and faults on a cluster of GPUs, compares policies
and explains their decisions.")
weir_package(doc weir-doc doc "simulator for GPU-cluster schedulers, its documentation
Reference of scenarios and metrics, tutorials, and how to embed libweir.")
# Within one source shlibdeps cannot ask who has libweir.so: it is told.
set(CPACK_DEBIAN_JSON_PACKAGE_DEPENDS "libweir${abi_major} ${same}")
set(CPACK_DEBIAN_JSON_PACKAGE_SUGGESTS python3)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_BINARY_DIR}/lib")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
    "libweir${abi_major} ${same}, libweir-json${abi_major} ${same}")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "gnuplot-nox | gnuplot, fonts-dejavu-core, sqlite3")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "weir-doc")
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
include(CPack)
