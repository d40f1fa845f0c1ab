"""Every exit holds back what a role may not see; one that is added without being listed fails here."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any
from uuid import UUID, uuid4

import pytest

import negmem.core.models
from negmem.cli.tree import Command, whole_tree
from negmem.core import (
    associations,
    conflicts,
    core_blocks,
    fact_search,
    facts,
    memories,
    memory_history,
    pii,
    summaries,
    topics,
)
from negmem.core.evolution import dedup, prune, retention, retention_curve
from negmem.core.evolution.dedup_options import DedupOptions
from negmem.core.evolution.stores import store_of
from negmem.core.learning import (
    decision_log,
    entities,
    entity_changes,
    entity_rows,
    introductions,
    learnings,
    machine,
    observations,
    picture,
    profile,
    proposal_edits,
    proposals,
)
from negmem.core.learning.access import Owner
from negmem.core.learning.protocol import Bound
from negmem.core.models.base import Model
from negmem.core.models.dedup import Deduplicated
from negmem.core.models.summary import Summary
from negmem.core.pii_exit import Passing
from negmem.core.report.making import make_report
from negmem.core.retrieval import context, recall
from negmem.core.retrieval.as_of import search_at
from negmem.core.retrieval.search import search
from negmem.core.session import Session, open_session
from negmem.core.tools import calling
from negmem.errors import NegmemError
from negmem.providers.embedding import EmbedderAbsent
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.roles import as_role, login_role

SECRETS = ("zhang.wei@mail.example", "13812345678", "4111 1111 1111 1111")
MAIL, PHONE, CARD = SECRETS
KEYS = ("owner", "app", "reader", "auditor")
MARK = {"governance.pii.policy": "mark", "learning.decision_log.enabled": "true"}

# Core functions whose answer is no text of a user: what they tell instead.
NO_TEXT = {
    "automation": "config, functions, jobs, roles",
    "bench": "figures over public data sets",
    "adoption": "tables and counts",
    "cluster": "the server",
    "diagnostics": "health",
    "installation": "tables and counts",
    "setup": "health",
    "embedding_change": "models and counts",
    "scheduler": "jobs",
    "associations.link": "ids and weights",
    "associations.unlink": "ids and weights",
    "evolution.prune.undo": "counts",
    "facts.remove": "ids",
    "fact_writing.write_facts": "ids",
    "facts.restore": "ids",
    "formation.consolidate": "counts and job states",
    "evolution.dedup.undo": "counts",
    "evolution.retention.run": "counts",
    "evolution.retention_purge": "counts",
    "formation.ingest.ingest": "counts; rejects go back to whoever sent them",
    "instructions": "written by the operator, of no user",
    "learning.entity_rows": "parts of a store's functions, which are gated",
    "learning.machine.told": "why a store failed",
    "learning.processing": "counts and job states",
    "learning.proposals.approve": "ids, and the words of who decided",
    "learning.proposals.reject": "ids, and the words of who decided",
    "learning.proposal_batches": "ids, and what list_proposals gives, which is gated",
    "learning.proposals.located": "part of what show and edit answer, which are gated",
    "learning.namespaces": "names of users and teams",
    "learning.origins": "parts of what a store shows, which is gated",
    "learning.introductions.standing": "part of a store's functions, which are gated",
    "learning.items.versions_of": "part of the versions of a store, which are gated",
    "governance.bring_back": "counts",
    "governance.decisions": "ids and counts; notes are the deciders', for owner and auditor",
    "governance.disclosure": "counts; refused to who may not see raw text",
    "governance.erasure": "counts and hashes",
    "governance.erasure_list": "counts and hashes",
    "governance.standing": "what stands for a person, no text of theirs",
    "governance.trail": "numbers and hashes",
    "governance.export": "counts and hashes; refused to who may not see raw text",
    "governance.fix": "counts",
    "governance.scan": "counts and ids",
    "memories.remove": "ids",
    "memories.restore": "ids",
    "memories.pin": "ids",
    "memories.unpin": "ids",
    "tools.listing": "names and arguments of tools",
    "summaries.refresh": "part of refresh_by_hand, which is gated",
    "summaries.refresh_changed": "part of refresh_by_hand, which is gated",
    "retrieval.advice": "config keys and figures",
    "retrieval.explain": "figures of one result, part of a gated answer",
    "retrieval.candidates.standing": "through the gate of the contexts that it is for",
    "retrieval.context.select": "through the gate of those that call it",
    "retrieval.feedback": "ids",
    "retrieval.metrics": "figures",
    "retrieval.obstacles": "a state, options and reasons",
    "retrieval.why_not": "ids, ranks and reasons",
    "retrieval.working": "numbers beside an answer that went through the gate",
}
# Commands that show text of a user, and those that show none; an export is refused to who may not see all of it.
READING = """
    tools call,
    report, memory list, memory history, memory show, memory edit, memory undo, memory add, memory links, memory topics, core show, core set, core rm,
    summary show, summary refresh, search, context, recall, curator prune, curator dedup, fact set,
    retention preview, retention curve, retention explain,
    proposals list, proposals show, proposals edit, proposals export, user picture,
    profile show, profile set, profile unset, profile undo,
    entity replace, entity rm, entity undo,
    entity add, entity fact, entity event, entity relate, entity list, entity show, entity search,
    decision add, decision list, decision show, decision outcome, decision rm, decision undo,
    learn save, learn search, learn list, learn show, learn edit, learn rm, learn versions, learn undo,
    fact list, fact show, fact history, fact search, conflict list, conflict show, conflict resolve
"""
NOT_READING = """
    tools list, tools schema, mcp serve,
    top, audit retain, audit delete, audit anonymize, audit apply, audit history, audit head, audit verify,
    audit erase, audit replay, user show, user pause, user resume, user hold, user release,
    retention run, retention purge, pii scan, pii fix, audit export, audit disclose, import, bench judge, bench load, bench history, fact rm, fact restore, embed status, embed migrate, init, doctor, demo, db start, db stop, db status, db url, db psql, db migrate, db upgrade, config show,
    config set, config export, config history, config validate, config schema, config path, sync, diff, automation show,
    proposals approve, proposals reject, proposals approve-all, proposals reject-all, automation enable, automation disable, automation reconcile, automation run, automation logs,
    automation purge, automation export, scheduler run, scheduler status, ingest, consolidate, memory rm,
    memory restore, memory pin, memory unpin, memory link, memory unlink, instruction set, instruction list,
    instruction show, namespace create, namespace list, namespace grant, namespace revoke, feedback, metrics, bench retrieval, completions show, completions install, uninstall
"""


@dataclass(frozen=True)
class World:
    """Rows of alice that hold personal data, raw, and how to reach them as each role."""

    database: TestDatabase
    cli: CliRunner
    dsn: dict[str, str]
    memory: UUID
    other: UUID
    fact: UUID
    conflict: UUID
    lesson: UUID

    @contextmanager
    def session(self, role: str, **overrides: str) -> Iterator[Session]:
        with open_session(dsn=self.dsn[role], env={}, overrides={**MARK, **overrides}) as session:
            session.use_embedder(EmbedderAbsent("embedder_none", "not needed"))
            yield session


@pytest.fixture
def world(negmem: CliRunner, database: TestDatabase) -> Iterator[World]:
    names = {key: f"{database.name}_{key}" for key in KEYS}
    env = {f"NEGMEM_GOVERNANCE__ROLES__{key.upper()}": name for key, name in names.items()}
    cli = CliRunner({**negmem.env, **env, "NEGMEM_EMBEDDING__PROVIDER": "none"}, negmem.cwd)
    cli("init", "--roles").ok()
    server = database.server
    with login_role(server, database.name) as app, login_role(server, database.name) as auditor:
        database.rows(f'GRANT "{names["app"]}" TO "{app}"')
        database.rows(f'GRANT "{names["auditor"]}" TO "{auditor}"')
        dsn = {
            "owner": database.dsn,
            "app": as_role(database.dsn, app),
            "auditor": as_role(database.dsn, auditor),
        }
        yield filled(World(database, cli, dsn, *[UUID(int=0)] * 5))
    for name in names.values():
        database.rows(f'REASSIGN OWNED BY "{name}" TO CURRENT_USER')
        database.rows(f'DROP OWNED BY "{name}"')
        database.rows(f'DROP ROLE "{name}"')


def filled(empty: World) -> World:
    with empty.session("owner") as session:
        ids = [
            memories.add(
                session,
                "alice",
                text,
                thread="t1",
                metadata={"speaker": "alice", "note": CARD},
            ).memory
            for text in (f"我的邮箱是{MAIL}，请联系", f"call me: {PHONE}")
        ]
        one, other = (found.id for found in ids if found is not None)
        associations.link(session, "alice", one, other)
        facts.set_fact(session, "alice", "profile", "邮箱", MAIL)
        facts.set_fact(session, "alice", "profile", "fax", int(PHONE))
        changed = facts.set_fact(session, "alice", "profile", "邮箱", {"work": MAIL, "tel": PHONE})
        assert changed.fact is not None and changed.conflict_id is not None
        core_blocks.set_block(session, "alice", f"联系 alice: {PHONE}", label="persona")
        learned = learnings.save(
            session, "alice", title=f"call {PHONE}", learning=f"邮箱 {MAIL}", namespace="user"
        ).learning
        assert learned is not None
        for id in ("zhang", "li"):
            entities.add(
                session, "alice", id, entity_type="person", name=f"邮箱 {MAIL}", namespace="user"
            )
        entities.add_fact(session, "alice", "zhang", f"call {PHONE}", namespace="user")
    lines = {
        "thread": "t1",
        "user": "alice",
        "datetime": "2026-03-02T09:00:00Z",
        "turns": [{"role": "user", "text": f"card {CARD}", "metadata": {"cc": CARD}}],
    }
    policy = {"NEGMEM_GOVERNANCE__PII__POLICY": "mark"}
    empty.cli("ingest", "-", stdin=json.dumps(lines), env=policy).ok()
    topic = empty.database.value(
        "INSERT INTO negentropy.memory_topics (user_id, app_name, label, model_id, centroid, member_count)"
        " VALUES ('alice', 'negmem', %s, 1, '[1]', 2) RETURNING id",
        (PHONE,),
    )
    for member in (one, other):
        empty.database.rows(
            "INSERT INTO negentropy.memory_topic_members"
            " (user_id, app_name, memory_id, topic_id, similarity) VALUES ('alice', 'negmem', %s, %s, 1)",
            (member, topic),
        )
    with empty.session("owner") as session:
        summaries.refresh_by_hand(session, "alice", extractor="pattern")
    return World(
        empty.database,
        empty.cli,
        empty.dsn,
        one,
        other,
        changed.fact.id,
        changed.conflict_id,
        learned.id,
    )


def learn(session: Session) -> Model:
    words = f"again {PHONE} {uuid4()}"
    return learnings.save(session, "alice", title=words, learning=words, anyway=True)


def unlearned(session: Session, world: World) -> Model:
    learnings.edit(session, "alice", world.lesson, context=f"at {PHONE} {uuid4()}")
    return learnings.undo(session, "alice", world.lesson)


def undone(session: Session, world: World) -> Model:
    conflicts.resolve(session, "alice", world.conflict, "keep_old")
    return conflicts.undo(session, "alice", world.conflict)


def said_twice(session: Session) -> Deduplicated:
    """A dry run over two memories that say the same."""
    for _ in range(2):
        memories.add(session, "alice", f"she can be reached by mail: {MAIL}")
    return dedup.deduplicate(session, store_of(session, "alice"), DedupOptions(), dry_run=True)


def part(session: Session) -> UUID:
    """A fact of zhang that holds a number."""
    text = f"call {PHONE} {uuid4()}"
    entities.add_fact(session, "alice", "zhang", text, namespace="user")
    owner = Owner("user", "alice")
    id = entity_rows.named(session, [owner], "zhang", None)["id"]
    return entity_rows.one_entity(session, [owner], id).facts[-1].id


def observed(session: Session) -> Any:
    return observations.observe(session, "alice", f"call {PHONE} {uuid4()}")


def decided(session: Session) -> Any:
    return decision_log.log_decision(session, "alice", f"call {PHONE}").decision


def taken_back(session: Session) -> Model:
    """A decision that was removed and is there again."""
    id = decided(session).id
    decision_log.remove(session, "alice", id)
    return decision_log.undo(session, "alice", id)


def proposed(world: World) -> UUID:
    """A proposal that holds a number."""
    made = world.database.value(
        """INSERT INTO negentropy.proposals (owner_kind, owner, app_name, user_id, store, op, payload, proposed_by)
        VALUES ('user', 'alice', 'negmem', 'alice', 'memory', 'add', %s::jsonb, 'bot') RETURNING id""",
        (json.dumps({"act": "memory.observe", "arguments": {"text": f"call {PHONE}"}}),),
    )
    return UUID(str(made))


CALLS: dict[str, Callable[[Session, World], Model]] = {
    "associations.links": lambda s, w: associations.links(s, "alice", w.memory),
    "conflicts.show": lambda s, w: conflicts.show(s, "alice", w.conflict),
    "conflicts.list_conflicts": lambda s, w: conflicts.list_conflicts(s, "alice"),
    "conflicts.resolve": lambda s, w: conflicts.resolve(
        s, "alice", w.conflict, "keep_new", dry_run=True
    ),
    "conflicts.undo": undone,
    "core_blocks.show": lambda s, w: core_blocks.show(s, "alice"),
    "core_blocks.set_block": lambda s, w: core_blocks.set_block(s, "alice", f"again {PHONE}"),
    "core_blocks.remove": lambda s, w: core_blocks.remove(
        s, "alice", label="persona", dry_run=True
    ),
    "evolution.retention.preview": lambda s, w: retention.preview(s, "alice", days=30_000),
    "evolution.retention_curve.curve": lambda s, w: retention_curve.curve(s, "alice", w.memory),
    "evolution.retention_curve.explain": lambda s, w: retention_curve.explain(s, "alice", w.memory),
    "evolution.prune.preview": lambda s, w: prune.preview(s, prune.plan(s, "alice", max_count=1)),
    "evolution.prune.apply": lambda s, w: prune.apply(s, prune.plan(s, "alice", max_count=1)),
    "evolution.dedup.deduplicate": lambda s, w: said_twice(s),
    "facts.set_fact": lambda s, w: facts.set_fact(s, "alice", "profile", "tel", PHONE),
    "facts.show": lambda s, w: facts.show(s, "alice", w.fact),
    "facts.list_facts": lambda s, w: facts.list_facts(s, "alice"),
    "facts.history": lambda s, w: facts.history(s, "alice", w.fact),
    "fact_search.search_facts": lambda s, w: fact_search.search_facts(s, "alice", "邮箱 mail"),
    "learning.entities.add": lambda s, w: entities.add(
        s,
        "alice",
        "zhang",
        entity_type="person",
        name=f"邮箱 {MAIL}",
        description=f"{PHONE} {uuid4()}",
        namespace="user",
        update=True,
    ),
    "learning.entities.add_fact": lambda s, w: entities.add_fact(
        s, "alice", "zhang", f"call {PHONE} {uuid4()}", namespace="user"
    ),
    "learning.entities.add_event": lambda s, w: entities.add_event(
        s, "alice", "zhang", f"call {PHONE} {uuid4()}", namespace="user"
    ),
    "learning.entities.relate": lambda s, w: entities.relate(
        s, "alice", "zhang", "knows", "li", namespace="user"
    ),
    "learning.entities.search_entities": lambda s, w: entities.search_entities(
        s, "alice", "邮箱 call", namespace="user"
    ),
    "learning.entities.list_entities": lambda s, w: entities.list_entities(
        s, "alice", namespace="user"
    ),
    "learning.entities.show": lambda s, w: entities.show(
        s, "alice", "zhang", namespace="user", history=True
    ),
    "learning.introductions.introduce": lambda s, w: introductions.introduce(
        s,
        "alice",
        "wang",
        entity_type="person",
        facts=[{"text": f"call {PHONE} {uuid4()}", "confidence": 1.0}],
        namespace="user",
    ),
    "learning.entity_changes.replace_fact": lambda s, w: entity_changes.replace_fact(
        s, "alice", "zhang", part(s), namespace="user", dry_run=True
    ),
    "learning.entity_changes.remove": lambda s, w: entity_changes.remove(
        s, "alice", "zhang", namespace="user", dry_run=True
    ),
    "learning.entity_changes.undo": lambda s, w: entity_changes.undo(
        s, "alice", "zhang", namespace="user", dry_run=True
    ),
    "learning.observations.observe": lambda s, w: observed(s),
    "learning.observations.correct": lambda s, w: observations.correct(
        s, "alice", observed(s).memory.id, f"other {PHONE} {uuid4()}"
    ),
    "learning.observations.forget": lambda s, w: observations.forget(
        s, "alice", observed(s).memory.id, dry_run=True
    ),
    "learning.observations.list_observations": lambda s, w: (
        observed(s),
        observations.list_observations(s, "alice"),
    )[1],
    "learning.proposals.list_proposals": lambda s, w: (
        proposed(w),
        proposals.list_proposals(s, "alice"),
    )[1],
    "learning.proposals.show": lambda s, w: proposals.show(s, None, proposed(w)),
    "learning.proposal_edits.edit": lambda s, w: proposal_edits.edit(
        s, proposed(w), {"text": f"again {PHONE}"}
    ),
    "learning.decision_log.log_decision": lambda s, w: decision_log.log_decision(
        s, "alice", f"call {PHONE}"
    ),
    "learning.decision_log.remove": lambda s, w: decision_log.remove(
        s, "alice", decided(s).id, dry_run=True
    ),
    "learning.decision_log.undo": lambda s, w: taken_back(s),
    "learning.decision_log.show": lambda s, w: decision_log.show(s, "alice", decided(s).id),
    "learning.decision_log.record_outcome": lambda s, w: decision_log.record_outcome(
        s, "alice", decided(s).id, f"called {PHONE}"
    ),
    "learning.decision_log.list_decisions": lambda s, w: (
        decided(s),
        decision_log.list_decisions(s, "alice"),
    )[1],
    "learning.decision_log.search_decisions": lambda s, w: (
        decided(s),
        decision_log.search_decisions(s, "alice"),
    )[1],
    "learning.machine.build_context": lambda s, w: machine.build_context(
        s, "alice", "邮箱 call card"
    ),
    "learning.picture.picture": lambda s, w: picture.picture(s, "alice"),
    "learning.profile.undo": lambda s, w: (
        profile.set_field(s, "alice", "job", f"call {PHONE} {uuid4()}"),
        profile.undo(s, "alice", "job", dry_run=True),
    )[1],
    "learning.profile.learn": lambda s, w: profile.learn(
        s, "alice", "tel3", f"call {PHONE}", dry_run=True
    ),
    "learning.profile.show": lambda s, w: profile.show(s, "alice"),
    "learning.profile.set_field": lambda s, w: profile.set_field(
        s, "alice", "job", f"call {PHONE} {uuid4()}"
    ),
    "learning.profile.unset_field": lambda s, w: profile.unset_field(
        s, "alice", "邮箱", dry_run=True
    ),
    "learning.learnings.save": lambda s, w: learn(s),
    "learning.learnings.search_learnings": lambda s, w: learnings.search_learnings(
        s, "alice", "邮箱 call", namespace="user"
    ),
    "learning.learnings.list_learnings": lambda s, w: learnings.list_learnings(
        s, "alice", namespace="user"
    ),
    "learning.learnings.show": lambda s, w: learnings.show(s, "alice", w.lesson),
    "learning.learnings.edit": lambda s, w: learnings.edit(
        s, "alice", w.lesson, context=f"at {PHONE} {uuid4()}"
    ),
    "learning.learnings.remove": lambda s, w: learnings.remove(s, "alice", w.lesson, dry_run=True),
    "learning.learnings.versions": lambda s, w: learnings.versions(s, "alice", w.lesson),
    "learning.learnings.undo": unlearned,
    "memory_history.history": lambda s, w: memory_history.history(s, "alice", w.memory),
    "memories.add": lambda s, w: memories.add(s, "alice", f"second call {PHONE}"),
    "memories.undo": lambda s, w: (
        memories.edit(s, "alice", w.other, metadata={"seen": str(uuid4())}),
        memories.undo(s, "alice", w.other),
    )[1],
    "memories.show": lambda s, w: memories.show(s, "alice", w.memory),
    "memories.list_memories": lambda s, w: memories.list_memories(s, "alice"),
    "memories.edit": lambda s, w: memories.edit(s, "alice", w.memory, metadata={"seen": "yes"}),
    "report.making.make_report": lambda s, w: make_report(s, personal=True),
    "retrieval.context.assemble": lambda s, w: context.assemble(s, "alice", "邮箱 call card"),
    "retrieval.recall.recall": lambda s, w: recall.recall(s, "alice"),
    "retrieval.search.search": lambda s, w: search(s, "alice", "邮箱 call card"),
    "retrieval.as_of.search_at": lambda s, w: search_at(
        s, "alice", "邮箱 call card", as_of=datetime.now(timezone.utc)
    ),
    "summaries.show": lambda s, w: summaries.show(s, "alice"),
    "summaries.refresh_by_hand": lambda s, w: summaries.refresh_by_hand(
        s, "alice", summary_type="user_profile", extractor="pattern", force=True
    ),
    "tools.calling.call": lambda s, w: calling.call(
        s, Bound(s, "alice"), "memory_search", {"query": "邮箱 call card"}
    ),
    "topics.list_topics": lambda s, w: topics.list_topics(s, "alice"),
}


def answers() -> frozenset[str]:
    """Names of all that an answer may be."""
    for module in pkgutil.iter_modules(negmem.core.models.__path__, "negmem.core.models."):
        importlib.import_module(module.name)
    found, waiting = set(), [Model]
    while waiting:
        one = waiting.pop()
        waiting += one.__subclasses__()
        found.add(one.__name__)
    return frozenset(found - {"Model"})


ANSWERS = answers()


def core_functions() -> Iterator[tuple[str, Any]]:
    """Functions of core that return an answer, by their name under negmem.core."""
    for module in pkgutil.walk_packages(negmem.core.__path__, "negmem.core."):
        name = module.name.removeprefix("negmem.core.")
        if name.split(".")[0] in ("models", "text", "formulas", "pii"):
            continue
        loaded = importlib.import_module(module.name)
        for attribute, found in vars(loaded).items():
            if attribute.startswith("_") or not inspect.isfunction(found):
                continue
            if found.__module__ != module.name:
                continue
            answer = str(found.__annotations__.get("return", ""))
            if next(iter(found.__annotations__), "") != "session":
                continue
            if ANSWERS & set(re.findall(r"\w+", answer)):
                yield f"{name}.{attribute}", found


def said(answer: Model) -> str:
    return json.dumps(answer.model_dump(mode="json"), ensure_ascii=False)


def test_every_answer_of_core_is_gated_or_said_to_hold_no_text() -> None:
    for name, function in core_functions():
        reasons = [key for key in NO_TEXT if name == key or name.startswith(f"{key}.")]
        is_gated = getattr(function, "is_gated", False)
        assert is_gated or reasons, f"{name}: @gated of core/pii.py, or a reason in NO_TEXT"
        if is_gated:
            assert name in CALLS, f"{name} is gated and not tried: CALLS"


def leaves(command: Command) -> Iterator[str]:
    if not command.commands:
        yield command.path.removeprefix("negmem ")
    for inner in command.commands:
        yield from leaves(inner)


def test_every_command_is_listed() -> None:
    known = {name.strip() for name in f"{READING},{NOT_READING}".split(",")}
    assert set(leaves(whole_tree())) <= known, "READING or NOT_READING"


@pytest.mark.servers("embedded")
def test_the_gate_holds_on_every_exit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = {name: call for name, call in CALLS.items() if name != "evolution.prune.apply"}
    for name, call in calls.items():
        with world.session("owner") as session:
            assert any(one in said(call(session, world)) for one in SECRETS), f"{name} shows none"
        with world.session("app") as session:
            seen = said(call(session, world))
            assert not any(one in seen for one in SECRETS), f"{name}: {seen}"
            assert "<PHONE>" in seen or "<EMAIL>" in seen or "<CREDIT_CARD>" in seen, name
            assert [w for w in session.warnings if w["code"] == "pii_hidden"], name
    with world.session("app", **{"governance.pii.shown": "mask"}) as session:
        assert "zh******************le" in said(memories.show(session, "alice", world.memory))
    with world.session("auditor") as session:
        assert MAIL in said(memories.show(session, "alice", world.memory))
    with world.session("app", **{"governance.pii.policy": "none"}) as session:
        assert MAIL in said(memories.show(session, "alice", world.memory)), "off is off"
    raw_for = {"governance.pii.raw_for": "owner,auditor,app"}
    with world.session("app", **raw_for) as session:
        assert MAIL in said(memories.show(session, "alice", world.memory)), "the YAML says so"

    # The detector fails: nothing that holds text passes, and the answer says so.
    find = pii.find

    def failing(text: str) -> Any:
        if any(one in text for one in SECRETS):
            raise RuntimeError("out of memory")
        return find(text)

    monkeypatch.setattr(pii, "find", failing)
    for name, call in calls.items():
        with world.session("app") as session:
            try:
                seen = said(call(session, world))
            except NegmemError as error:
                assert error.code == "pii_withheld", f"{name}: {error}"
            else:
                assert not any(one in seen for one in SECRETS), f"{name}: {seen}"
                codes = {w["code"] for w in session.warnings}
                assert "pii_withheld" in codes or "pii_unscanned" in codes, name

    monkeypatch.setattr(pii, "find", find)
    with world.session("app") as session:
        conflicts.resolve(session, "alice", world.conflict, "merge")
        assert "<EMAIL>" in said(facts.list_facts(session, "alice"))
        pruned = said(CALLS["evolution.prune.apply"](session, world))
        assert "<" in pruned and not any(one in pruned for one in SECRETS)
    with world.session("owner") as session:
        assert "<EMAIL>" not in said(facts.list_facts(session, "alice")), (
            "written back as it was seen"
        )


@pytest.mark.servers("embedded")
def test_commands_hold_it_too_in_text_and_json(world: World) -> None:
    with world.session("owner") as session:
        of_zhang = part(session)
        profile.set_field(session, "alice", "job", f"call {PHONE}")
        decision = str(decided(session).id)
        decision_log.record_outcome(session, "alice", UUID(decision), f"called {MAIL}")
    app = {"NEGMEM_DSN": world.dsn["app"], "NEGMEM_GOVERNANCE__PII__POLICY": "mark"}
    app["NEGMEM_LEARNING__DECISION_LOG__ENABLED"] = "true"
    private = ("--user", "alice", "--namespace", "user")
    lines = [
        ("memory", "list", "--user", "alice"),
        ("memory", "show", str(world.memory), "--user", "alice"),
        ("memory", "edit", str(world.memory), "--user", "alice", "--metadata", "a=b"),
        ("memory", "undo", str(world.memory), "--user", "alice", "--dry-run"),
        ("memory", "history", str(world.memory), "--user", "alice"),
        ("memory", "links", str(world.memory), "--user", "alice"),
        ("memory", "topics", "--user", "alice"),
        ("core", "show", "--user", "alice"),
        ("profile", "show", "--user", "alice"),
        ("user", "picture", "--user", "alice"),
        ("profile", "undo", "job", "--user", "alice", "--dry-run"),
        ("entity", "replace", "zhang", str(of_zhang), *private, "--dry-run"),
        ("entity", "rm", "zhang", *private, "--dry-run"),
        ("entity", "undo", "zhang", *private, "--dry-run"),
        ("proposals", "list", "--user", "alice"),
        ("proposals", "show", str(proposed(world))),
        ("proposals", "edit", str(proposed(world)), "--set", f"text=again {PHONE}", "--dry-run"),
        ("proposals", "export", "--output", "out.jsonl"),
        ("profile", "set", "job", f"call {PHONE}", "--user", "alice"),
        ("profile", "unset", "邮箱", "--user", "alice", "--dry-run"),
        ("entity", "add", "x", "--type", "x", "--name", PHONE, *private),
        ("entity", "fact", "zhang", f"again {PHONE}", *private),
        ("entity", "event", "zhang", f"again {PHONE}", *private),
        ("entity", "relate", "zhang", "knows", "li", *private),
        ("entity", "list", *private),
        ("entity", "show", "zhang", "--history", *private),
        ("entity", "search", "邮箱 call", *private),
        (
            "learn",
            "save",
            "--title",
            f"x {PHONE}",
            "--learning",
            "x",
            "--user",
            "alice",
            "--anyway",
            "--dry-run",
        ),
        ("learn", "search", "邮箱 call", "--user", "alice", "--namespace", "user"),
        ("learn", "list", "--user", "alice", "--namespace", "user"),
        ("learn", "show", str(world.lesson), "--user", "alice"),
        ("learn", "edit", str(world.lesson), "--user", "alice", "--context", f"at {PHONE}"),
        ("learn", "rm", str(world.lesson), "--user", "alice", "--dry-run"),
        ("learn", "versions", str(world.lesson), "--user", "alice"),
        ("learn", "undo", str(world.lesson), "--user", "alice", "--dry-run"),
        ("decision", "add", f"call {PHONE}", "--user", "alice"),
        ("decision", "list", "--user", "alice"),
        ("decision", "show", decision, "--user", "alice"),
        ("decision", "outcome", decision, f"call {PHONE}", "--user", "alice", "--dry-run"),
        ("decision", "rm", decision, "--user", "alice", "--dry-run"),
        ("decision", "undo", decision, "--user", "alice", "--dry-run"),
        ("fact", "set", "profile", "tel", PHONE, "--user", "alice"),
        ("fact", "list", "--user", "alice"),
        ("fact", "show", str(world.fact), "--user", "alice"),
        ("fact", "history", str(world.fact), "--user", "alice"),
        ("fact", "search", MAIL.split("@")[0], "--user", "alice"),
        ("conflict", "list", "--user", "alice"),
        ("conflict", "show", str(world.conflict), "--user", "alice"),
        ("conflict", "resolve", str(world.conflict), "keep_new", "--user", "alice", "--dry-run"),
        ("summary", "show", "--user", "alice"),
        ("summary", "refresh", "--user", "alice", "--extractor", "pattern", "--force"),
        ("search", "邮箱 call card", "--user", "alice", "--explain"),
        ("context", "邮箱 call card", "--user", "alice"),
        ("recall", "--user", "alice"),
        ("curator", "prune", "--user", "alice", "--max-count", "1", "--dry-run"),
        ("curator", "dedup", "--user", "alice", "--semantic", "--dry-run"),
        ("retention", "preview", "--user", "alice", "--days", "30000"),
        ("retention", "curve", str(world.memory), "--user", "alice"),
        ("retention", "explain", str(world.memory), "--user", "alice"),
        ("memory", "add", f"again {PHONE}", "--user", "alice"),
        ("core", "set", "notes", f"again {PHONE}", "--user", "alice"),
        ("core", "rm", "persona", "--user", "alice", "--dry-run"),
        ("tools", "call", "show_profile", "--user", "alice"),
        ("report", "--personal", "--exit-zero"),
    ]
    standing = set(leaves(whole_tree()))
    lines = [line for line in lines if {" ".join(line[:2]), line[0]} & standing]
    reading = {name.strip() for name in READING.split(",")}
    assert {" ".join(line[:2]) if line[0] not in reading else line[0] for line in lines} == (
        reading & standing
    )
    for line in lines:
        for more in ((), ("--json",)):
            done = world.cli(*line, *more, env=app).ok()
            shown = done.stdout + done.stderr
            assert not any(one in shown for one in SECRETS), f"{line}: {shown}"
    assert MAIL in world.cli("memory", "list", "--user", "alice").stdout
    refused = world.cli("audit", "export", "--user", "alice", env=app)
    assert refused.code == 1 and "export_withheld" in refused.stderr and not refused.stdout


@pytest.mark.servers("embedded")
def test_what_was_stored_unscanned_is_withheld_and_counted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = pii.find

    def failing(text: str) -> Any:
        if "unreadable" in text:
            raise RuntimeError("out of memory")
        return find(text)

    monkeypatch.setattr(pii, "find", failing)
    with world.session("app") as session:
        added = memories.add(session, "alice", "unreadable 谁的话", thread="t2")
        assert added.memory is not None and added.memory.content == pii.WITHHELD
        counts = dict.fromkeys(Summary.model_fields) | {"facts": 1, "events": 2}
        blanked = Passing(pii.guard_of(session)).blank(Summary.model_construct(**counts))
        assert blanked.model_dump() == counts
        core_blocks.set_block(session, "alice", "unreadable core", label="notes")
        facts.set_fact(session, "alice", "profile", "unreadable", "value")
        assert {"pii_unscanned", "pii_withheld"} <= {w["code"] for w in session.warnings}
        # Nobody takes the mark off by hand.
        memories.edit(session, "alice", added.memory.id, metadata={pii.UNSCANNED: None, "a": 1})
    monkeypatch.setattr(pii, "find", find)
    line = {"thread": "t9", "user": "alice", "turns": [{"role": "user", "text": "plain words"}]}
    world.cli("ingest", "-", stdin=json.dumps(line)).ok()
    world.database.rows(
        "UPDATE negentropy.events SET content = jsonb_set(content, '{metadata}', '{\"pii_unscanned\": \"x\"}')"
        " WHERE content::text LIKE '%plain words%'"
    )
    with world.session("owner") as session:
        assert "unreadable core" in context.assemble(session, "alice", "unreadable").text
    for act, words in (
        (lambda s: memories.list_memories(s, "alice"), "谁的话"),
        (lambda s: search(s, "alice", "unreadable 谁的话"), "谁的话"),
        (lambda s: facts.list_facts(s, "alice"), "unreadable"),
        (lambda s: core_blocks.show(s, "alice"), "unreadable"),
        (lambda s: context.assemble(s, "alice", "谁的话", thread="t9"), "unreadable"),
        (
            lambda s: context.assemble(s, "alice", "谁的话", thread="t9", blocks=["history"]),
            "plain",
        ),
        (lambda s: recall.recall(s, "alice"), "unreadable"),
    ):
        with world.session("app") as session:
            assert words not in said(act(session))
            told = [w["message"] for w in session.warnings if w["code"] == "pii_withheld"]
            assert told and "pii_unscanned" in told[0]
    with world.session("app") as session, pytest.raises(NegmemError) as refused:
        memories.show(session, "alice", added.memory.id)
    assert refused.value.code == "pii_withheld"
