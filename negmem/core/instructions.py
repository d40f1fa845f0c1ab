"""Instructions: how an app's agents should behave. A change is a new version; none is overwritten."""

from __future__ import annotations

import shlex
from typing import Any

from psycopg.types.json import Jsonb

from negmem.core.models.instruction import Instruction, InstructionChange, Instructions
from negmem.core.session import Session
from negmem.core.text.names import check_name
from negmem.core.text.storable import storable_metadata, storable_text
from negmem.errors import NegmemError

_SET = "negmem instruction set KEY TEXT"


def list_instructions(session: Session) -> Instructions:
    """The current version of each instruction of the app, by key."""
    return Instructions(instructions=_fetch(session))


def show(
    session: Session, key: str, *, version: int | None = None, history: bool = False
) -> Instructions:
    """One instruction: its current version, a named one, or all, oldest first.

    Raises: UsageError `name_invalid`; NegmemError `instruction_unknown`.
    """
    check_name(key, "instruction")
    found = _fetch(session, key, version, history)
    if not found:
        which = "" if version is None else f" of version {version}"
        raise NegmemError(
            "instruction_unknown",
            "there is no such instruction",
            why=f'app "{session.app}" has no instruction {key[:60]!r}{which}',
            hint="negmem instruction list",
        )
    return Instructions(instructions=found)


def set_instruction(
    session: Session,
    key: str,
    content: str,
    *,
    metadata: dict[str, Any] | None = None,
    expected_version: int | None = None,
    dry_run: bool = False,
) -> InstructionChange:
    """Write a new version of an instruction. The same text and metadata again make none.

    Without `metadata` that of the current version goes on. `expected_version` 0: it must be new.
    Raises: UsageError `name_invalid`, `text_refused`; NegmemError `version_conflict`.
    """
    check_name(key, "instruction")
    text = storable_text(content, _SET)
    marks = None if metadata is None else storable_metadata(metadata, _SET)
    while True:  # again where somebody else wrote the version first: theirs stays, ours comes after
        found = _fetch(session, key)
        now = found[0] if found else None
        stands = 0 if now is None else now.version
        if expected_version is not None and expected_version != stands:
            raise NegmemError(
                "version_conflict",
                "somebody changed this instruction meanwhile",
                why=f"version {expected_version} was expected, it is {stands or 'not there'}",
                hint=f"negmem instruction show {shlex.quote(key)}"
                if stands
                else "negmem instruction list",
            )
        wanted = ((None if now is None else now.metadata) or {}) if marks is None else marks
        same = now is not None and (now.content, now.metadata or {}) == (text, wanted)
        if same or dry_run:
            return InstructionChange(instruction=now, changed=not same, dry_run=dry_run)
        params = {
            "app_name": session.app,
            "key": key,
            "content": text,
            "version": stands + 1,
            "metadata": Jsonb(wanted),
            "created_by": session.actor,
        }
        with session.database.transaction():
            added = session.database.row("instructions", "add", params)
        if added is not None:
            made = _fetch(session, key, stands + 1)
            return InstructionChange(instruction=made[0], changed=True)


def _fetch(
    session: Session, key: str | None = None, version: int | None = None, history: bool = False
) -> list[Instruction]:
    params = {"app_name": session.app, "key": key, "version": version, "history": history}
    return [Instruction(**row) for row in session.database.rows("instructions", "list", params)]
