# SPDX-License-Identifier: GPL-3.0-or-later
# weir_embed(target file symbol): the text of `file` becomes `const char symbol[]`, NUL-terminated,
# in `target`. weir_embed_all(target files...) derives the symbol from the base name:
# schema.sql -> weir_text_schema_sql. weir_write_text_header() declares all of them in weir_text.h.

function(weir_embed target file symbol)
    get_property(known GLOBAL PROPERTY weir_text_symbols)
    if(symbol IN_LIST known)
        message(FATAL_ERROR "${file}: another text is already embedded as ${symbol}")
    endif()
    set_property(GLOBAL APPEND PROPERTY weir_text_symbols ${symbol})
    set(output "${PROJECT_BINARY_DIR}/generated/${symbol}.c")
    set(script "${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake")
    add_custom_command(OUTPUT "${output}"
        COMMAND "${CMAKE_COMMAND}" -DINPUT=${file} -DOUTPUT=${output} -DSYMBOL=${symbol} -P ${script}
        DEPENDS "${file}" "${script}" COMMENT "Embedding ${symbol}" VERBATIM)
    target_sources(${target} PRIVATE "${output}")
endfunction()

function(weir_embed_all target)
    foreach(file IN LISTS ARGN)
        get_filename_component(name "${file}" NAME)
        string(REGEX REPLACE "[^A-Za-z0-9]" "_" name "${name}")
        weir_embed(${target} "${file}" weir_text_${name})
    endforeach()
endfunction()

function(weir_write_text_header)
    get_property(symbols GLOBAL PROPERTY weir_text_symbols)
    set(lines "/* Generated: the texts embedded in the program, each NUL-terminated. */\n")
    string(APPEND lines "#ifndef WEIR_TEXT_H\n#define WEIR_TEXT_H\n\n")
    foreach(symbol IN LISTS symbols)
        string(APPEND lines "extern const char ${symbol}[];\n")
    endforeach()
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/weir_text.h"
         CONTENT "${lines}\n#endif\n" @ONLY)
endfunction()
