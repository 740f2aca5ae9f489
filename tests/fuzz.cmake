# SPDX-License-Identifier: GPL-3.0-or-later
# tests/fuzz/fuzz_*.c define LLVMFuzzerTestOneInput. With WEIR_FUZZ they are libFuzzer programs; in
# every other build a small main() replays tests/fuzz/corpus/<name>/ as an ordinary test.

file(GLOB sources CONFIGURE_DEPENDS "${tests}/fuzz/fuzz_*.c")
foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME_WE)
    string(REGEX REPLACE "^fuzz_" "" corpus "${name}")
    if(WEIR_FUZZ)
        weir_test_program(${name} "${source}" "${tests}/support/reached.c")
        target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    else()
        weir_test_program(${name} "${source}" "${tests}/support/replay.c"
            "${tests}/support/reached.c")
        weir_test(test_${name} fuzz ${name} "${tests}/fuzz/corpus/${corpus}")
    endif()
    target_link_libraries(${name} PRIVATE test_replay test_oracles)
endforeach()
