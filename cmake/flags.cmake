# SPDX-License-Identifier: GPL-3.0-or-later
# Warnings and code generation for every target of ours. Asserts stay in every build type, and
# -Werror is a preset's choice (CMAKE_COMPILE_WARNING_AS_ERROR), never the default.

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
foreach(type RELEASE RELWITHDEBINFO MINSIZEREL)
    string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_${type} "${CMAKE_C_FLAGS_${type}}")
endforeach()

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_C_COMPILER_LAUNCHER)
    set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

# Objects carry machine code beside the link-time-optimisation form: libweir.a stays usable by any
# linker, and the many test programs link in no time.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    set(CMAKE_C_COMPILE_OPTIONS_IPO -flto=auto -ffat-lto-objects)
else()
    set(CMAKE_INTERPROCEDURAL_OPTIMIZATION OFF) # clang has no such objects
endif()

add_library(weir_flags INTERFACE)
target_compile_options(weir_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wdouble-promotion
    -Wfloat-equal -Wformat=2 -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
    -Wundef -Wvla -Wcast-qual -Wcast-align -Wwrite-strings -Wnull-dereference
    -Wimplicit-fallthrough -Wswitch-enum -Wpointer-arith
    # A wrong type is never a warning: the default build would make a program that crashes.
    -Werror=incompatible-pointer-types -Werror=int-conversion
    -Werror=implicit-function-declaration
    -fno-common -ffp-contract=off -fvisibility=hidden)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    target_compile_options(weir_flags INTERFACE -Wduplicated-cond -Wduplicated-branches
        -Wlogical-op -Walloca -Warith-conversion -Wstack-usage=8192)
elseif(CMAKE_C_COMPILER_ID MATCHES "Clang")
    target_compile_options(weir_flags INTERFACE -Wcomma -Wassign-enum -Wconditional-uninitialized)
endif()
target_link_options(weir_flags INTERFACE -Wl,--as-needed)

# Not a generator expression: the comma in the value would break $<BOOL:...>.
if(WEIR_SANITIZE)
    set(sanitize -fsanitize=${WEIR_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_compile_options(weir_flags INTERFACE ${sanitize})
    target_link_options(weir_flags INTERFACE ${sanitize})
endif()
# Without its search for leaks: it takes what a structure keeps for lost, once the structure is handed
# on. The address sanitizer and valgrind look for leaks while the tests run.
if(WEIR_ANALYZE)
    target_compile_options(weir_flags INTERFACE -fanalyzer -Wno-analyzer-malloc-leak
        -Wno-analyzer-file-leak)
endif()
if(WEIR_FUZZ)
    target_compile_options(weir_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(WEIR_COVERAGE)
    target_compile_options(weir_flags INTERFACE --coverage)
    target_link_options(weir_flags INTERFACE --coverage)
endif()
