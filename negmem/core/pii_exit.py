"""An answer on its way out: what of it a role that may not see personal data gets to see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

from negmem.core.models.base import Model
from negmem.core.text.pii import each_text, rewritten

if TYPE_CHECKING:
    from negmem.core.pii import Guard

UNSCANNED = "pii_unscanned"
"""In metadata: why the detector could not read the text; only what bears it is withheld whole."""
WITHHELD = "<WITHHELD>"
# Fields that name and are asked for by name, no content: a name that is hidden could not be used.
_NAMES = frozenset(("user", "app", "thread", "thread_id", "users"))
# Fields of one item that say something, beside its metadata and its lists.
_SAYING = frozenset((
    "content", "text", "key", "title", "learning", "context", "name", "description", "topic",
    "deleted_reason", "decision", "reasoning", "outcome", "rationale",
))  # fmt: skip
_OBJECTS = frozenset(
    ("metadata", "details", "value", "previous", "properties", "arguments", "proposed")
)
_LISTS = frozenset(
    (
        *("tags", "aliases", "alternatives", "facts", "events", "relationships"),
        *("evidence", "duplicates"),
    )
)
_LEFT_OUT = object()


class DetectionFailedError(Exception):
    """A detector could not read a text; `code` is stable."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Passing:
    """One answer on its way out: what was hidden in it and what is withheld of it."""

    def __init__(
        self,
        guard: Guard,
        withheld: Counter[str] | None = None,
        unscanned: frozenset[UUID] = frozenset(),
        wrote: bool = False,
    ) -> None:
        self._guard = guard
        self._wrote = wrote
        self._unscanned = unscanned
        self.hidden = 0
        self.withheld: Counter[str] = Counter() if withheld is None else withheld

    def model(self, model: Model) -> Model:
        """It as it may be seen. Raises: DetectionFailedError where it must be withheld whole."""
        for name in ("metadata", "details"):
            described = getattr(model, name, None)
            if isinstance(described, Mapping) and UNSCANNED in described:
                raise DetectionFailedError(UNSCANNED)
        if getattr(model, "id", None) in self._unscanned:
            raise DetectionFailedError(UNSCANNED)
        changes = {}
        for name in type(model).model_fields:
            value = getattr(model, name)
            if name in _NAMES or value is None:
                continue
            # A count is none; a number that somebody stored may be a telephone's.
            is_stored = type(model).model_fields[name].annotation is Any
            if isinstance(value, int) and not is_stored:
                continue
            if isinstance(value, Model):
                seen: Any = self._part(model, name, value)
            else:
                seen = self.value(value)
            if seen is not value:
                changes[name] = seen
        return model.model_copy(update=changes) if changes else model

    def _part(self, model: Model, name: str, value: Model) -> Model | None:
        """A part of an answer; where it may be absent, it is when it must be withheld.

        Of what was written the id stays.
        """
        if self._wrote:
            try:
                return self.model(value)
            except DetectionFailedError:
                return self.blank(value)
        may_be_absent = not type(model).model_fields[name].is_required() or "None" in str(
            type(model).model_fields[name].annotation
        )
        if not may_be_absent:
            return self.model(value)
        try:
            return self.model(value)
        except DetectionFailedError as error:
            self.withheld[error.code] += 1
            return None

    def value(self, value: Any) -> Any:
        """A value as it may be seen; of a list the items that must be withheld are left out."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, (list, tuple)):
            seen = [item for item in map(self._item, value) if item is not _LEFT_OUT]
            changed = len(seen) != len(value) or any(
                new is not old for new, old in zip(seen, value, strict=True)
            )
            return type(value)(seen) if changed else value
        if isinstance(value, Mapping) and any(isinstance(one, Model) for one in value.values()):
            return {key: self._item(one) for key, one in value.items()}
        if isinstance(value, (Mapping, int)) and not isinstance(value, bool):
            return each_text(value, self.text)
        return value

    def _item(self, item: Any) -> Any:
        try:
            if isinstance(item, Mapping) and _id_in(item) in self._unscanned:
                raise DetectionFailedError(UNSCANNED)
            return self.model(item) if isinstance(item, Model) else self.value(item)
        except DetectionFailedError as error:
            self.withheld[error.code] += 1
            return _LEFT_OUT

    def text(self, text: str) -> str:
        """A text as it may be seen. Raises: DetectionFailedError where it can't be read."""
        found, failure = self._guard.find(text)
        if failure is not None:
            raise DetectionFailedError(failure)
        new, _ = rewritten(text, found, self._guard.policy_at_exit)
        if new != text:
            self.hidden += sum(self._guard.policy_at_exit(one.kind) != "none" for one in found)
        return new

    def blank(self, model: Model) -> Model:
        """What was written, without what it says."""
        self.withheld[UNSCANNED] += 1
        changes: dict[str, Any] = {}
        for name in type(model).model_fields:
            value = getattr(model, name)
            if isinstance(value, Model):
                changes[name] = self.blank(value)
            elif name in _SAYING:
                changes[name] = None if value is None else WITHHELD
            elif name in _OBJECTS:
                changes[name] = {}
            elif name in _LISTS and isinstance(value, list):  # elsewhere a count
                changes[name] = []
        return model.model_copy(update=changes)


def without_metadata(value: Any) -> Iterator[UUID]:
    """Ids of the items of an answer that don't say themselves whether they were scanned."""
    if isinstance(value, Model):
        found = getattr(value, "id", None)
        says_so = {"metadata", "details"} & type(value).model_fields.keys()
        if isinstance(found, UUID) and not says_so:
            yield found
        for name in type(value).model_fields:
            yield from without_metadata(getattr(value, name))
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from without_metadata(one)
    elif isinstance(value, Mapping):
        found = _id_in(value)
        if found is not None:
            yield found
        for one in value.values():
            yield from without_metadata(one)


def _id_in(value: Mapping[Any, Any]) -> UUID | None:
    try:
        return UUID(str(value["id"])) if "id" in value else None
    except ValueError:
        return None
