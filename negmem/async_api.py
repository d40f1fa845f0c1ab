"""The Python API for asyncio: the same nouns and verbs, awaited.

Each call runs in a worker thread with a connection of its own, so that several may be under way at once.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from negmem import api

if TYPE_CHECKING:
    from typing import Concatenate

    from typing_extensions import ParamSpec

    from negmem.providers.embedding import Embedder

    P = ParamSpec("P")
R = TypeVar("R")


def connect_async(
    dsn: str | None = None,
    *,
    app: str | None = None,
    schema: str | None = None,
    config: str | Path | None = None,
    embedder: Embedder | None = None,
    wait_s: float = 0.0,
    connections: int = 4,
) -> AsyncMemory:
    """As `connect`, for asyncio; `connections` bounds how many calls run at once."""

    def make() -> api.Memory:
        return api.connect(
            dsn, app=app, schema=schema, config=config, embedder=embedder, wait_s=wait_s
        )

    return AsyncMemory(make, connections)


def _awaited(
    method: Callable[Concatenate[api.Memory, P], R],
) -> Callable[Concatenate[AsyncMemory, P], Coroutine[Any, Any, R]]:
    async def call(self: AsyncMemory, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self.run(lambda memory: method(memory, *args, **kwargs))

    call.__doc__, call.__name__ = method.__doc__, method.__name__
    return call


def _awaited_of(
    method: Callable[Concatenate[Any, P], R],
) -> Callable[Concatenate[_Noun, P], Coroutine[Any, Any, R]]:
    async def call(self: _Noun, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._owner.run(
            lambda memory: method(getattr(memory, self._noun), *args, **kwargs)
        )

    call.__doc__, call.__name__ = method.__doc__, method.__name__
    return call


class AsyncMemory:
    """negmem in one app of one database, for asyncio. `await close()`, or use `async with`."""

    def __init__(self, make: Callable[[], api.Memory], connections: int) -> None:
        self._make = make
        self._local = threading.local()
        self._opened: list[api.Memory] = []
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(connections, thread_name_prefix="negmem")
        self.memory = AsyncMemories(self, "memory")
        self.fact = AsyncFacts(self, "fact")
        self.conflict = AsyncConflicts(self, "conflict")
        self.core = AsyncCore(self, "core")
        self.summary = AsyncSummaries(self, "summary")
        self.retention = AsyncRetention(self, "retention")
        self.curator = AsyncCurator(self, "curator")
        self.bench = AsyncBenchmarks(self, "bench")
        self.pii = AsyncPii(self, "pii")
        self.audit = AsyncAudit(self, "audit")
        self.user = AsyncUsers(self, "user")
        self.embed = AsyncEmbeddings(self, "embed")
        self.instruction = AsyncInstructions(self, "instruction")
        self.profile = AsyncProfiles(self, "profile")
        self.entity = AsyncEntities(self, "entity")
        self.learn = AsyncLearnings(self, "learn")
        self.decision = AsyncDecisions(self, "decision")
        self.namespace = AsyncNamespaces(self, "namespace")
        self.proposals = AsyncProposals(self, "proposals")
        self.tools = AsyncTools(self, "tools")
        self.automation = AsyncAutomation(self, "automation")
        self.consolidation = AsyncConsolidation(self, "consolidation")

    async def run(self, act: Callable[[api.Memory], R]) -> R:
        """What `act` returns, called in a worker thread with its own memory."""

        def work() -> R:
            mine: api.Memory | None = getattr(self._local, "memory", None)
            if mine is None:
                mine = self._local.memory = self._make()
                with self._lock:
                    self._opened.append(mine)
            return act(mine)

        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    init = _awaited(api.Memory.init)
    doctor = _awaited(api.Memory.doctor)
    diff = _awaited(api.Memory.diff)
    sync = _awaited(api.Memory.sync)
    ingest = _awaited(api.Memory.ingest)
    consolidate = _awaited(api.Memory.consolidate)
    search = _awaited(api.Memory.search)
    context = _awaited(api.Memory.context)
    process = _awaited(api.Memory.process)
    build_context = _awaited(api.Memory.build_context)
    import_ = _awaited(api.Memory.import_)
    recall = _awaited(api.Memory.recall)
    feedback = _awaited(api.Memory.feedback)
    metrics = _awaited(api.Memory.metrics)
    report = _awaited(api.Memory.report)
    top = _awaited(api.Memory.top)

    async def close(self) -> None:
        """Close all connections; calls under way end first."""
        await asyncio.get_running_loop().run_in_executor(None, self._threads.shutdown)
        for memory in self._opened:
            memory.close()

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class _Noun:
    def __init__(self, owner: AsyncMemory, noun: str) -> None:
        self._owner = owner
        self._noun = noun


class AsyncMemories(_Noun):
    """`mem.memory`: single memories."""

    add = _awaited_of(api.Memories.add)
    list = _awaited_of(api.Memories.list)
    show = _awaited_of(api.Memories.show)
    edit = _awaited_of(api.Memories.edit)
    undo = _awaited_of(api.Memories.undo)
    rm = _awaited_of(api.Memories.rm)
    restore = _awaited_of(api.Memories.restore)
    pin = _awaited_of(api.Memories.pin)
    unpin = _awaited_of(api.Memories.unpin)
    history = _awaited_of(api.Memories.history)
    link = _awaited_of(api.Memories.link)
    unlink = _awaited_of(api.Memories.unlink)
    links = _awaited_of(api.Memories.links)
    topics = _awaited_of(api.Memories.topics)


class AsyncFacts(_Noun):
    """`mem.fact`: what is known by key, in versions."""

    set = _awaited_of(api.Facts.set)
    list = _awaited_of(api.Facts.list)
    show = _awaited_of(api.Facts.show)
    history = _awaited_of(api.Facts.history)
    search = _awaited_of(api.Facts.search)
    rm = _awaited_of(api.Facts.rm)
    restore = _awaited_of(api.Facts.restore)


class AsyncConflicts(_Noun):
    """`mem.conflict`: facts that stand against each other."""

    list = _awaited_of(api.Conflicts.list)
    show = _awaited_of(api.Conflicts.show)
    resolve = _awaited_of(api.Conflicts.resolve)
    undo = _awaited_of(api.Conflicts.undo)


class AsyncCore(_Noun):
    """`mem.core`: short texts that stand in every context."""

    show = _awaited_of(api.Core.show)
    set = _awaited_of(api.Core.set)
    rm = _awaited_of(api.Core.rm)


class AsyncSummaries(_Noun):
    """`mem.summary`: what is known of a user or was said in a thread, in short."""

    show = _awaited_of(api.Summaries.show)
    refresh = _awaited_of(api.Summaries.refresh)


class AsyncProfiles(_Noun):
    """`mem.profile`: who a user is, field by field."""

    show = _awaited_of(api.Profiles.show)
    set = _awaited_of(api.Profiles.set)
    unset = _awaited_of(api.Profiles.unset)
    undo = _awaited_of(api.Profiles.undo)


class AsyncEntities(_Noun):
    """`mem.entity`: people, firms and things, with facts, events and relations."""

    add = _awaited_of(api.Entities.add)
    fact = _awaited_of(api.Entities.fact)
    event = _awaited_of(api.Entities.event)
    relate = _awaited_of(api.Entities.relate)
    replace = _awaited_of(api.Entities.replace)
    rm = _awaited_of(api.Entities.rm)
    undo = _awaited_of(api.Entities.undo)
    list = _awaited_of(api.Entities.list)
    show = _awaited_of(api.Entities.show)
    search = _awaited_of(api.Entities.search)


class AsyncLearnings(_Noun):
    """`mem.learn`: lessons, searched before they are saved."""

    save = _awaited_of(api.Learnings.save)
    search = _awaited_of(api.Learnings.search)
    list = _awaited_of(api.Learnings.list)
    show = _awaited_of(api.Learnings.show)
    edit = _awaited_of(api.Learnings.edit)
    rm = _awaited_of(api.Learnings.rm)
    versions = _awaited_of(api.Learnings.versions)
    undo = _awaited_of(api.Learnings.undo)


class AsyncDecisions(_Noun):
    """`mem.decision`: what agents chose for a user and why, and what came of it."""

    add = _awaited_of(api.Decisions.add)
    list = _awaited_of(api.Decisions.list)
    show = _awaited_of(api.Decisions.show)
    outcome = _awaited_of(api.Decisions.outcome)
    rm = _awaited_of(api.Decisions.rm)
    undo = _awaited_of(api.Decisions.undo)


class AsyncNamespaces(_Noun):
    """`mem.namespace`: who shares learned knowledge and entities."""

    create = _awaited_of(api.Namespaces.create)
    list = _awaited_of(api.Namespaces.list)
    grant = _awaited_of(api.Namespaces.grant)
    revoke = _awaited_of(api.Namespaces.revoke)


class AsyncProposals(_Noun):
    """`mem.proposals`: writes that wait for a person."""

    list = _awaited_of(api.Proposals.list)
    show = _awaited_of(api.Proposals.show)
    approve = _awaited_of(api.Proposals.approve)
    reject = _awaited_of(api.Proposals.reject)
    edit = _awaited_of(api.Proposals.edit)
    approve_all = _awaited_of(api.Proposals.approve_all)
    reject_all = _awaited_of(api.Proposals.reject_all)
    export = _awaited_of(api.Proposals.export)


class AsyncInstructions(_Noun):
    """`mem.instruction`: how an app's agents should behave, version by version."""

    set = _awaited_of(api.Instructions.set)
    list = _awaited_of(api.Instructions.list)
    show = _awaited_of(api.Instructions.show)


class AsyncAudit(_Noun):
    """`mem.audit`: what is held about a person."""

    retain = _awaited_of(api.Audit.retain)
    delete = _awaited_of(api.Audit.delete)
    anonymize = _awaited_of(api.Audit.anonymize)
    apply = _awaited_of(api.Audit.apply)
    history = _awaited_of(api.Audit.history)
    head = _awaited_of(api.Audit.head)
    verify = _awaited_of(api.Audit.verify)
    erase = _awaited_of(api.Audit.erase)
    erasures = _awaited_of(api.Audit.erasures)
    replay = _awaited_of(api.Audit.replay)
    export = _awaited_of(api.Audit.export)
    disclose = _awaited_of(api.Audit.disclose)


class AsyncUsers(_Noun):
    """`mem.user`: what stands for a person: a pause, an objection, a legal hold."""

    show = _awaited_of(api.Users.show)
    picture = _awaited_of(api.Users.picture)
    pause = _awaited_of(api.Users.pause)
    resume = _awaited_of(api.Users.resume)
    hold = _awaited_of(api.Users.hold)
    release = _awaited_of(api.Users.release)


class AsyncTools(_Noun):
    """`mem.tools`: the tools of agents."""

    list = _awaited_of(api.Tools.list)
    schema = _awaited_of(api.Tools.schema)
    call = _awaited_of(api.Tools.call)


class AsyncPii(_Noun):
    """`mem.pii`: personal data, where it stands and what becomes of it."""

    scan = _awaited_of(api.Pii.scan)
    fix = _awaited_of(api.Pii.fix)


class AsyncRetention(_Noun):
    """`mem.retention`: what is forgotten, when and why."""

    run = _awaited_of(api.Retention.run)
    preview = _awaited_of(api.Retention.preview)
    curve = _awaited_of(api.Retention.curve)
    explain = _awaited_of(api.Retention.explain)
    purge = _awaited_of(api.Retention.purge)


class AsyncCurator(_Noun):
    """`mem.curator`: what is kept of a user's memories."""

    prune = _awaited_of(api.Curator.prune)
    dedup = _awaited_of(api.Curator.dedup)
    undo_dedup = _awaited_of(api.Curator.undo_dedup)
    undo_prune = _awaited_of(api.Curator.undo_prune)


class AsyncBenchmarks(_Noun):
    """`mem.bench`: measurements, each on a scratch schema that is removed afterwards."""

    retrieval = _awaited_of(api.Benchmarks.retrieval)
    load = _awaited_of(api.Benchmarks.load)
    judge = _awaited_of(api.Benchmarks.judge)
    history = _awaited_of(api.Benchmarks.history)


class AsyncEmbeddings(_Noun):
    """`mem.embed`: the embedding model and its online change."""

    status = _awaited_of(api.Embeddings.status)
    migrate = _awaited_of(api.Embeddings.migrate)


class AsyncAutomation(_Noun):
    """`mem.automation`: config, functions and the predefined jobs."""

    show = _awaited_of(api.Automation.show)
    enable = _awaited_of(api.Automation.enable)
    disable = _awaited_of(api.Automation.disable)
    reconcile = _awaited_of(api.Automation.reconcile)
    run = _awaited_of(api.Automation.run)
    logs = _awaited_of(api.Automation.logs)
    purge = _awaited_of(api.Automation.purge)
    history = _awaited_of(api.Automation.history)


class AsyncConsolidation(_Noun):
    """`mem.consolidation`: the queue that `mem.consolidate` works on."""

    list = _awaited_of(api.Consolidation.list)
