"""`mem.audit`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from negmem.api.arguments import Noun, id_of, ids_of, user_of

if TYPE_CHECKING:
    from negmem.core.models.audit import AuditHistory, Decided, Decision, TrailHead, TrailVerified
    from negmem.core.models.disclosure import Disclosed
    from negmem.core.models.erasure import Erased, ErasureList, Replayed
    from negmem.core.models.export import Exported


class Audit(Noun):
    """`mem.audit`: what is held about a person, what was decided about it, and the trail of it."""

    def retain(
        self,
        ids: UUID | str | Iterable[UUID | str],
        *,
        user: str,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
        note: str | None = None,
        actor: str | None = None,
        dry_run: bool = False,
    ) -> Decided:
        """Put on the trail that memories are kept. Arguments as for `delete`."""
        decisions = _decisions("retain", ids_of(ids), expected_version, note)
        return self.apply(
            decisions, user=user, idempotency_key=idempotency_key, actor=actor, dry_run=dry_run
        )

    def delete(
        self,
        ids: UUID | str | Iterable[UUID | str],
        *,
        user: str,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
        note: str | None = None,
        actor: str | None = None,
        dry_run: bool = False,
    ) -> Decided:
        """Delete memories for good, with exactly what came from them.

        Args: expected_version, the last number of the memory on the trail; idempotency_key, under which
        the same set does nothing again and another is refused; dry_run, only say the rows by table.
        """
        decisions = _decisions("delete", ids_of(ids), expected_version, note)
        return self.apply(
            decisions, user=user, idempotency_key=idempotency_key, actor=actor, dry_run=dry_run
        )

    def anonymize(
        self,
        ids: UUID | str | Iterable[UUID | str],
        *,
        user: str,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
        note: str | None = None,
        actor: str | None = None,
        dry_run: bool = False,
    ) -> Decided:
        """Keep rows without what they said. Arguments as for `delete`."""
        decisions = _decisions("anonymize", ids_of(ids), expected_version, note)
        return self.apply(
            decisions, user=user, idempotency_key=idempotency_key, actor=actor, dry_run=dry_run
        )

    def apply(
        self,
        decisions: str | Path | Sequence[Decision | dict[str, Any]],
        *,
        user: str,
        idempotency_key: str | None = None,
        actor: str | None = None,
        dry_run: bool = False,
    ) -> Decided:
        """Carry out decisions in one transaction, all or none: a file, or what a line of one holds."""
        from negmem.core.governance.decision_files import read_decisions
        from negmem.core.governance.decisions import decide
        from negmem.core.models.audit import Decision

        if isinstance(decisions, (str, Path)):
            wanted = read_decisions(str(decisions))
        else:
            wanted = [
                one if isinstance(one, Decision) else Decision.model_validate(one)
                for one in decisions
            ]
        return decide(
            self._owner.session,
            user_of(user),
            wanted,
            idempotency_key=idempotency_key,
            actor=actor,
            dry_run=dry_run,
        )

    def history(
        self,
        *,
        user: str | None = None,
        namespace: str | None = None,
        memory: UUID | str | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> AuditHistory:
        """A person's entries on the trail, or a shared namespace's; the newest first, `before` goes on at `next`."""
        from negmem.core.governance.decisions import history

        memory_id = None if memory is None else id_of(memory)
        return history(
            self._owner.session,
            None if user is None and namespace else user_of(user or ""),
            namespace=namespace,
            memory_id=memory_id,
            before=before,
            limit=limit,
        )

    def head(self) -> TrailHead:
        """The end of the app's trail; kept elsewhere, it proves all entries up to it."""
        from negmem.core.governance.trail import head

        return head(self._owner.session)

    def verify(self, heads: Sequence[str] = ()) -> TrailVerified:
        """Check every hash and link of the trail, and heads that were kept: lines, or files of them."""
        from negmem.core.governance.trail import verify

        return verify(self._owner.session, heads)

    def erase(self, *, user: str, actor: str | None = None, dry_run: bool = False) -> Erased:
        """Erase everything about one person and return the certificate; safe to repeat."""
        from negmem.core.governance.erasure import erase

        return erase(self._owner.session, user_of(user), actor=actor, dry_run=dry_run)

    def erasures(self, path: str | Path, *, with_key: bool = False) -> ErasureList:
        """Write the list of erased persons, as `audit head --erasures` does."""
        from negmem.core.governance.erasure_list import write_list

        return write_list(self._owner.session, Path(path), with_key=with_key)

    def replay(self, path: str | Path, *, dry_run: bool = False) -> Replayed:
        """After a restore: erase again who is on the list and here."""
        from negmem.core.governance.erasure_list import replay

        return replay(self._owner.session, Path(path), dry_run=dry_run)

    def export(self, path: str | Path, *, user: str) -> Exported:
        """Everything held about one person into a new file: JSON Lines, a manifest, hashes."""
        from negmem.core.governance.export import export_to_file

        return export_to_file(self._owner.session, user_of(user), Path(path))

    def disclose(self, path: str | Path, *, user: str) -> Disclosed:
        """A page for the person into a new file: what is held, what was read, what was decided."""
        from negmem.core.governance.disclosure import disclose

        return disclose(self._owner.session, user_of(user), Path(path))


def _decisions(
    decision: str, ids: Sequence[UUID], expected_version: int | None, note: str | None
) -> list[Decision]:
    from negmem.core.models.audit import Decision

    return [
        Decision.model_validate(
            {
                "memory_id": one,
                "decision": decision,
                "expected_version": expected_version,
                "note": note,
            }
        )
        for one in ids
    ]
