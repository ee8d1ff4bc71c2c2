"""The forms of the files as JSON Schema, draft 7, made of the types that read them.

`python -m recheck_report.record.schema NAME` prints one: record, samples (of one line),
probes or verdicts.
"""

from __future__ import annotations

import json
import sys
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Annotated, Any, get_args, get_origin

from recheck_report.record.case import Raw
from recheck_report.record.probes import Probes
from recheck_report.record.record import Document
from recheck_report.record.typed import ANY, Is, members, required
from recheck_report.record.verdicts_json import Verdicts

Json = dict[str, Any]
FILES = {"record": Document, "samples": Raw, "probes": Probes, "verdicts": Verdicts}
TYPES = {str: "string", float: "number", int: "integer", bool: "boolean"}


def schema(name: str) -> Json:
    """The form of the file of that name."""
    head = {"$schema": "http://json-schema.org/draft-07/schema#", "title": f"{name} of Recheck"}
    return head | form_of(FILES[name])


def form_of(kind: Any, limits: Is = ANY) -> Json:
    """The schema of one type."""
    outer = get_origin(kind) or kind
    if outer is Annotated:
        return form_of(*get_args(kind)[:2])
    if outer is UnionType:
        result = form_of(get_args(kind)[0], limits)
        result["type"] = [result["type"], "null"]
        if limits.one_of:
            result["enum"] = [*limits.one_of, None]
        return result
    result = {"description": limits.what} if limits.what else {}
    bounds = {"minimum": limits.least, "exclusiveMinimum": limits.above, "maximum": limits.most}
    result |= {key: value for key, value in bounds.items() if value is not None}
    result |= {"enum": [*limits.one_of]} if limits.one_of else {}
    result |= {"pattern": limits.pattern} if limits.pattern else {}
    result |= {"propertyNames": {"pattern": limits.names}} if limits.names else {}
    result |= {"minLength" if outer is str else "minItems": 1} if limits.filled else {}
    if outer in TYPES:
        return result | {"type": TYPES[outer]}
    if outer is tuple:
        inner, *others = map(form_of, filter(lambda inner: inner is not ..., get_args(kind)))
        many: Json = {"items": inner}
        if others:
            count = 1 + len(others)
            many = {"items": [inner, *others], "minItems": count, "maxItems": count}
        return result | {"type": "array"} | many
    if outer is dict:
        return result | {"type": "object", "additionalProperties": form_of(get_args(kind)[1])}
    assert is_dataclass(outer), outer
    needed = [field.name for field in fields(outer) if required(field)]
    of_members = {name: form_of(hint) for name, hint in members(kind).items()}
    return result | {"type": "object", "required": needed, "properties": of_members}


if __name__ == "__main__":
    print(json.dumps(schema(sys.argv[1]), ensure_ascii=False, indent=1))
