"""What sections of the YAML are made of: the base, a key with its meaning, the types that names have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from negmem.core.models.schedule import parse_cron, parse_interval

HUNDRED_YEARS_DAYS = 36_500


class Section(BaseModel):
    """A group of keys: unknown keys are errors, values have their type, nothing changes later."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        populate_by_name=True,
    )


def _parsed(parse: Callable[[str], object]) -> AfterValidator:
    def check(text: str) -> str:
        parse(text)
        return text.strip()

    return AfterValidator(check)


def _positive_interval(text: str) -> None:
    if not 0 < parse_interval(text).total_seconds <= HUNDRED_YEARS_DAYS * 86_400:
        raise ValueError(f"an interval must be over zero and at most 100 years, got {text!r}")


def identifier(text: str) -> str:
    """A name of a PostgreSQL object as it may be configured. Raises: ValueError."""
    if len(text.encode()) > 63:
        raise ValueError(f"PostgreSQL names have at most 63 bytes, got {len(text.encode())}")
    if any(ord(character) < 32 for character in text) or text != text.strip():
        raise ValueError("a name has no control characters and no blanks around it")
    if text.startswith("pg_") or text == "information_schema":
        raise ValueError(f"{text!r} is reserved by PostgreSQL")
    return text


def scope_name(text: str) -> str:
    """A name that scopes rows. Raises: ValueError."""
    if any(ord(character) < 32 for character in text) or text != text.strip():
        raise ValueError("a name has no control characters and no blanks around it")
    return text


def key(default: object, description: str, **constraints: Any) -> Any:
    """A key: its default, what it means (with the unit, if its name has none), its range."""
    return Field(default, description=description, **constraints)


Cron = Annotated[str, _parsed(parse_cron), Field(json_schema_extra={"format": "cron"})]
PgInterval = Annotated[
    str, _parsed(_positive_interval), Field(json_schema_extra={"format": "postgresql-interval"})
]
VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Code = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
