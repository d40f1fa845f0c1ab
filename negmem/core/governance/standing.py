"""A person's pause, objection and legal hold: each set once, and on the trail."""

from __future__ import annotations

from typing import Literal

from negmem.core.models.standing import Standing
from negmem.core.session import Session
from negmem.core.text.refusals import being_erased

Act = Literal["pause", "object", "resume", "hold", "release"]
_PAUSED: dict[Act, bool] = {"pause": True, "object": True, "resume": False}
_HELD: dict[Act, bool] = {"hold": True, "release": False}


def stand(
    session: Session,
    user: str,
    act: Act,
    *,
    reason: str | None = None,
    actor: str | None = None,
    dry_run: bool = False,
) -> Standing:
    """Pause, resume, hold or release one person; the same again changes nothing and is not recorded.

    While paused nothing is remembered of the person: ingest leaves the person out, memories and facts are
    refused. `object` is a pause at the person's own wish, named so on the trail. While held nothing of the
    person is deleted.
    Raises: NegmemError `user_being_erased`.
    """
    scope = {"user_id": user, "app_name": session.app}
    database = session.database
    if dry_run:
        return _standing(session, user, changed=False, dry_run=True)
    with database.transaction():
        database.rows("user", "lock", scope)
        params = {
            **scope,
            "is_paused": _PAUSED.get(act),
            "is_held": _HELD.get(act),
            "reason": reason,
        }
        row = database.row("user", "stand", params)
        if row is not None and row["erasing_since"] is not None:
            raise being_erased(user)
        if row is not None:
            recorded = {
                **scope,
                "decision": act,
                "note": reason,
                "actor": actor or session.actor,
                "actor_verified": bool(actor or session.config.governance.actor),
            }
            database.rows("user", "record", recorded)
    return _standing(session, user, changed=row is not None)


def show(session: Session, user: str) -> Standing:
    """What stands for one person; warns `user_unknown`."""
    return _standing(session, user, changed=False)


def _standing(session: Session, user: str, *, changed: bool, dry_run: bool = False) -> Standing:
    row = session.database.row("user", "standing", {"user_id": user, "app_name": session.app})
    if row is None:
        session.warn("user_unknown", f'app "{session.app}" knows no user "{user}"')
        row = dict.fromkeys(("paused_at", "held_at", "hold_reason", "erasing_since"))
    return Standing(user=user, changed=changed, dry_run=dry_run, **row)
