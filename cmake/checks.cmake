# SPDX-License-Identifier: GPL-3.0-or-later
# Targets that read the sources and build nothing.

find_program(CPPCHECK_PROGRAM cppcheck)
if(CPPCHECK_PROGRAM)
    add_custom_target(cppcheck
        COMMAND "${CPPCHECK_PROGRAM}" --quiet --std=c11 --enable=warning,performance,portability
            --error-exitcode=1 --inline-suppr --suppress=missingIncludeSystem -j 2
            -I "${PROJECT_SOURCE_DIR}" -I "${PROJECT_SOURCE_DIR}/sched/include"
            sched sim analysis workloads
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" VERBATIM)
endif()
add_custom_target(format COMMAND "${PROJECT_SOURCE_DIR}/dev" format VERBATIM)
add_custom_target(format-check COMMAND "${PROJECT_SOURCE_DIR}/dev" format --check VERBATIM)
