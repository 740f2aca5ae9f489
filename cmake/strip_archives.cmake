# SPDX-License-Identifier: GPL-3.0-or-later
# Run by CPack before it packs: archives keep machine code, and neither what debuggers read nor the form
# for link-time optimisation, which only the compiler that wrote it can read.
file(GLOB_RECURSE archives "${CPACK_TEMPORARY_DIRECTORY}/*.a")
foreach(archive IN LISTS archives)
    execute_process(COMMAND strip --strip-debug "--remove-section=.gnu.lto_*" "${archive}"
        COMMAND_ERROR_IS_FATAL ANY)
endforeach()
