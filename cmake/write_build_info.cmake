# SPDX-License-Identifier: GPL-3.0-or-later
# Run at build time; see build_info.cmake.
set(BUILD_COMMIT "unknown")
set(BUILD_DIRTY 0)
find_program(GIT git)
if(GIT)
    execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --short=12 HEAD
        OUTPUT_VARIABLE commit RESULT_VARIABLE result ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(result EQUAL 0)
        set(BUILD_COMMIT "${commit}")
        execute_process(COMMAND ${GIT} -C ${SOURCE} status --porcelain -uno
            OUTPUT_VARIABLE changes ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
        if(changes)
            set(BUILD_DIRTY 1)
        endif()
    endif()
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/build-info.c.in ${OUTPUT} @ONLY)
