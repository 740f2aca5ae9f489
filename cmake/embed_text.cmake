# SPDX-License-Identifier: GPL-3.0-or-later
# cmake -DINPUT=text -DOUTPUT=file.c -DSYMBOL=name -P embed_text.cmake
# Character constants, because a string literal may only have 4095 characters in C17.
file(READ "${INPUT}" bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
file(WRITE "${OUTPUT}" "#include \"weir_text.h\"\n\nconst char ${SYMBOL}[] = {\n${bytes}'\\0'};\n")
