#!/usr/bin/python3
"""Holds every golden digest to the JSON Schema that is shipped, and the schema
to its worth: damaged digests must be refused, and no key may be unknown to it.

usage: schema_test.py SCHEMA GOLDEN_DIRECTORY

Exit status 77: skipped, Debian's python3-jsonschema is not installed.
"""

import copy
import glob
import json
import os
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)


def closed(schema):
    """The schema with no other keys than those it names: what is written today
    must all be documented."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: closed(value) for key, value in schema.items()}
    if "properties" in result and "allOf" not in result and result.get("type") == "object":
        result["additionalProperties"] = False
    return result


def flattened(schema):
    """Resolves allOf by hand, so that `closed` can close every object."""
    definitions = schema["definitions"]
    for name in ("namedWorker", "culprit"):
        node = definitions[name]
        base = definitions[node.pop("allOf")[0]["$ref"].split("/")[-1]]
        node["type"] = "object"
        node["required"] = base["required"] + node["required"]
        node["properties"] = {**base["properties"], **node["properties"]}
    return schema


def damages(digest):
    """Digests that are wrong in one place each."""
    for key in ("schemaVersion", "incidentId", "cause", "culprits", "removal", "workers"):
        damaged = copy.deepcopy(digest)
        del damaged[key]
        yield f"without {key}", damaged
    for key, value in (
        ("schemaVersion", 2), ("cause", "BAD_LUCK"), ("detail", "SOMETHING"), ("confidence", 1.5),
        ("culprits", [{"slice": 0, "task": 0, "why": "no host"}]), ("detectedAt", "yesterday"),
        ("removal", {"eligible": "no", "targets": [], "reason": ""}),
        ("tpuStates", [{"cores": -1, "positions": []}]), ("firstError", {"type": "LUNCH"}),
    ):
        yield f"{key} = {value!r}", {**copy.deepcopy(digest), key: value}


def main():
    schema_path, directory = sys.argv[1:]
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    shipped = jsonschema.Draft7Validator(schema)
    strict = jsonschema.Draft7Validator(closed(flattened(copy.deepcopy(schema))))

    paths = sorted(glob.glob(os.path.join(directory, "*.json")))
    failures = [] if paths else [f"no golden digest in {directory}"]
    for path in paths:
        with open(path, encoding="utf-8") as file:
            digest = json.load(file)
        for validator in (shipped, strict):
            for error in validator.iter_errors(digest):
                failures.append(f"{path}: {error.json_path}: {error.message[:200]}")
        if strict.is_valid({**digest, "surprise": 1}):
            failures.append(f"{path}: a key that the schema does not name went unseen")
        if not shipped.is_valid({**digest, "surprise": 1}):
            failures.append(f"{path}: a key of a later version is refused")
        for what, damaged in damages(digest):
            if shipped.is_valid(damaged):
                failures.append(f"{path}: accepted {what}")
    print("\n".join(failures) or f"{len(paths)} digests keep to the schema")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
