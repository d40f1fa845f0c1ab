"""Renders and installs the managed functions of sql/functions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from negmem.db.connect import Connection, Database
from negmem.db.sqlfiles import fill, function_names, function_text

if TYPE_CHECKING:
    from typing_extensions import LiteralString


def number(value: float) -> str:
    """A number as the one text that stands for it: at most six decimals, no trailing zeros."""
    text = f"{value:.6f}".rstrip("0").rstrip(".")
    return text if text not in ("", "-0") else "0"


def variables(automation: Mapping[str, Any], schema: str, vector_schema: str) -> dict[str, str]:
    """The psql variables of sql/functions, from the automation document of the main app."""
    retention = automation["retention"]
    context = automation["context_assembler"]
    return {
        "schema": schema,
        "vector_schema": vector_schema,
        "decay_lambda": number(retention["decay_lambda"]),
        "low_retention_threshold": number(retention["low_retention_threshold"]),
        "min_age_days": number(retention["min_age_days"]),
        "max_share": number(retention["max_share"]),
        "max_rows": number(retention["max_rows"]),
        "max_tokens": number(context["max_tokens"]),
        "memory_ratio": number(context["memory_ratio"]),
        "history_ratio": number(context["history_ratio"]),
        "lookback_interval": str(automation["consolidation"]["lookback_interval"]),
    }


_NAMED = re.compile(r':"schema"\.(\w+)\(')


def creation_order() -> list[str]:
    """The managed functions, each after those that its body names when it is created.

    Only a body in standard SQL (BEGIN ATOMIC, RETURN) needs that: it is parsed at once.
    """
    names = function_names()
    ordered: dict[str, None] = {}

    def place(name: str) -> None:
        if name in ordered:
            return
        for other in sorted(set(_NAMED.findall(function_text(name))) - {name}):
            if other in names:
                place(other)
        ordered[name] = None

    for name in names:
        place(name)
    return list(ordered)


def rendered(values: Mapping[str, str]) -> dict[str, LiteralString]:
    """The statement of every managed function, by name, in the order in which they can be created."""
    return {name: fill(function_text(name), values) for name in creation_order()}


def install(database: Database, connection: Connection, automation: Mapping[str, Any]) -> None:
    """Create or replace every managed function, inside the caller's transaction."""
    vector_schema = database.facts.vector_schema or "public"
    connection.execute(database.queries("session", "bodies_unchecked"))
    for statement in rendered(variables(automation, database.schema, vector_schema)).values():
        connection.execute(statement)
