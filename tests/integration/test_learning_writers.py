"""Many writers on one user's stores: what was acknowledged is there, once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from negmem.core.learning import entities, learnings, observations, profile
from negmem.core.session import Session
from negmem.errors import NegmemError
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder
from tests.support.ingesting import session_on

WRITERS = 32
SHARED = 4
"""Things that several writers write, each the same words."""


def test_thirty_two_writers_on_one_users_stores(database: TestDatabase) -> None:
    with session_on(database, FakeEmbedder()) as session:
        entities.add(session, "王芳", "acme", entity_type="company", name="Acme", namespace="user")

    def write(number: int) -> list[tuple[str, str]]:
        """What this writer was told is stored."""
        kept = []
        with session_on(database) as session:
            session.use_embedder(FakeEmbedder())
            same = f"喜欢喝茶 {number % SHARED}"
            for text in (f"note of {number}", same):
                done = observations.observe(session, "王芳", text)
                assert done.action in ("added", "unchanged") and done.memory is not None
                kept.append(("memory", text))
            for text in (f"fact of {number}", same):
                entities.add_fact(session, "王芳", "acme", text, namespace="user")
                kept.append(("fact", text))
            kept += _lesson(session, f"lesson of {number}", f"Rule {number} is its own.")
            kept += _lesson(session, f"shared {number % SHARED}", f"茶的规则 {number % SHARED}。")
            profile.set_field(session, "王芳", "job", f"job {number}")
        return kept

    with ThreadPoolExecutor(WRITERS) as threads:
        told = [one for kept in threads.map(write, range(WRITERS)) for one in kept]
    with session_on(database) as session:
        notes = [
            one.content
            for one in observations.list_observations(session, "王芳", limit=1_000).observations
        ]
        one = entities.show(session, "王芳", "acme", namespace="user").entity
        facts = [fact.content for fact in one.facts]
        titles = [
            one.title
            for one in learnings.list_learnings(
                session, "王芳", namespace="user", limit=1_000
            ).learnings
        ]
        for kind, stored in (("memory", notes), ("fact", facts), ("lesson", titles)):
            wanted = {text for what, text in told if what == kind}
            assert sorted(stored) == sorted(wanted), kind
            assert len(wanted) == WRITERS + SHARED
        # Every fact that was added is a version of the entity, none was written over.
        assert one.version == 1 + len(facts)
        assert len([f for f in profile.show(session, "王芳").fields if f.field == "job"]) == 1
    chain = "SELECT count(*) FROM negentropy.facts WHERE fact_type = 'profile' AND key = 'job'"
    assert database.value(chain) == WRITERS


def _lesson(session: Session, title: str, text: str) -> list[tuple[str, str]]:
    try:
        learnings.save(session, "王芳", title=title, learning=text, namespace="user")
    except NegmemError as error:
        # Somebody else learned it first: refused, not doubled.
        assert error.code in ("learning_exists", "learning_similar"), error
    return [("lesson", title)]


def test_the_whole_picture_of_a_user(database: TestDatabase, negmem: CliRunner) -> None:
    with session_on(database) as session:
        profile.set_field(session, "王芳", "city", "杭州")
        observations.observe(session, "王芳", "喜欢喝茶")
        observations.observe(session, "bob", "secret of bob")
        entities.add(session, "王芳", "zhang", entity_type="person", name="张三", namespace="user")
        entities.add(session, None, "shared", entity_type="x", name="of all")
        learnings.save(session, "王芳", title="茶", learning="茶要热水。", namespace="user")
    said = negmem("user", "picture", "--user", "王芳").ok().stdout
    for known in ("city: 杭州", "喜欢喝茶", "张三 (person)", "茶: 茶要热水", "global (writer)"):
        assert known in said
    assert "bob" not in said and "of all" not in said
    found = negmem("user", "picture", "--user", "王芳", "--json").ok().json
    assert {one["store"]: one["total"] for one in found["stores"]} == {
        "profile": 1,
        "memory": 1,
        "entity": 1,
        "knowledge": 1,
        "session_context": 0,
        "decision_log": 0,
    }
    for one in found["stores"][:4]:
        undo = one["items"][0]["undo"].split()[1:]
        assert negmem(*undo, "--dry-run").code == 0, undo
    nobody = negmem("user", "picture", "--user", "nobody", "--json").ok().json
    assert nobody["warnings"][0]["code"] == "user_unknown" and nobody["memories"] == 0
