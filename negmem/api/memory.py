"""The Python API: one object whose methods are the nouns and verbs of the command line."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from negmem.api.arguments import user_of
from negmem.api.automation import Automation
from negmem.api.curator import Curator
from negmem.api.memories import Memories
from negmem.core.session import Session, open_session

if TYPE_CHECKING:
    from negmem.core.models.change import (
        Difference,
        SyncReport,
    )
    from negmem.core.models.context import Context
    from negmem.core.models.diagnosis import Diagnosis
    from negmem.core.models.ingest import Ingested
    from negmem.core.models.retrieval import SearchAnswer
    from negmem.core.setup import Setup
    from negmem.providers.embedding import Embedder


def connect(
    dsn: str | None = None,
    *,
    app: str | None = None,
    schema: str | None = None,
    config: str | Path | None = None,
    embedder: Embedder | None = None,
    wait_s: float = 0.0,
) -> Memory:
    """A memory in a database. Connects at first use; `init()` sets the schema up.

    Args: dsn, where None looks as the command line does: NEGMEM_DSN, YAML, PG*, else the embedded
    cluster; config, the YAML file; embedder, used instead of the configured one; wait_s, seconds to
    wait for a server that is starting.
    Raises: NegmemError and UsageError, as the command line prints them.
    """
    session = open_session(
        dsn=dsn,
        config_path=None if config is None else str(config),
        schema=schema,
        app=app,
        wait_s=wait_s,
        command="negmem python",
    )
    if embedder is not None:
        session.use_embedder(embedder)
    return Memory(session)


class Memory:
    """negmem in one app of one database. Use it in one thread at a time; `close` it, or use `with`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._checked = False
        self.memory = Memories(self)
        self.curator = Curator(self)
        self.automation = Automation(self)

    @property
    def session(self) -> Session:
        """The session, its schema checked once."""
        if not self._checked:
            self._session.require_installed()
            self._checked = True
        return self._session

    @property
    def warnings(self) -> list[dict[str, str]]:
        """What was said beside the answers so far: each with `code` and `message`."""
        return self._session.warnings

    def init(self) -> Setup:
        """Set the schema up, as `negmem init` does; writes no YAML."""
        from negmem.core import setup

        done = setup.run(self._session, write_config=False)
        self._checked = True
        return done

    def doctor(self) -> Diagnosis:
        """Probe what the database can carry."""
        from negmem.core.diagnostics.runner import diagnose

        return diagnose(self._session)

    def diff(self, names: Sequence[str] = ()) -> Difference:
        """What differs between YAML, stored config and database; `drift` where anything that counts does.

        Args: names, of functions, config keys, indexes or jobs; none means all.
        """
        from negmem.core.automation.sync import diff

        return diff(self.session, names)

    def sync(
        self,
        *,
        overwrite_edited: bool = False,
        prune: bool = False,
        take: Literal["yaml", "stored"] | None = None,
        dry_run: bool = False,
    ) -> SyncReport:
        """Make the database agree with what is declared, all of it or nothing.

        Args: overwrite_edited, also functions changed by hand, whose text is kept; prune, also delete
        what is negmem's and no longer wanted; take, who wins where YAML and stored config both
        changed. `skipped` says what was left, and why.
        """
        from negmem.core.automation.sync import Consent, sync

        consent = Consent(overwrite_edited, prune, take)
        return sync(self.session, consent, dry_run=dry_run)

    def ingest(
        self,
        source: str | Path | Iterable[dict[str, Any]],
        *,
        user: str | None = None,
        thread: str | None = None,
        format: str = "auto",
        me: str | None = None,
        dry_run: bool = False,
    ) -> Ingested:
        """Read conversations: a file, or records as a line of JSON Lines holds them.

        Args: user and thread, for sessions that name none; format, as `--format`; me, the speaker who
        is the user. The same input twice adds nothing.
        """
        from negmem.core.formation.ingest import Ingest, IngestOptions

        stdin = None
        path = str(source) if isinstance(source, (str, Path)) else "-"
        if not isinstance(source, (str, Path)):
            # Escaped, a lone surrogate is cleaned like any other, where as bytes it would be no UTF-8.
            lines = [json.dumps(record, default=str) for record in source]
            stdin = io.BytesIO("\n".join(lines).encode("ascii"))
            format = "jsonl" if format == "auto" else format
        options = IngestOptions(
            path=path,
            format=format,
            user=None if user is None else user_of(user),
            thread=thread or None,
            me=me,
            dry_run=dry_run,
        )
        return Ingest(self.session, options, stdin=stdin).run()

    def search(
        self,
        query: str,
        *,
        user: str,
        level: str = "auto",
        limit: int | None = None,
        offset: int = 0,
        kinds: Sequence[str] = ("memory", "fact"),
        types: Sequence[str] | None = None,
        thread: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        where: dict[str, Any] | None = None,
        semantic_weight: float | None = None,
        keyword_weight: float | None = None,
        explain: bool = False,
        record: bool = True,
    ) -> SearchAnswer:
        """What of a user's memories and facts answers a question, best first.

        `since` and `until` bound when it was said; `where` is metadata that must be there. A fall to a
        lower level stands in `fallbacks` with its reason.
        """
        from negmem.core.retrieval.search import Filters, search

        return search(
            self.session,
            user_of(user),
            query,
            level=level,
            limit=limit,
            offset=offset,
            kinds=kinds,
            filters=Filters(types=types, thread=thread, since=since, until=until, where=where),
            semantic_weight=semantic_weight,
            keyword_weight=keyword_weight,
            explain=explain,
            record=record,
        )

    def context(
        self,
        query: str,
        *,
        user: str,
        max_tokens: int | None = None,
        thread: str | None = None,
        blocks: Sequence[str] = ("core", "profile", "memories", "facts", "history"),
        level: str = "auto",
        record: bool = True,
    ) -> Context:
        """What an agent should read before it answers, within a budget of tokens.

        `text` is ready to be read; `left_out` says what had no room. `thread` names the conversation
        whose last turns are shown, by default the one that changed last.
        """
        from negmem.core.retrieval.context import assemble

        return assemble(
            self.session,
            user_of(user),
            query,
            max_tokens=max_tokens,
            thread=thread,
            blocks=blocks,
            level=level,
            record=record,
        )

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
