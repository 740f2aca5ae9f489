#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# python_module.sh HEADER SONAME: the functions that HEADER (weir/json.h) declares, as a Python module
# that needs nothing but ctypes. What takes the session first becomes a method.
set -euo pipefail
cat <<P
# SPDX-License-Identifier: GPL-3.0-or-later
# Made from ${1##*/include/} by ${0##*/}: do not edit.
"""Decisions of libweir: a Session answers documents (dict or text) of docs/decide.md.

    import weir_json
    with weir_json.Session() as session:
        answer = session.answer({"format": "weir-decision", "version": 3, ...})
"""
import ctypes
import json
import os

_library = ctypes.CDLL(os.environ.get("WEIR_JSON_LIBRARY", "$2"))
P
tr '\n' ' ' <"$1" | sed 's|/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/| |g' | grep -oE 'WEIR_API [^;]*;' | awk '
    function kind(text) { return text ~ /char/ ? "c_char_p" : text ~ /\*/ ? "c_void_p" : "" }
    {
        sub(/^WEIR_API /, ""); open = index($0, "(")
        head = substr($0, 1, open - 1); arguments = substr($0, open + 1); sub(/\);$/, "", arguments)
        name = head; sub(/.*[ *]/, "", name)
        result = kind(head); list = ""; count = arguments == "void" ? 0 : split(arguments, part, ",")
        for (i = 1; i <= count; i++) list = list (i > 1 ? ", " : "") "ctypes." kind(part[i])
        printf "_library.%s.restype = %s\n", name, result == "" ? "None" : "ctypes." result
        printf "_library.%s.argtypes = [%s]\n", name, list
    }'
cat <<'P'


class Session:
    """One scheduler and its state; not for several threads at once."""

    def __init__(self):
        self._session = _library.weir_json_open()
        if not self._session:
            raise MemoryError("weir_json_open")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self._session:
            _library.weir_json_close(self._session)
        self._session = None

    def _open(self):
        if not self._session:
            raise ValueError("the session is closed")
        return self._session

    def answer(self, document):
        """The answer to a document, as a dict; {"status": "error", ...} says what is wrong."""
        text = document if isinstance(document, str) else json.dumps(document)
        if "\0" in text:
            raise ValueError("the document has a character 0")
        answer = _library.weir_json_answer(self._open(), text.encode())
        if answer is None:
            raise MemoryError("weir_json_answer")
        return json.loads(answer)

    def state(self):
        """The document that begins such a session; None before one has begun."""
        text = _library.weir_json_state(self._open())
        return None if text is None else json.loads(text)
P
