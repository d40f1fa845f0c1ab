"""What a tool is: its name, the store it belongs to, the arguments that a model may give, and the act."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from negmem.core.learning.protocol import Bound
from negmem.core.session import Session

LONGEST = 100_000
"""Characters of one argument; longer texts are refused before anything is tried."""


class Arguments(BaseModel):
    """What a model gives for a call: what is not declared is refused, not ignored.

    So whose and where (user, app, namespace) can't be an argument of any tool.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def _given(value: Any) -> Any:
    """None for the blanks that models fill optional arguments with."""
    return None if isinstance(value, str) and not value.strip() else value


Text = Annotated[str, Field(min_length=1, max_length=LONGEST)]
Word = Annotated[str, Field(min_length=1, max_length=300)]
OptionalText = Annotated[Annotated[str, Field(max_length=LONGEST)] | None, BeforeValidator(_given)]
OptionalWord = Annotated[Annotated[str, Field(max_length=300)] | None, BeforeValidator(_given)]


class Refusal(Exception):
    """A tool refuses: `code` is stable, `message` and `advice` are for the model."""

    def __init__(self, code: str, message: str, advice: str = "", **more: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.advice = advice
        self.more = more


@dataclass(frozen=True)
class Definition:
    """A tool. `arguments` is the model of what it takes, which may depend on the configuration.

    `act` gets the user and namespace that the caller bound, and the checked arguments; it returns what the
    model reads, JSON values under names. Lists in it are shortened where the answer is too long. It raises
    Refusal or NegmemError.
    """

    name: str
    store: str
    description: str
    writes: bool
    arguments: Callable[[Session], type[Arguments]]
    act: Callable[[Bound, Any], Mapping[str, Any]]


A = TypeVar("A", bound=Arguments)


def tool(
    store: str, arguments: type[A], *, writes: bool = False
) -> Callable[[Callable[[Bound, A], Mapping[str, Any]]], Definition]:
    """A definition of the function that acts: its name and docstring are the tool's."""

    def define(act: Callable[[Bound, A], Mapping[str, Any]]) -> Definition:
        said = " ".join((act.__doc__ or "").split())
        return Definition(act.__name__, store, said, writes, lambda session: arguments, act)

    return define
