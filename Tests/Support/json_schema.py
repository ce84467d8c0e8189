"""Values against the JSON schemas of what capturectl prints."""
import json, re
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent.parent / "docs" / "schemas"
TYPES = {"string": str, "array": list, "object": dict, "boolean": bool}
KNOWN = {"$schema", "$defs", "$ref", "title", "description", "type", "properties", "required", "additionalProperties", "items",
         "enum", "const", "pattern", "minimum", "anyOf"}


def load(name):
    return json.loads((FOLDER / name).read_text())


def is_of(value, kind):
    if kind in ("integer", "number"):
        return isinstance(value, int if kind == "integer" else (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[kind])


def faults(value, schema, place="output"):
    """What a value has that its schema does not allow, or the other way round. Knows of JSON Schema what is used here."""
    if unknown := schema.keys() - KNOWN:
        return [f"the schema of {place} has {unknown}, which is not checked"]
    if "$ref" in schema:
        file, _, name = schema["$ref"].partition("#/$defs/")
        return faults(value, load(file)["$defs"][name], place)
    if "anyOf" in schema:
        found = [faults(value, one, place) for one in schema["anyOf"]]
        return min(found, key=len) if all(found) else []
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(is_of(value, kind) for kind in kinds):
        return [f"{place} is {value!r}, not of type {kinds}"]
    found = []
    if "enum" in schema and value not in schema["enum"] or "const" in schema and value != schema["const"]:
        found.append(f"{place} is {value!r}")
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        found.append(f"{place} is {value!r}, not as in {schema['pattern']}")
    if isinstance(value, (int, float)) and value < schema.get("minimum", value):
        found.append(f"{place} is {value}")
    if isinstance(value, list):
        for index, element in enumerate(value):
            found += faults(element, schema.get("items", {}), f"{place}[{index}]")
    if isinstance(value, dict):
        known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
        found += [f"{place} has no {key}" for key in schema.get("required", []) if key not in value]
        for key, member in value.items():
            if member is None or member == "":
                found.append(f"{place}.{key} is there, and is {member!r}")
            elif key in known or others is not False:
                found += faults(member, known.get(key, others if isinstance(others, dict) else {}), f"{place}.{key}")
            else:
                found.append(f"{place} has {key}, which the schema does not know")
    return found
