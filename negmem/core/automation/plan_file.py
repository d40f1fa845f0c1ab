"""A plan in a file: reviewed by a person, carried out later, refused when the database moved on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from negmem import __version__
from negmem.core.automation.part import Consent
from negmem.core.automation.plan import Plan
from negmem.core.models.base import Model
from negmem.core.models.change import Change
from negmem.core.session import Session
from negmem.errors import NegmemError, UsageError


class PlanFile(Model):
    """What `sync --plan-out` writes. `fingerprint` stands for everything that was looked at."""

    format: Literal["negmem.plan/1"]
    negmem_version: str
    installation: str
    schema_name: str
    app: str
    overwrite_edited: bool
    prune: bool
    take: Literal["yaml", "stored"] | None
    adopt: bool = False
    fingerprint: str
    changes: list[Change]

    @property
    def consent(self) -> Consent:
        """What was allowed when the plan was made."""
        return Consent(self.overwrite_edited, self.prune, self.take, self.adopt)


def planned(session: Session, plan: Plan, consent: Consent, changes: list[Change]) -> PlanFile:
    """The plan as a file holds it."""
    return PlanFile(
        format="negmem.plan/1",
        negmem_version=__version__,
        installation=_installation(session),
        schema_name=session.database.schema,
        app=session.app,
        overwrite_edited=consent.overwrite_edited,
        prune=consent.prune,
        take=consent.take,
        adopt=consent.adopt,
        fingerprint=plan.fingerprint,
        changes=changes,
    )


def write_plan(path: Path, plan: PlanFile) -> None:
    """Write it, readable, characters as they are. Raises: UsageError `plan_not_written`."""
    text = json.dumps(plan.model_dump(mode="json"), ensure_ascii=False, indent=2)
    try:
        path.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(
            "plan_not_written",
            "the plan can't be written there; nothing was changed",
            why=f"{error.strerror}: {path}",
            hint="negmem sync --plan-out plan.json",
        ) from error


def read_plan(path: Path) -> PlanFile:
    """A plan from its file. Raises: UsageError `plan_unreadable`."""
    try:
        return PlanFile.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        why = f"{error.strerror}: {path}"
    except UnicodeDecodeError:
        why = f"{path} is not UTF-8"
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the document"
        why = f"{path}: {where}: {first['msg']}"
    raise UsageError(
        "plan_unreadable",
        "this is no plan that sync wrote",
        why=why,
        hint=f"negmem sync --plan-out {path}",
    )


def check_plan(session: Session, plan: Plan, made: PlanFile) -> None:
    """Refuse a plan that was made for another place, or before something moved.

    Raises: NegmemError `plan_elsewhere`, `plan_stale`.
    """
    here = (_installation(session), session.database.schema, session.app)
    there = (made.installation, made.schema_name, made.app)
    if here != there:
        raise NegmemError(
            "plan_elsewhere",
            "the plan was made for another database, schema or app",
            why=f'it names schema "{made.schema_name}", app "{made.app}", installation'
            f" {made.installation}; this is installation {here[0]}",
            hint="negmem sync --plan-out FILE    makes one for this database",
        )
    if made.fingerprint != plan.fingerprint:
        known = {(c.kind, c.name, c.reason, c.before) for c in made.changes}
        new = [c.name for c in plan.changes if (c.kind, c.name, c.reason, c.before) not in known]
        what = (
            f"differs now: {', '.join(new[:5])}" if new else "what was seen then is not there now"
        )
        raise NegmemError(
            "plan_stale",
            "the database moved on since the plan was made; nothing was done",
            why=f"{what} (plan of negmem {made.negmem_version})",
            hint="negmem sync --plan-out FILE    and look at it again",
        )


def _installation(session: Session) -> str:
    row = session.database.row("drift", "installation")
    return str(row["id"]) if row else ""
