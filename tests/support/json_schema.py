# SPDX-License-Identifier: GPL-3.0-or-later
"""json_schema.py SCHEMA FILE...: which scenarios a JSON Schema accepts, a line each: "accepts FILE" or
"refuses FILE: where: why". Plain scalars are read as YAML 1.2 does: no times, no octal numbers."""
import json
import re
import sys

import jsonschema
import yaml


class Loader(yaml.BaseLoader):
    pass


for tag, pattern, first in (
        ("tag:yaml.org,2002:bool", r"true|false", "tf"), ("tag:yaml.org,2002:null", r"~|null|", ["~", "n", ""]),
        ("tag:yaml.org,2002:int", r"[-+]?[0-9]+", "-+0123456789"),
        ("tag:yaml.org,2002:float", r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", "-+.0123456789")):
    Loader.add_implicit_resolver(tag, re.compile(rf"^({pattern})$"), list(first))
Loader.add_constructor("tag:yaml.org,2002:bool", lambda loader, node: node.value == "true")
Loader.add_constructor("tag:yaml.org,2002:null", lambda loader, node: None)
Loader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(node.value))
Loader.add_constructor("tag:yaml.org,2002:float", lambda loader, node: float(node.value))


def deepest(error):
    """The branch that came furthest, or is of the right type."""
    while error.context:
        error = max(error.context, key=lambda inner: (len(inner.absolute_path), inner.validator != "type"))
    return error


schema = json.load(open(sys.argv[1], encoding="utf-8"))
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
for name in sys.argv[2:]:
    try:
        with open(name, encoding="utf-8") as file:
            text = yaml.load(file, Loader)
    except (yaml.YAMLError, UnicodeDecodeError) as fault:
        print(f"refuses {name}: no YAML: {str(fault).splitlines()[0]}")
        continue
    error = next(validator.iter_errors(text), None)
    if error is None:
        print(f"accepts {name}")
    else:
        error = deepest(error)
        print(f"refuses {name}: {'/'.join(map(str, error.absolute_path))}: {error.message[:150]}")
