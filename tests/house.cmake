# SPDX-License-Identifier: GPL-3.0-or-later
# Tests of the house itself: public headers, symbols, the arrows between rooms, the coverage table, the
# places of known bugs, messages that no test expects.

find_program(CXX_PROGRAM NAMES c++ g++ clang++)
file(GLOB headers CONFIGURE_DEPENDS RELATIVE "${sched}/include" "${sched}/include/weir/*.h")
foreach(header IN LISTS headers)
    get_filename_component(name "${header}" NAME_WE)
    set(alone -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I "${sched}/include")
    set(unit "${PROJECT_BINARY_DIR}/generated/header_${name}.c")
    file(CONFIGURE OUTPUT "${unit}" CONTENT "#include \"${header}\"\nextern int header_alone;\n")
    weir_test(header_${name}_c17 house "${CMAKE_C_COMPILER}" -std=c17 ${alone} -x c "${unit}")
    if(CXX_PROGRAM)
        weir_test(header_${name}_cxx17 house "${CXX_PROGRAM}" -std=c++17 ${alone} -x c++
            "${unit}")
    endif()
endforeach()

# Sanitizers and gcov add names of their own.
if(NOT WEIR_SANITIZE AND NOT WEIR_COVERAGE)
    set(symbols sh "${tests}/support/symbols_test.sh" "${sched}/symbols.sh")
    weir_test(libweir_exported_symbols house ${symbols} exported $<TARGET_FILE:libweir>
        "${sched}/weir.symbols")
    weir_test(libweir_undefined_symbols house ${symbols} undefined $<TARGET_FILE:libweir>
        "${tests}/support/libweir.allowed")
    weir_test(libweir_interface house sh "${tests}/support/abi_test.sh" $<TARGET_FILE:libweir>
        "${sched}/include" "${tests}/golden/libweir-2.abi.gz")
endif()

weir_test(house_arrows house bash "${tests}/support/arrows.sh" "${PROJECT_SOURCE_DIR}")
weir_test(house_files house bash "${tests}/support/files.sh" "${PROJECT_SOURCE_DIR}")
weir_test(house_fuzz house bash "${tests}/support/fuzz_targets.sh" "${PROJECT_SOURCE_DIR}")
weir_test(house_pages house bash "${tests}/support/pages.sh" "${PROJECT_SOURCE_DIR}")
# Lines of code of all rooms. It is lowered when code went, and raised by a commit that says what for.
weir_test(code_size house bash "${tests}/support/count_code.sh" "${PROJECT_SOURCE_DIR}" 161700)
weir_test(house_coverage house bash "${tests}/coverage.sh" --check)
find_program(PYTHON_PROGRAM NAMES python3)
if(PYTHON_PROGRAM)
    weir_test(house_gallery house bash "${tests}/support/gallery.sh" $<TARGET_FILE:weir> --check)
    weir_test(house_messages house "${PYTHON_PROGRAM}" "${tests}/support/messages.py" "${PROJECT_SOURCE_DIR}")
    weir_test(house_database_page house "${PYTHON_PROGRAM}" "${tests}/support/database_page.py" --check)
endif()
weir_test(house_mutants house bash "${tests}/mutants/run.sh" --places "${PROJECT_SOURCE_DIR}")
weir_test(libweir_builds_alone house bash "${tests}/support/libweir_alone.sh"
    "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/tests/libweir_alone" "${CMAKE_C_COMPILER}")
