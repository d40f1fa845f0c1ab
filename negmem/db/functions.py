"""The managed functions of sql/functions: rendered, compared with the database, put into it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import psycopg

from negmem.db.connect import Connection, Database
from negmem.db.function_catalog import (
    REFUSED,
    Definition,
    LiveFunction,
    expected_functions,
    live_functions,
)
from negmem.db.sqlfiles import MIGRATION_FUNCTIONS, fill, function_names, function_text

if TYPE_CHECKING:
    from typing_extensions import LiteralString

State = Literal["present", "missing", "outdated", "edited", "unmanaged", "leftover"]

_CREATE = re.compile(r'^CREATE OR REPLACE FUNCTION :"schema"\.(?P<name>\w+)\(', re.MULTILINE)
_NAMED = re.compile(r':"schema"\.(\w+)\(')
_RELEVANCE = ("beta", "gamma", "harmful_gamma", "min_count", "half_life_days")
_QUOTED_BODY = re.compile(r"\$(\w*)\$(.*)\$\1\$", re.DOTALL)


@dataclass(frozen=True)
class Wanted:
    """One CREATE statement as this program would run it; `template` is the hash of its text."""

    name: str
    text: str
    template: str
    purpose: str


@dataclass(frozen=True)
class Comparison:
    """One function: what is wanted, what stands there, and what differs.

    `leftover`: negmem wrote it once and no longer ships that signature. `differences` names facets
    of the definition. `expected` is None where the server was not asked or refused to say.
    """

    state: State
    signature: str
    wanted: Wanted | None = None
    live: LiveFunction | None = None
    expected: LiveFunction | None = None
    differences: tuple[str, ...] = ()
    needs_drop: bool = False
    needs_stamp: bool = False

    @property
    def is_by_hand(self) -> bool:
        """Whether a person's work would be lost by overwriting it."""
        return self.state in ("edited", "unmanaged")


@dataclass(frozen=True)
class Comparisons:
    """All managed functions, those of the schema that are not negmem's, and why bodies alone were compared."""

    items: tuple[Comparison, ...]
    unmanaged: tuple[LiveFunction, ...]
    reduced: str = ""

    def is_renewed(self, found: Comparison) -> bool:
        """Whether a leftover is the untouched old form of a function that is created anew: it goes with that.

        Two forms of one name side by side would make calls ambiguous, or reach the old one.
        """
        live = found.live
        return (
            found.state == "leftover"
            and live is not None
            and live.is_as_written
            and any(
                other.state == "missing"
                and other.wanted is not None
                and other.wanted.name == live.definition.name
                for other in self.items
            )
        )


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
        "keep_importance": number(retention["keep_importance"]),
        "max_share": number(retention["max_share"]),
        "max_rows": number(retention["max_rows"]),
        "max_tokens": number(context["max_tokens"]),
        "memory_ratio": number(context["memory_ratio"]),
        "history_ratio": number(context["history_ratio"]),
        "lookback_interval": str(automation["consolidation"]["lookback_interval"]),
        **{name: number(automation["reweight_relevance"][name]) for name in _RELEVANCE},
    }


@cache
def creation_order() -> tuple[str, ...]:
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
    return tuple(ordered)


def rendered(values: Mapping[str, str]) -> dict[str, LiteralString]:
    """The statements of every file, by name, in the order in which they can be created."""
    return {name: fill(function_text(name), values) for name in creation_order()}


def wanted_functions(values: Mapping[str, str]) -> list[Wanted]:
    """Every function that should stand, overloads one by one, in an order that can be created."""
    found = []
    for name in creation_order():
        text = function_text(name)
        starts = [match.start() for match in _CREATE.finditer(text)]
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
            statement = str(fill(text[start:end].rstrip(), values))
            template = hashlib.sha256(statement.encode()).hexdigest()[:16]
            found.append(Wanted(name, statement, template, _purpose(text)))
    return found


def _purpose(text: str) -> str:
    """The first sentence of a file's header."""
    lines: list[str] = []
    for line in text.splitlines():
        words = line.removeprefix("--").strip()
        if not line.startswith("--") or (lines and not words):
            break
        lines.append(words)
    sentence = " ".join(lines).removeprefix("Purpose: ")
    return re.split(r"[.:;](?:\s|$)", sentence, maxsplit=1)[0].replace("[", "(").replace("]", ")")


def compare(database: Database, connection: Connection, wanted: Sequence[Wanted]) -> Comparisons:
    """Compare the schema with what is wanted, inside the caller's transaction, which stays as it was.

    A function that stands as negmem last wrote it, from the same text, costs no further question.
    For the others the server says, in pg_temp, what it makes of the wanted text; where it may not
    (a standby, no TEMP privilege), bodies alone are compared and `reduced` says why.
    """
    live = live_functions(database, connection)
    names = set(function_names())
    unmatched = [f for f in live if f.definition.name in names]
    items: dict[int, Comparison] = {}
    open_wanted: list[int] = []
    for place, one in enumerate(wanted):
        same = next((f for f in unmatched if _is_untouched(f, one)), None)
        if same is not None:
            unmatched.remove(same)
            items[place] = Comparison("present", same.definition.signature, one, same)
        else:
            open_wanted.append(place)
    standing = {f.definition.name for f in unmatched}
    asked = [place for place in open_wanted if wanted[place].name in standing]
    expected, reduced = _ask(database, connection, [wanted[place] for place in asked])
    for place in open_wanted:
        one = wanted[place]
        if place not in asked:
            items[place] = Comparison("missing", one.name, one)
            continue
        wish = expected.get(one)
        found = _counterpart(one, wish, unmatched)
        if found is not None:
            unmatched.remove(found)
        items[place] = _compared(one, wish, found)
    leftover = [
        Comparison("leftover", f.definition.signature, live=f)
        for f in live
        if f.stamp is not None and (f in unmatched or f.definition.name not in names)
    ]
    ours = {c.live.oid for c in (*items.values(), *leftover) if c.live}
    return Comparisons(
        tuple(items[place] for place in sorted(items)) + tuple(leftover),
        tuple(
            f for f in live if f.oid not in ours and f.definition.name not in MIGRATION_FUNCTIONS
        ),
        reduced,
    )


def _is_untouched(live: LiveFunction, wanted: Wanted) -> bool:
    stamp = live.stamp
    return (
        live.definition.name == wanted.name
        and stamp is not None
        and stamp.template == wanted.template
        and live.is_as_written
    )


def _ask(
    database: Database, connection: Connection, wanted: Sequence[Wanted]
) -> tuple[dict[Wanted, LiveFunction], str]:
    """What the server makes of each wanted function, and why it can't be asked at all."""
    if not wanted:
        return {}, ""
    if database.facts.in_recovery or database.facts.read_only:
        return {}, "the server takes no writes, so bodies alone are compared"
    try:
        made = expected_functions(database, connection, [one.text for one in wanted])
        return dict(zip(wanted, made, strict=True)), ""
    except REFUSED:
        return {}, "this role may not make temporary objects, so bodies alone are compared"
    except psycopg.Error:
        # One of them names what is missing: ask one by one, and do without that one.
        answers = {}
        for one in wanted:
            try:
                answers[one] = expected_functions(database, connection, [one.text])[0]
            except psycopg.Error:
                continue
        return answers, ""


def _counterpart(
    wanted: Wanted, expected: LiveFunction | None, live: Iterable[LiveFunction]
) -> LiveFunction | None:
    """The function that stands where the wanted one would go."""
    same_name = [f for f in live if f.definition.name == wanted.name]
    if expected is not None:
        types = expected.definition.argument_types
        return next((f for f in same_name if f.definition.argument_types == types), None)
    body = _body(wanted.text)
    return next((f for f in same_name if f.definition.body == body), next(iter(same_name), None))


def _body(text: str) -> str | None:
    """What stands between the dollar quotes; None for a body in standard SQL."""
    found = _QUOTED_BODY.search(text)
    return found[2] if found else None


def _compared(
    wanted: Wanted, expected: LiveFunction | None, live: LiveFunction | None
) -> Comparison:
    if live is None:
        signature = expected.definition.signature if expected else wanted.name
        return Comparison("missing", signature, wanted, expected=expected)
    signature = live.definition.signature
    if expected is not None:
        differences = _differences(live.definition, expected.definition)
    else:
        differences = () if live.definition.body == _body(wanted.text) else ("body",)
    if not differences:
        return Comparison("present", signature, wanted, live, expected, needs_stamp=True)
    state: State = "unmanaged" if live.stamp is None else "edited"
    if live.is_as_written:
        state = "outdated"
    needs_drop = expected is not None and _needs_drop(live.definition, expected.definition)
    return Comparison(state, signature, wanted, live, expected, differences, needs_drop)


def _differences(live: Definition, wanted: Definition) -> tuple[str, ...]:
    """The facets in which two definitions of one signature differ."""
    facets = (
        ("parameters", "identity"),
        ("result", "result"),
        ("language", "language"),
        ("volatility", "volatility"),
        ("parallel", "parallel"),
        ("strict", "is_strict"),
        ("security", "is_security_definer"),
        ("leakproof", "is_leakproof"),
        ("settings", "settings"),
        ("cost", "cost"),
        ("rows", "rows"),
        ("body", "body"),
    )
    found = [name for name, field in facets if getattr(live, field) != getattr(wanted, field)]
    if "parameters" not in found and live.arguments != wanted.arguments:
        found.insert(0, "defaults")
    return tuple(found)


def _needs_drop(live: Definition, wanted: Definition) -> bool:
    """Whether CREATE OR REPLACE is refused: another result or parameter name, or a default less."""
    return (
        live.result != wanted.result
        or live.identity != wanted.identity
        or live.default_count > wanted.default_count
    )


def install(
    database: Database, connection: Connection, automation: Mapping[str, Any]
) -> Comparisons:
    """Bring the managed functions up to date, inside the caller's transaction.

    What a person changed by hand is left as it stands. Writes down too which indexes stand as the
    migrations make them, and where pgvector is. Returns the state before.
    """
    from negmem.db.function_changes import apply
    from negmem.db.index_changes import record_standing

    values = variables(automation, database.schema, database.facts.vector_schema or "public")
    found = compare(database, connection, wanted_functions(values))
    due = [
        c
        for c in found.items
        if not c.is_by_hand and (c.state != "leftover" or found.is_renewed(c))
    ]
    apply(database, connection, due)
    record_standing(database, connection)
    return found
