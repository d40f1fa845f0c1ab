"""The Python API: one object whose methods are the nouns and verbs of the command line."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from negmem.api.arguments import id_of, user_of
from negmem.api.audit import Audit
from negmem.api.automation import Automation
from negmem.api.benchmarks import Benchmarks
from negmem.api.consolidation import Consolidation
from negmem.api.core_blocks import Core
from negmem.api.curator import Curator
from negmem.api.decisions import Decisions
from negmem.api.embeddings import Embeddings
from negmem.api.entities import Entities
from negmem.api.facts import Conflicts, Facts
from negmem.api.instructions import Instructions
from negmem.api.learnings import Learnings
from negmem.api.memories import Memories
from negmem.api.namespaces import Namespaces
from negmem.api.pii import Pii
from negmem.api.profiles import Profiles
from negmem.api.proposals import Proposals
from negmem.api.retention import Retention
from negmem.api.summaries import Summaries
from negmem.api.tools import Tools
from negmem.api.users import Users
from negmem.core.models.context import SECTIONS
from negmem.core.session import Session, open_session

if TYPE_CHECKING:
    from negmem.core.models.change import (
        Difference,
        SyncReport,
    )
    from negmem.core.models.consolidation import Consolidated
    from negmem.core.models.context import Context
    from negmem.core.models.diagnosis import Diagnosis
    from negmem.core.models.export import Imported
    from negmem.core.models.feedback import Feedback
    from negmem.core.models.ingest import Ingested
    from negmem.core.models.machine import BuiltContext, ProcessedMessages
    from negmem.core.models.metrics import Metrics
    from negmem.core.models.recall import Recall
    from negmem.core.models.report import Report
    from negmem.core.models.retrieval import SearchAnswer
    from negmem.core.models.top import Top
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
        self.fact = Facts(self)
        self.conflict = Conflicts(self)
        self.core = Core(self)
        self.summary = Summaries(self)
        self.retention = Retention(self)
        self.curator = Curator(self)
        self.bench = Benchmarks(self)
        self.pii = Pii(self)
        self.audit = Audit(self)
        self.user = Users(self)
        self.embed = Embeddings(self)
        self.instruction = Instructions(self)
        self.profile = Profiles(self)
        self.entity = Entities(self)
        self.learn = Learnings(self)
        self.decision = Decisions(self)
        self.namespace = Namespaces(self)
        self.proposals = Proposals(self)
        self.tools = Tools(self)
        self.automation = Automation(self)
        self.consolidation = Consolidation(self)

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
        adopt: bool = False,
        dry_run: bool = False,
    ) -> SyncReport:
        """Make the database agree with what is declared, all of it or nothing.

        Args: overwrite_edited, also functions changed by hand, whose text is kept; prune, also delete
        what is negmem's and no longer wanted; take, who wins where YAML and stored config both
        changed; adopt, take over jobs of ours that negmem has no record of. `skipped` says what was
        left, and why.
        """
        from negmem.core.automation.sync import Consent, sync

        consent = Consent(overwrite_edited, prune, take, adopt)
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

    def consolidate(
        self,
        *,
        job: str | None = None,
        user: str | None = None,
        thread: str | None = None,
        workers: int | None = None,
        extractor: Literal["auto", "llm", "pattern"] | None = None,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        max_cost_usd: float | None = None,
        again: bool = False,
        retry: bool = False,
        dry_run: bool = False,
    ) -> Consolidated:
        """Turn conversations into facts, summaries and links: work the queue until nothing is due.

        Args: job, fast_replay, deep_reflection or full_consolidation: only these, queued first for
        what changed since the last one, with `again` for all; ceilings on what this run may take of
        the language model; retry, also jobs that are parked or wait for their next attempt.
        """
        from negmem.core.formation.consolidate import Options, consolidate

        options = Options(
            job=job,
            user=None if user is None else user_of(user),
            thread=thread,
            workers=workers,
            extractor=extractor,
            max_calls=max_calls,
            max_tokens=max_tokens,
            max_cost_usd=max_cost_usd,
            again=again,
            retry=retry,
            dry_run=dry_run,
        )
        return consolidate(self.session, options)

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
        as_of: datetime | None = None,
        where: dict[str, Any] | None = None,
        semantic_weight: float | None = None,
        keyword_weight: float | None = None,
        explain: bool = False,
        record: bool = True,
        why_not: UUID | str | None = None,
    ) -> SearchAnswer:
        """What of a user's memories and facts answers a question, best first.

        `since` and `until` bound when it was said; `as_of` asks for what had been said and was true then;
        `where` is metadata that must be there. A fall to a lower level stands in `fallbacks` with its
        reason. `why_not` names a memory or fact that was expected: the answer's `why_not` tells where it
        stands and what would bring it in, and nothing is recorded.
        """
        from negmem.core.memories import parse_id
        from negmem.core.retrieval.as_of import search_at
        from negmem.core.retrieval.search import Filters

        return search_at(
            self.session,
            user_of(user),
            query,
            as_of=as_of,
            level=level,
            limit=limit,
            offset=offset,
            kinds=kinds,
            filters=Filters(types=types, thread=thread, since=since, until=until, where=where),
            semantic_weight=semantic_weight,
            keyword_weight=keyword_weight,
            explain=explain,
            record=record,
            why_not=None if why_not is None else parse_id(str(why_not)),
        )

    def context(
        self,
        query: str,
        *,
        user: str,
        max_tokens: int | None = None,
        thread: str | None = None,
        blocks: Sequence[str] = SECTIONS,
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

    def process(
        self,
        messages: Sequence[Mapping[str, Any]],
        user_id: str,
        session_id: str | None = None,
        namespace: str | None = None,
        agent_id: str | None = None,
        team_id: str | None = None,
        *,
        wait: bool = False,
    ) -> ProcessedMessages:
        """Store messages, after the answer was given, and queue what learns from them.

        Args: messages, each with role and content, from the beginning of the session: what is stored
        already is not learned from twice; namespace, where entities and lessons go; wait, work the
        queued job now.
        """
        from negmem.core.learning.processing import process

        return process(
            self.session,
            user_of(user_id),
            messages,
            thread=session_id,
            namespace=namespace,
            agent=agent_id,
            team=team_id,
            wait=wait,
        )

    def build_context(
        self,
        message: str,
        user_id: str,
        session_id: str | None = None,
        entity_id: str | None = None,
        entity_type: str | None = None,
        namespace: str | None = None,
        agent_id: str | None = None,
        team_id: str | None = None,
        *,
        max_tokens: int | None = None,
        record: bool = True,
    ) -> BuiltContext:
        """What an agent should know before it answers a message: a block of each store that is on.

        `str()` of it is the text for the prompt. `entity_id` names an entity that is there in any case.
        """
        from negmem.core.learning.machine import build_context

        return build_context(
            self.session,
            user_of(user_id),
            message,
            thread=session_id,
            entity=entity_id,
            entity_type=entity_type,
            namespace=namespace,
            agent=agent_id,
            team=team_id,
            max_tokens=max_tokens,
            record=record,
        )

    def recall(
        self,
        *,
        user: str,
        max_tokens: int | None = None,
        refresh: bool = False,
        record: bool = True,
    ) -> Recall:
        """What a new session should know of a user, before it asks; `cache` says where it comes from."""
        from negmem.core.retrieval.recall import recall

        return recall(
            self.session, user_of(user), max_tokens=max_tokens, refresh=refresh, record=record
        )

    def feedback(
        self,
        retrieval_id: UUID | str,
        outcome: str,
        *,
        user: str | None = None,
        memories: Sequence[UUID | str] = (),
        used: Sequence[UUID | str] = (),
        rating: int | None = None,
        dry_run: bool = False,
    ) -> Feedback:
        """Say what a retrieval was good for: helpful, irrelevant or harmful, of the memories named.

        Args: used, the items that went into the answer; rating, 1 to 5, of the answer. `user` finds
        the retrieval faster. The same again counts nothing twice.
        """
        from negmem.core.retrieval.feedback import give, parse_retrieval_id

        return give(
            self.session,
            parse_retrieval_id(str(retrieval_id)),
            outcome,
            user=None if user is None else user_of(user),
            memories=[id_of(one) for one in memories],
            used=[id_of(one) for one in used],
            rating=rating,
            dry_run=dry_run,
        )

    def metrics(
        self, *, user: str | None = None, apply: bool = False, dry_run: bool = False
    ) -> Metrics:
        """What the memory is worth: rates, layers with targets, trends, advice.

        Args: apply, set what the advice proposes in the stored config.
        """
        from negmem.core.automation.stored import setter
        from negmem.core.retrieval.metrics import measure

        owner = None if user is None else user_of(user)
        set_key = setter(self.session, "metrics --apply", dry_run=dry_run) if apply else None
        return measure(self.session, user=owner, set_key=set_key, dry_run=dry_run)

    def top(self) -> Top:
        """What goes on now: queue, running jobs, last runs, searches, rows, drift, locks, connections."""
        from negmem.core.top import Watch

        return Watch(self.session).look()

    def report(
        self, *, days: int = 90, personal: bool = False, out: str | Path | None = None
    ) -> Report:
        """The state of this app's memory, section by section; with `out` also as an HTML page in a file.

        Args: days, 7..366, how far back the daily figures go; personal, also name the largest users
        and topics, as far as the database role may see them.
        """
        from negmem.core.report.making import make_report
        from negmem.core.report.page import page_file, render_page

        if out is None:
            return make_report(self.session, days=days, personal=personal)
        path = Path(out).absolute()
        with page_file(path, personal=personal) as put:
            found = make_report(self.session, days=days, personal=personal)
            put(render_page(found))
        return found.model_copy(update={"page": str(path)})

    def import_(self, path: str | Path, *, erased: bool = False, dry_run: bool = False) -> Imported:
        """Bring an export of one person back with the same ids; what stands stays.

        `erased`: also somebody who was erased here, which else raises `person_erased`.
        """
        from negmem.core.governance.bring_back import bring_back

        return bring_back(
            self.session, Path(path), dry_run=dry_run, consent=lambda user, at: erased
        )

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
