"""`mem.pii`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from negmem.api.arguments import Noun, user_or_none

if TYPE_CHECKING:
    from negmem.core.models.pii import PiiFix, PiiScan


class Pii(Noun):
    """`mem.pii`: personal data, where it stands and what becomes of it."""

    def scan(
        self,
        *,
        user: str | None = None,
        kinds: Sequence[str] | None = None,
        tables: Sequence[str] | None = None,
        max_rows: int = 100_000,
        after: str | None = None,
    ) -> PiiScan:
        """Personal data by kind and place; ids, never a text. `after` goes on from a scan's `next`."""
        from negmem.core.governance.scan import scan

        return scan(
            self._owner.session,
            user_or_none(user),
            kinds=kinds,
            tables=tables,
            max_rows=max_rows,
            after=after,
        )

    def fix(
        self,
        policy: Literal["mark", "mask", "anonymize"],
        *,
        user: str | None = None,
        kinds: Sequence[str] | None = None,
        tables: Sequence[str] | None = None,
        max_rows: int = 100_000,
        after: str | None = None,
        dry_run: bool = False,
    ) -> PiiFix:
        """Mark, mask or anonymize what stands; what is masked or anonymized is gone."""
        from negmem.core.governance.fix import fix

        return fix(
            self._owner.session,
            user_or_none(user),
            policy=policy,
            kinds=kinds,
            tables=tables,
            max_rows=max_rows,
            after=after,
            dry_run=dry_run,
        )
