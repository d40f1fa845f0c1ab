"""The arguments of a tool as JSON schema, in the plain form that function calling takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from negmem.core.learning.protocol import Tool
from negmem.core.session import Session
from negmem.core.tools.definition import Definition

_DROPPED = ("title",)


def parameters(session: Session, one: Definition) -> dict[str, Any]:
    """A JSON schema of an object: no references, no titles; what may be left out is not required."""
    schema = one.arguments(session).model_json_schema(by_alias=True)
    schema.pop("description", None)
    made = _plain(schema)
    made.setdefault("properties", {})
    return {"type": "object", **made}


def function_schema(one: Tool) -> dict[str, Any]:
    """A tool as an entry of `tools` in a request to an OpenAI-style API."""
    return {
        "type": "function",
        "function": {
            "name": one.name,
            "description": one.description,
            "parameters": dict(one.parameters),
        },
    }


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            made[key] = {name: _plain(one) for name, one in value.items()}
        elif key in ("items", "additionalProperties") and isinstance(value, Mapping):
            made[key] = _plain(value)
        elif key == "anyOf":
            # An optional argument is left out, never null.
            (kept,) = [_plain(one) for one in value if one.get("type") != "null"]
            made.update(kept)
        elif key not in _DROPPED and not (key == "default" and value is None):
            made[key] = value
    return made
