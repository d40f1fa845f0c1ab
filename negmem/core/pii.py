"""Personal data at the door and at every exit: the one place where the policies of `governance.pii` act.

Writers pass their texts through `Guard.screen` or `Guard.screen_value`. Whatever returns stored text is
`@gated`: roles that may not see it raw get what the policy leaves. Both fail closed. A text that the
detector could not read is stored with the mark `pii_unscanned` in its metadata, and what is so marked, or
can't be read at the exit, is withheld and counted.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast
from uuid import UUID

from negmem.core.models.base import Model
from negmem.core.models.grants import PURPOSES
from negmem.core.pii_exit import (
    UNSCANNED,
    WITHHELD,
    DetectionFailedError,
    Passing,
    without_metadata,
)
from negmem.core.session import Session
from negmem.core.text.pii import Finding, Policy, counts_of, each_text, find, rewritten
from negmem.db.memories import Mark
from negmem.errors import NegmemError

FLAGS = "pii_flags"
"""In metadata: how many places of each kind were found when the text was written."""
RESERVED = frozenset((FLAGS, UNSCANNED))

Answer = TypeVar("Answer", bound=Model)
Function = TypeVar("Function", bound=Callable[..., Any])
Item = TypeVar("Item")


@dataclass(frozen=True)
class Screened:
    """A text as it is to be stored, its metadata with the flags, and the places to record in it.

    `beside` are the other values of the same row.
    """

    text: str
    metadata: dict[str, Any]
    marks: tuple[Mark, ...] = ()
    beside: tuple[Any, ...] = ()


class Guard:
    """The policies of one session: what is written, and what may be seen."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._policy = session.config.governance.pii
        self.is_active = self._policy.is_active
        self._detector: Callable[[str], list[Finding]] | None = None
        self._sees_raw: bool | None = None
        self._unscanned = 0

    def screen(
        self, text: str, metadata: Mapping[str, Any] | None = None, beside: tuple[Any, ...] = ()
    ) -> Screened:
        """What of a row may be stored: its text, its metadata, other JSON values beside them.

        Without a policy all come back as they are.
        """
        described = dict(metadata or {})
        if not self.is_active:
            return Screened(text, described, beside=beside)
        described = {key: value for key, value in described.items() if key not in RESERVED}
        work = _Screening(self)
        text, marks = work.text(text)
        described = cast("dict[str, Any]", work.value(described))
        places = tuple(Mark(one.kind, one.start, one.end, one.score, one.engine) for one in marks)
        others = tuple(work.value(one) for one in beside)
        return Screened(text, {**described, **self._flags(work)}, places, others)

    def logged(self, question: str) -> str:
        """A question as it may be kept in the log: as the policy leaves it, nothing where it can't be read."""
        if not self.is_active:
            return question
        found, failure = self.find(question)
        return WITHHELD if failure else rewritten(question, found, self.policy_of)[0]

    def screen_again(
        self,
        text: str,
        metadata: Mapping[str, Any],
        old_text: str,
        old_metadata: Mapping[str, Any],
    ) -> Screened:
        """As `screen`, for a row that stands: its flags follow the new text, and nobody sets them by hand.

        Without a policy the flags stay with the text that they were found in.
        """
        if self.is_active:
            return self.screen(text, metadata)
        kept = {key: old_metadata[key] for key in RESERVED & old_metadata.keys()}
        if text != old_text:
            kept.pop(FLAGS, None)
        others = {key: value for key, value in metadata.items() if key not in RESERVED}
        return Screened(text, {**others, **kept})

    def screen_value(self, value: Any) -> tuple[Any, dict[str, Any]]:
        """What of a JSON value may be stored, and the flags for the metadata of its row."""
        if not self.is_active:
            return value, {}
        work = _Screening(self)
        return work.value(value), self._flags(work)

    def _flags(self, work: _Screening) -> dict[str, Any]:
        flags: dict[str, Any] = {FLAGS: dict(sorted(work.counts.items()))} if work.counts else {}
        if work.failure is not None:
            flags[UNSCANNED] = work.failure
            self._unscanned += 1
            self._session.warnings[:] = [
                one for one in self._session.warnings if one["code"] != UNSCANNED
            ]
            self._session.warn(
                UNSCANNED,
                f"{self._unscanned} texts were stored unscanned and are withheld from"
                f" {self._blind}: {work.failure}",
            )
        return flags

    @property
    def _blind(self) -> str:
        blind = [role for role in PURPOSES if role not in self._policy.raw_for]
        return " and ".join(blind) or "nobody"

    def policy_of(self, kind: str) -> Policy:
        """What becomes of a kind when it is written."""
        return self._policy.policy_of(kind)

    def policy_at_exit(self, kind: str) -> Policy:
        """What a role without the right to raw text sees of a kind."""
        return "none" if self._policy.policy_of(kind) == "none" else self._policy.shown

    def find(self, text: str) -> tuple[list[Finding], str | None]:
        """What is personal in a text that a policy concerns, and the code of what failed, if anything.

        The patterns always count, also where the model behind the engine fails.
        """
        found, failure = [], None
        try:
            found = find(text)
            if self._policy.engine != "regex":
                found = [*found, *self._model(text)]
        except DetectionFailedError as error:
            failure = f"{self.engine}: {error.code}"
        except Exception as error:  # whatever a detector meets, the text is not known to be clean
            failure = f"{self.engine}: detector_failed, {type(error).__name__}"
        least = self._policy.score_threshold
        return [one for one in found if one.score >= least], failure

    @property
    def engine(self) -> str:
        """What finds personal data here: regex or presidio."""
        return self._policy.engine

    def may_clear(self, mark: object) -> bool:
        """Whether this engine's reading settles what another could not read: presidio's needs presidio."""
        return self.engine == "presidio" or not str(mark).startswith("presidio")

    def _model(self, text: str) -> list[Finding]:
        if self._detector is None:
            from negmem.providers.presidio import PresidioAbsent, make_detector

            made = make_detector(self._policy.languages)
            if isinstance(made, PresidioAbsent):
                self._session.warn("pii_engine_absent", made.message)
                raise DetectionFailedError("pii_engine_absent")
            self._detector = made
        return self._detector(text)

    @property
    def sees_raw(self) -> bool:
        """Whether the database role may see what is stored as it is (asked once a session)."""
        if self._sees_raw is None:
            roles = {purpose: key for key, purpose in PURPOSES.items()}
            database = self._session.database
            row = database.row("pii", "role", {"schema": database.schema}) or {}
            mine = {roles[purpose] for purpose in row.get("purposes", ()) if purpose in roles}
            if row.get("owns"):
                mine.add("owner")
            # A login with grants of its own, in none of the roles, sees what the app sees.
            mine = mine or {"app"}
            self._sees_raw = bool(mine & set(self._policy.raw_for))
        return self._sees_raw

    def gate(self, answer: Answer, user: str | None = None, *, wrote: bool = False) -> Answer:
        """The answer as this role may see it: the one gate that every exit goes through.

        Items that don't carry their metadata are asked for by `user`, whose they are.

        Personal data is replaced, items that are unscanned or can't be read are left out and counted in
        a warning. An answer that is one such item itself is refused, or blanked where it tells of a write.
        Raises: NegmemError `pii_withheld`.
        """
        if not self.is_active or self.sees_raw:
            return answer
        passing = Passing(self, unscanned=self._unscanned_of(user, answer), wrote=wrote)
        try:
            seen = cast("Answer", passing.model(answer))
        except DetectionFailedError as error:
            if not wrote:
                raise NegmemError(
                    "pii_withheld",
                    "this is withheld from the database role",
                    why=f"it was not scanned for personal data: {error.code}",
                    hint="negmem pii fix --policy mark    as the owner",
                ) from None
            seen = cast("Answer", passing.blank(answer))
        self._tell(passing)
        return seen

    def passes(self, text: str) -> str:
        """One text as this role may see it. Raises: DetectionFailedError."""
        if not self.is_active or self.sees_raw:
            return text
        return Passing(self).text(text)

    def withheld(self, user: str, ids: Sequence[UUID]) -> set[UUID]:
        """Which of a user's rows of any kind are unscanned, for answers that don't carry metadata."""
        if not self.is_active or not ids or self.sees_raw:
            return set()
        params = {"user_id": user, "app_name": self._session.app, "ids": list(ids)}
        return {row["id"] for row in self._session.database.rows("pii", "unscanned", params)}

    def leave_out(
        self, user: str, items: Sequence[Item], id_of: Callable[[Item], UUID]
    ) -> list[Item]:
        """The items that may be put into a text for this role; the others are counted in a warning."""
        found = self.withheld(user, [id_of(item) for item in items])
        if found:
            self._tell(Passing(self, Counter({UNSCANNED: len(found)})))
        return [item for item in items if id_of(item) not in found]

    def _unscanned_of(self, user: str | None, answer: Model) -> frozenset[UUID]:
        bare = [] if user is None else list(without_metadata(answer))
        return frozenset(self.withheld(user, bare)) if user is not None else frozenset()

    def _tell(self, passing: Passing) -> None:
        if passing.hidden:
            self._session.warn(
                "pii_hidden",
                f"{passing.hidden} places of personal data are hidden from the database role"
                f" {self._session.database.facts.role}",
            )
        if passing.withheld:
            total = sum(passing.withheld.values())
            why = ", ".join(f"{count} {code}" for code, count in sorted(passing.withheld.items()))
            self._session.warn("pii_withheld", f"{total} items are withheld: {why}")


class _Screening:
    """One row on its way in: the kinds found in it, and what failed."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self.counts: Counter[str] = Counter()
        self.failure: str | None = None

    def text(self, text: str) -> tuple[str, list[Finding]]:
        found, failure = self._guard.find(text)
        self.failure = self.failure or failure
        found = [one for one in found if self._guard.policy_of(one.kind) != "none"]
        self.counts.update(counts_of(found))
        return rewritten(text, found, self._guard.policy_of)

    def value(self, value: Any) -> Any:
        return each_text(value, lambda text: self.text(text)[0])


def gated(function: Function) -> Function:
    """A core function whose first argument is the session and whose answer goes through the gate."""
    return _decorated(function, wrote=False)


def gated_write(function: Function) -> Function:
    """As `gated`, for a function that wrote: what it may not show is blanked, never an error."""
    return _decorated(function, wrote=True)


def _decorated(function: Function, *, wrote: bool) -> Function:
    @functools.wraps(function)
    def through_the_gate(session: Session, *arguments: Any, **named: Any) -> Any:
        answer = function(session, *arguments, **named)
        if not isinstance(answer, Model):
            return answer
        whose = arguments[0] if arguments else named.get("user")
        user = whose if isinstance(whose, str) else getattr(whose, "user", None)
        return guard_of(session).gate(answer, user, wrote=wrote)

    through_the_gate.is_gated = True  # type: ignore[attr-defined]
    return cast("Function", through_the_gate)


def guard_of(session: Session) -> Guard:
    """The guard of a session, made once."""
    found = session.pii_guard
    if not isinstance(found, Guard):
        found = session.pii_guard = Guard(session)
    return found
