# SPDX-License-Identifier: GPL-3.0-or-later
# weir_room(target sources...): one object library a room, so that a program links all of it and
# no link order matters. Include paths: the project root, sched/include, generated headers.

function(weir_room target)
    set(sources ${ARGN})
    if(NOT sources)
        # An object library needs one source; a declaration is the smallest.
        set(sources "${PROJECT_BINARY_DIR}/generated/${target}_empty.c")
        file(CONFIGURE OUTPUT "${sources}" CONTENT "extern const int ${target}_is_empty;\n")
    endif()
    add_library(${target} OBJECT ${sources})
    target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}"
        "${PROJECT_SOURCE_DIR}/sched/include" "${PROJECT_BINARY_DIR}/generated")
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
    target_link_libraries(${target} PRIVATE weir_flags)
endfunction()
