# SPDX-License-Identifier: GPL-3.0-or-later
# weir_build_info(target): adds the functions of sim/cli/build_info.h to `target`. The commit is
# looked up at every build, and the file is rewritten only when something changed.

function(weir_build_info target)
    set(output "${PROJECT_BINARY_DIR}/generated/build_info.c")
    set(build_compiler "${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}")
    string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
    set(flags "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${type}}")
    if(CMAKE_INTERPROCEDURAL_OPTIMIZATION)
        string(APPEND flags " -flto")
    endif()
    if(WEIR_SANITIZE)
        string(APPEND flags " -fsanitize=${WEIR_SANITIZE}")
    endif()
    string(REGEX REPLACE " +" " " flags "${flags}")
    string(STRIP "${flags}" flags)
    add_custom_target(${target}_build_info BYPRODUCTS "${output}"
        COMMAND "${CMAKE_COMMAND}" -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${output}
            "-DBUILD_VERSION=${PROJECT_VERSION}" "-DBUILD_COMPILER=${build_compiler}"
            "-DBUILD_FLAGS=${flags}" -P "${PROJECT_SOURCE_DIR}/cmake/write_build_info.cmake"
        COMMENT "Looking up the commit" VERBATIM)
    add_dependencies(${target} ${target}_build_info)
    target_sources(${target} PRIVATE "${output}")
endfunction()
