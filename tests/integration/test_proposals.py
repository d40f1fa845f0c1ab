"""Writes that wait for a person: no path round them, applied once, never late, never over a newer change."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import negmem as negmem_api
from negmem.core import facts, memories, review
from negmem.core.fact_writing import FactWrite, write_facts
from negmem.core.learning import (
    entities,
    entity_changes,
    introductions,
    learnings,
    observations,
    profile,
    proposal_edits,
    proposals,
)
from negmem.core.review import ACTS, Acting, acting
from negmem.core.session import Session
from negmem.errors import NegmemError
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder
from tests.support.ingesting import session_on
from tests.support.waiting import eventually

PROPOSE = {f"learning.{store}.mode": "propose" for store in review.STORES}
HITL = {f"learning.{store}.mode": "hitl" for store in review.STORES}
WRITTEN = """
    SELECT (SELECT count(*) FROM negentropy.learnings), (SELECT count(*) FROM negentropy.entities),
        (SELECT count(*) FROM negentropy.entity_facts), (SELECT count(*) FROM negentropy.facts),
        (SELECT count(*) FROM negentropy.memories), (SELECT sum(version) FROM negentropy.learnings),
        (SELECT sum(version) FROM negentropy.entities), (SELECT sum(version) FROM negentropy.memories)
"""


def refused(code: str, act: Callable[[], Any]) -> NegmemError:
    with pytest.raises(NegmemError) as raised:
        act()
    assert raised.value.code == code, raised.value
    return raised.value


def waiting(session: Session) -> list[UUID]:
    return [
        one.id for one in proposals.list_proposals(session, status="pending", limit=100).proposals
    ]


def test_no_path_writes_without_an_approval(database: TestDatabase) -> None:
    """Every function that writes to a store, called straight, by hand, as an agent, as the extractor."""
    with session_on(database, FakeEmbedder()) as session:
        lesson = learnings.save(
            session, None, title="Retries", learning="Retry a deadlock with a pause."
        )
        assert lesson.learning is not None
        of_lesson = lesson.learning.id
        learnings.edit(session, None, of_lesson, context="PostgreSQL")
        entities.add(session, None, "acme", entity_type="company", name="Acme")
        entities.add(session, None, "zhang", entity_type="person", name="张三")
        acme = entities.add_fact(session, None, "acme", "makes anvils").entity
        assert acme is not None
        profile.set_field(session, "alice", "city", "杭州")
        noted = observations.observe(session, "alice", "Prefers short answers").memory
        assert noted is not None
        field = profile.show(session, "alice").fields[0].id
    before = database.rows(WRITTEN)
    with session_on(database, FakeEmbedder(), **PROPOSE) as session:
        calls: dict[str, Callable[[], Any]] = {
            "knowledge.save": lambda: learnings.save(
                session, None, title="连接池", learning="池化下没有会话级语句。"
            ),
            "knowledge.edit": lambda: learnings.edit(session, None, of_lesson, title="Pauses"),
            "knowledge.remove": lambda: learnings.remove(session, None, of_lesson),
            "knowledge.undo": lambda: learnings.undo(session, None, of_lesson),
            "entity.add": lambda: entities.add(
                session, None, "bob", entity_type="person", name="Bob"
            ),
            "entity.add_fact": lambda: entities.add_fact(session, None, "acme", "sells anvils"),
            "entity.add_event": lambda: entities.add_event(session, None, "acme", "签约"),
            "entity.introduce": lambda: introductions.introduce(
                session, None, "Zoe", entity_type="person", facts=[{"text": "sells anvils"}]
            ),
            "entity.relate": lambda: entities.relate(session, None, "zhang", "works_at", "acme"),
            "entity.replace_fact": lambda: entity_changes.replace_fact(
                session, None, "acme", acme.facts[0].id, "makes rockets"
            ),
            "entity.remove": lambda: entity_changes.remove(session, None, "acme"),
            "entity.undo": lambda: entity_changes.undo(session, None, "acme"),
            "profile.undo": lambda: profile.undo(session, "alice", "city"),
            "profile.set_field": lambda: profile.set_field(session, "alice", "city", "北京"),
            "profile.unset_field": lambda: profile.unset_field(session, "alice", "city"),
            "profile.set_fact": lambda: facts.set_fact(session, "alice", "profile", "job", "QA"),
            "profile.learn": lambda: profile.learn(session, "alice", "age", 42),
            "profile.remove": lambda: facts.remove(session, "alice", [field]),
            "memory.observe": lambda: observations.observe(session, "alice", "喜欢喝茶"),
            "memory.correct": lambda: observations.correct(
                session, "alice", noted.id, "Likes detail"
            ),
            "memory.forget": lambda: observations.forget(session, "alice", noted.id),
            "memory.add": lambda: memories.add(
                session, "alice", "Likes tea", metadata={"source": "observation"}
            ),
            "memory.edit": lambda: memories.edit(session, "alice", noted.id, content="Other"),
            "memory.remove": lambda: memories.remove(session, "alice", [noted.id]),
        }
        restores = {"profile.restore", "memory.restore"}  # nothing is removed here
        missing = set(ACTS) - set(calls) - restores
        assert not missing, f"acts that no call of this test makes: {missing}"
        for number, (name, call) in enumerate(calls.items(), 1):
            who = Acting(who="agent bot", agent="bot") if number % 2 else Acting()
            with acting(session, who):
                done = call()
            assert len(waiting(session)) == number, name
            assert getattr(done, "action", "proposed") in ("proposed", "remove"), name
            with acting(session, Acting()):
                call()
            assert len(waiting(session)) == number, f"{name}: the same again is the same proposal"
        refused(
            "review_required",
            lambda: write_facts(session, "alice", [FactWrite("profile", "city", "上海")]),
        )
        # Nobody acts as approved but an approval: an Acting of one's own making is levelled.
        forged = type("Forged", (review._Approved,), {})(who="x")
        with acting(session, forged):
            entities.add_fact(session, None, "acme", "forged")
        by = proposals.list_proposals(session, status="pending", limit=50).proposals
        assert {one.proposed_by for one in by} == {"agent bot", session.actor}
        assert {one.act for one in by} == set(calls)
    assert database.rows(WRITTEN) == before


def test_applied_once_however_often_asked(database: TestDatabase) -> None:
    with session_on(database, FakeEmbedder(), **PROPOSE) as session:
        with acting(session, Acting(who="agent bot", agent="bot")):
            done = learnings.save(
                session, "alice", title="Retries", learning="Retry a deadlock.", namespace="user"
            )
        made = done.proposal_id
        assert made is not None and done.action == "proposed" and done.learning is None
        plan = proposals.approve(session, made, dry_run=True)
        assert plan.dry_run and waiting(session) == [made]

    def approve(number: int) -> tuple[str, bool]:
        with session_on(database, **PROPOSE) as own:
            own.use_embedder(FakeEmbedder())
            answer = proposals.approve(own, made, actor=f"judge{number}", reason="sound")
            return answer.status, answer.replayed

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(approve, range(4)))
    assert sorted(answers) == [("applied", False)] + [("applied", True)] * 3
    with session_on(database, FakeEmbedder(), **PROPOSE) as session:
        kept = learnings.list_learnings(session, "alice", namespace="user").learnings
        assert [(one.title, one.written_by, one.embedded) for one in kept] == [
            ("Retries", "agent bot", True)
        ]
        shown = proposals.show(session, None, made).proposal
        assert shown.status == "applied" and shown.applied_id == kept[0].id
        assert shown.reason == "sound" and str(shown.decided_by).startswith("judge")
        refused("proposal_decided", lambda: proposals.reject(session, made))
        # What is private to alice is no affair of bob's.
        refused("proposal_unknown", lambda: proposals.show(session, "bob", made))
        assert proposals.list_proposals(session, "bob").total == 0


def test_killed_between_the_write_and_its_record(database: TestDatabase) -> None:
    with session_on(database, **PROPOSE) as session:
        made = learnings.save(session, None, title="A", learning="Something learned.").proposal_id
        assert made is not None

        class Killed(BaseException):
            pass

        execute = session.database.execute

        def dies(noun: str, name: str, params: Any = None) -> int:
            if (noun, name) == ("proposals", "decide"):
                raise Killed
            return execute(noun, name, params)

        session.database.execute = dies  # type: ignore[method-assign]
        with pytest.raises(Killed):
            proposals.approve(session, made)
        session.database.execute = execute  # type: ignore[method-assign]
        assert database.value("SELECT count(*) FROM negentropy.learnings") == 0
        assert waiting(session) == [made]
        assert proposals.approve(session, made).status == "applied"
        assert database.value("SELECT count(*) FROM negentropy.learnings") == 1


def test_stale_late_rejected_and_failed(database: TestDatabase) -> None:
    with session_on(database) as session:
        first = learnings.save(session, None, title="A", learning="First thing.").learning
        assert first is not None
    with session_on(database, **PROPOSE) as session:
        edit = learnings.edit(session, None, first.id, learning="Second thing.").proposal_id
        assert edit is not None
        with session_on(database) as other:
            learnings.edit(other, None, first.id, learning="Third thing.")
        refused("proposal_stale", lambda: proposals.approve(session, edit))
        shown = proposals.show(session, None, edit)
        assert shown.proposal.status == "stale" and shown.is_stale
        assert [(c.field, c.before, c.after) for c in shown.changes] == [
            ("learning", "Third thing.", "Second thing.")
        ]
        refused("proposal_stale", lambda: proposals.approve(session, edit))
        proposals.approve(session, edit, anyway=True)
        assert learnings.show(session, None, first.id).learning == "Second thing."

        late = learnings.save(session, None, title="Late", learning="Too late.").proposal_id
        assert late is not None
        database.rows("UPDATE negentropy.proposals SET expires_at = now() - interval '1 s'")
        assert [p.status for p in proposals.list_proposals(session, status="expired").proposals]
        refused("proposal_expired", lambda: proposals.approve(session, late))
        assert proposals.expire(session) == 1

        no = learnings.save(session, None, title="No", learning="Not this.").proposal_id
        assert no is not None
        assert proposals.reject(session, no, reason="wrong").status == "rejected"
        assert proposals.reject(session, no).replayed
        refused("proposal_decided", lambda: proposals.approve(session, no))
        again = learnings.save(session, None, title="No", learning="Not this.")
        assert again.proposal_id is None and again.action == "suppressed"
        assert session.warnings[-1]["code"] == "proposal_suppressed"

        twice = learnings.save(session, None, title="B", learning="Twice said.").proposal_id
        assert twice is not None
        with session_on(database) as other:
            learnings.save(other, None, title="C", learning="twice said")
        refused("learning_exists", lambda: proposals.approve(session, twice))
        failed = proposals.show(session, None, twice).proposal
        assert failed.status == "failed" and "learning_exists" in str(failed.reason)


def test_hitl_wants_another_person(negmem: CliRunner, database: TestDatabase) -> None:
    with session_on(database, **HITL) as session:
        with acting(session, Acting(who="agent bot", agent="bot")):
            of_agent = profile.set_field(session, "王芳", "city", "杭州").proposal_id
        own = profile.set_field(session, "王芳", "job", "老师").proposal_id
        assert of_agent is not None and own is not None
        refused("approver_is_proposer", lambda: proposals.approve(session, own))
        refused(
            "approver_is_proposer", lambda: proposals.approve(session, of_agent, actor="agent bot")
        )
        proposals.approve(session, of_agent, actor="李老师")
        assert [one.value for one in profile.show(session, "王芳").fields] == ["杭州"]
    listed = negmem("proposals", "list")
    assert listed.code == 0 and str(own) in listed.stdout and "job" in listed.stdout
    shown = negmem("proposals", "show", str(own), "--json")
    assert (
        shown.json["schema"] == "negmem.proposals.show/1"
        and shown.json["proposal"]["mode"] == "hitl"
    )
    mine = negmem("proposals", "approve", str(own))
    assert mine.code == 1 and "approver_is_proposer" in mine.stderr
    done = negmem("proposals", "approve", str(own), "--actor", "李老师", "--json")
    assert done.code == 0 and done.json["status"] == "applied"
    again = negmem("proposals", "approve", str(own), "--actor", "李老师", "--json")
    assert again.code == 0 and again.json["replayed"]
    gone = negmem("proposals", "reject", str(own))
    assert gone.code == 1 and re.search("proposal_decided", gone.stderr)
    assert "job" in negmem("profile", "show", "--user", "王芳").stdout


def test_edited_before_it_is_approved(negmem: CliRunner, database: TestDatabase) -> None:
    """What a person changes is written, what was proposed is kept; only what it says, never what it means."""
    with session_on(database) as session:
        stands = learnings.save(session, None, title="池", learning="池满时等待。").learning
        assert stands is not None
    bot = Acting(who="agent bot", agent="bot", evidence=({"turn": "1", "quote": "…"},))
    with session_on(database, **HITL) as session:
        with acting(session, bot):
            made = learnings.save(
                session, None, title="Retries", learning="Retry for ever.", tags=["sql"]
            ).proposal_id
        assert made is not None

        def edit(changes: dict[str, Any], **more: Any) -> Any:
            return proposal_edits.edit(session, made, changes, **more)

        assert edit({"learning": "Retry thrice."}, dry_run=True).dry_run
        assert waiting(session) == [made], "a dry run changes nothing"
        done = edit({"learning": "Retry thrice.", "tags": ["sql", "重试"]}, actor="李老师")
        assert [(c.field, c.before, c.after) for c in done.edited] == [
            ("learning", "Retry for ever.", "Retry thrice."),
            ("tags", ["sql"], ["sql", "重试"]),
        ]
        assert (done.proposal.status, done.proposal.edited_by) == ("edited", "李老师")
        assert done.proposal.proposed["learning"] == "Retry for ever."
        assert edit({"learning": "Retry thrice."}).edited == []
        for fixed in ("namespace", "user", "anyway", "dry_run", "nonsense"):
            refused("proposal_argument_unknown", lambda f=fixed: edit({f: "x"}))  # type: ignore[misc]
        refused("learning_exists", lambda: edit({"learning": "池满时等待"}))
        refused("text_refused", lambda: edit({"title": "  "}))
        # The very same as it was proposed, and as it is now, is this proposal.
        with acting(session, bot):
            for said in ("Retry for ever.", "Retry thrice."):
                tags = ["sql"] if "ever" in said else ["sql", "重试"]
                again = learnings.save(session, None, title="Retries", learning=said, tags=tags)
                assert again.proposal_id == made
        refused("approver_is_proposer", lambda: proposals.approve(session, made, actor="李老师"))
        refused("approver_is_proposer", lambda: proposals.approve(session, made, actor="agent bot"))

        # Edited between the reading and the approval: nothing is approved that nobody read.
        whole = session.database.whole

        @contextmanager
        def edited_meanwhile() -> Iterator[None]:
            session.database.whole = whole  # type: ignore[method-assign]
            with session_on(database, **HITL) as other:
                proposal_edits.edit(other, made, {"title": "Pauses"}, actor="李老师")
            with whole():
                yield

        session.database.whole = edited_meanwhile  # type: ignore[method-assign]
        refused("version_conflict", lambda: proposals.approve(session, made, actor="王"))
        assert proposals.show(session, None, made).proposal.status == "edited"
        assert proposals.approve(session, made, actor="王").status == "applied"
        refused("proposal_decided", lambda: edit({"title": "late"}))
        kept = learnings.list_learnings(session, None, tags=["重试"]).learnings
        assert [(one.learning, one.written_by) for one in kept] == [("Retry thrice.", "agent bot")]
        assert kept[0].title == "Pauses"
        shown = proposals.show(session, None, made).proposal
        assert shown.decided_by == "王" and shown.edited_by == "李老师"


def test_several_at_once_and_as_lines(
    negmem: CliRunner, database: TestDatabase, tmp_path: Path
) -> None:
    with session_on(database, **PROPOSE) as session:
        with acting(session, Acting(who="agent bot", agent="bot", confidence=0.9)):
            entities.add(session, None, "acme", entity_type="company", name="Acme")
            for word in ("one", "two"):
                learnings.save(session, None, title=word, learning=f"Lesson {word}.")
        profile.set_field(session, "王芳", "city", "杭州")
        with session_on(database) as other:
            learnings.save(other, None, title="2", learning="lesson two")
    assert negmem("proposals", "approve-all").code == 2, "nobody to ask"
    plan = negmem("proposals", "approve-all", "--agent", "bot", "--dry-run", "--json")
    assert plan.code == 3 and len(plan.json["decided"]) == 2
    done = negmem("proposals", "approve-all", "--agent", "bot", "--reason", "好", "--yes", "--json")
    assert done.code == 3 and [one["code"] for one in done.json["left"]] == ["learning_exists"]
    assert len(done.json["decided"]) == 2 and done.json["decided"][0]["status"] == "applied"
    assert negmem("proposals", "approve-all", "--min-confidence", "0.95", "--yes").ok().stdout == ""
    lines = negmem("proposals", "export").ok().stdout.splitlines()
    found = [json.loads(line) for line in lines]
    assert sorted(one["status"] for one in found) == ["applied", "applied", "failed", "pending"]
    out = tmp_path / "out.jsonl"
    written = negmem("proposals", "export", "--status", "waiting", "--output", out, "--json").ok()
    assert written.json["proposals"] == 2 and len(out.read_text("utf-8").splitlines()) == 2
    assert oct(out.stat().st_mode)[-3:] == "600"
    waits = [one["id"] for one in found if one["status"] in ("pending", "failed")]
    mixed = negmem("proposals", "reject-all", *waits, "--store", "profile", "--yes")
    assert mixed.code == 2 and "proposal_filter_unknown" in mixed.stderr
    assert negmem("proposals", "reject-all", *waits, "--yes").ok().stdout.count("rejected") == 2
    with negmem_api.connect(database.dsn, embedder=FakeEmbedder()) as mem:
        assert mem.proposals.approve_all(dry_run=True).decided == []
        assert mem.proposals.list(status="waiting").total == 0


def test_killed_in_the_middle_of_an_approval(negmem: CliRunner, database: TestDatabase) -> None:
    """A process of its own, killed by the system between its write and its commit: all or nothing, then once."""
    with session_on(database, **PROPOSE) as session:
        made = learnings.save(session, None, title="A", learning="池满时要等待。").proposal_id
        assert made is not None
    words = ["proposals", "approve", str(made), "--reason", "sound"]
    environment = {**os.environ, **negmem.env}
    with database.connect() as blocker, blocker.transaction():
        # What it writes last is the lesson's words: there it waits, with the lesson and the approval open.
        blocker.execute("LOCK TABLE negentropy.shared_term_stats IN EXCLUSIVE MODE")
        process = subprocess.Popen(
            [sys.executable, "-m", "negmem", *words], cwd=negmem.cwd, env=environment
        )
        held = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'negentropy.shared_term_stats'::regclass"
        assert eventually(lambda: database.value(held) == 1, limit_s=60)
        process.kill()
        process.wait()
    with session_on(database, **PROPOSE) as session:
        assert eventually(lambda: database.value(held) == 0)
        assert database.value("SELECT count(*) FROM negentropy.learnings") == 0
        assert waiting(session) == [made]
    assert "applied" in negmem(*words).ok().stdout
    assert "was already applied" in negmem(*words).ok().stdout
    assert database.value("SELECT count(*) FROM negentropy.learnings") == 1


def test_what_waited_too_long_is_written_down_by_the_job(database: TestDatabase) -> None:
    with session_on(database, **PROPOSE) as session:
        for word in ("one", "two"):
            learnings.save(session, None, title=word, learning=f"Lesson {word}.")
        late = waiting(session)[0]
        database.rows(
            "UPDATE negentropy.proposals SET expires_at = now() - interval '1 s' WHERE id = %s",
            (late,),
        )
        # Read as expired before any job ran, and written down by the one that pg_cron runs too.
        assert proposals.show(session, None, late).proposal.status == "expired"
        stored = "SELECT status FROM negentropy.proposals ORDER BY status"
        assert [row[0] for row in database.rows(stored)] == ["pending", "pending"]
        database.rows("SELECT negentropy.trigger_maintenance_consolidation()")
        assert [row[0] for row in database.rows(stored)] == ["expired", "pending"]
