"""Checks a JSON document against the part of JSON Schema that schema/*.schema.json use."""
import json
from pathlib import Path

SCHEMAS = Path(__file__).resolve().parents[2] / "schema"
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
         "integer": int, "number": (int, float)}
KNOWN = {"$schema", "$defs", "$ref", "title", "description", "type", "enum", "minimum", "maximum",
         "required", "properties", "additionalProperties", "items", "minItems", "maxItems",
         "allOf", "if", "then"}


def _is(value, name) -> bool:
    if isinstance(value, bool) and name in ("integer", "number"):
        return False
    return isinstance(value, TYPES[name])


def _problems(value, schema, root, where):
    unknown = set(schema) - KNOWN
    if unknown:
        raise ValueError(f"schema_check.py does not know {unknown}")
    if "$ref" in schema:  # "#/$defs/name", also of another file
        file, name = schema["$ref"].split("#/$defs/")
        other = json.loads((SCHEMAS / file).read_text()) if file else root
        yield from _problems(value, other["$defs"][name], other, where)
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(_is(value, name) for name in names):
        yield f"{where} is {value!r}, not {' or '.join(names)}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where} is {value!r}, not one of {schema['enum']}"
    if _is(value, "number"):
        if value < schema.get("minimum", value) or value > schema.get("maximum", value):
            yield f"{where} is {value!r}: out of range"
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{where} has {len(value)} items"
        for i, item in enumerate(value):
            yield from _problems(item, schema.get("items", {}), root, f"{where}[{i}]")
    if isinstance(value, dict):
        yield from _object_problems(value, schema, root, where)
    for part in schema.get("allOf", []):
        yield from _problems(value, part, root, where)
    if "if" in schema and not list(_problems(value, schema["if"], root, where)):
        yield from _problems(value, schema["then"], root, where)


def _object_problems(value, schema, root, where):
    for key in schema.get("required", []):
        if key not in value:
            yield f"{where} has no {key}"
    known = schema.get("properties", {})
    others = schema.get("additionalProperties", {})
    for key, item in value.items():
        if key in known:
            yield from _problems(item, known[key], root, f"{where}.{key}")
        elif others is False:
            yield f"{where} has an unknown key {key}"
        elif others is not True:
            yield from _problems(item, others, root, f"{where}.{key}")


def schema_problems(text: str, name: str) -> list:
    """`name`: of schema/<name>.schema.json."""
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    return list(_problems(json.loads(text), schema, schema, name))


def definition_problems(value, name: str, definition: str) -> list:
    """`definition`: of the $defs of schema/<name>.schema.json."""
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    return list(_problems(value, {"$ref": f"#/$defs/{definition}"}, schema, definition))
