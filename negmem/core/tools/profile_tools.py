"""Tools of the profile: read it, change its fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, create_model

from negmem.core.learning import profile
from negmem.core.learning.protocol import Bound
from negmem.core.session import Session
from negmem.core.tools.definition import Arguments, Definition, Refusal, tool
from negmem.core.tools.written import outcome, owner

_SAID = {
    "text": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "date": str,
    "list": list[str],
}
_FORGET = "forget"


class ShowProfile(Arguments):
    """Arguments of show_profile: none."""


@tool("profile", ShowProfile)
def show_profile(bound: Bound, given: ShowProfile) -> Mapping[str, Any]:
    """Who the user is: the stable fields of the profile, and the fields that nothing is known of."""
    found = profile.show(bound.session, owner(bound))
    return {
        "fields": [
            {"field": one.field, "value": one.value, "confidence": round(one.confidence, 2)}
            for one in found.fields
        ],
        "unknown": found.missing,
    }


def _arguments(session: Session) -> type[Arguments]:
    """A field of the profile's schema is an argument of its type; none is required."""
    schema = profile.schema_of(session)
    # By alias, since a field may be called as something that every model has.
    fields: dict[str, Any] = {
        f"field_{name}": (
            _SAID[kind] | None,
            Field(None, alias=name, description=f"{name.replace('_', ' ')}, {_words(kind)}"),
        )
        for name, kind in schema.items()
        if name != _FORGET
    }
    said = "Names of fields to forget, because they are wrong or no longer so."
    fields["field_forget"] = (list[str], Field([], alias=_FORGET, description=said))
    return create_model("UpdateProfile", __base__=Arguments, **fields)


def _words(kind: str) -> str:
    return "as YYYY-MM-DD" if kind == "date" else kind


def _is_blank(value: Any) -> bool:
    """Whether a model filled an optional argument with nothing."""
    return value is None or value == [] or (isinstance(value, str) and not value.strip())


def _update(bound: Bound, given: Arguments) -> Mapping[str, Any]:
    values = given.model_dump(by_alias=True)
    forget = values.pop(_FORGET)
    wanted = {name: value for name, value in values.items() if not _is_blank(value)}
    if not wanted and not forget:
        raise Refusal("nothing_given", "no field was given", "give at least one field, or forget")
    if both := sorted(set(wanted) & set(forget)):
        raise Refusal("contradiction", f"{both[0]} is both given and to be forgotten", "choose one")
    user = owner(bound)
    # What can't be is found out before anything is written: a call is done whole or not at all.
    schema = profile.schema_of(bound.session)
    for name, value in wanted.items():
        profile.checked_value(name, schema[name], value)
    known = {one.field for one in profile.show(bound.session, user).fields}
    absent = [name for name in forget if name not in known]
    if absent:
        raise Refusal(
            "profile_field_unset", f"nothing is known of {absent[0][:60]!r}", "see show_profile"
        )
    changes = []
    for name, value in wanted.items():
        done = profile.set_field(bound.session, user, name, value)
        changes.append({"field": name, "value": value, **outcome(done)})
    for name in dict.fromkeys(forget):
        done = profile.unset_field(bound.session, user, name)
        changes.append({"field": name, **outcome(done)})
    return {"changes": changes}


update_profile = Definition(
    "update_profile",
    "profile",
    "Set fields of the user's profile that the user stated outright, or forget some. Never guess; leave"
    " out what is already there.",
    True,
    _arguments,
    _update,
)
TOOLS = (show_profile, update_profile)
