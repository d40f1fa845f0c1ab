"""Learned knowledge on a real database: saved once, found, changed in versions, never leaked."""

from __future__ import annotations

from array import array
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from uuid import UUID

import pytest

import negmem
from negmem.core import memories
from negmem.core.learning import entities, learnings, machine, namespaces
from negmem.core.models.learning import LearningChange
from negmem.core.retrieval.context import assemble
from negmem.core.session import Session
from negmem.errors import NegmemError, UsageError
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder, hash_vector
from tests.support.ingesting import session_on


def saved(change: LearningChange) -> UUID:
    assert change.learning is not None and change.action == "saved"
    return change.learning.id


def refusal(act: object) -> NegmemError:
    with pytest.raises(NegmemError) as raised:
        act()  # type: ignore[operator]
    return raised.value


def titles(
    session: Session, query: str, user: str | None = None, namespace: str = "all"
) -> list[str]:
    found = learnings.search_learnings(session, user, query, namespace=namespace)
    return [one.title for one in found.learnings]


@pytest.mark.servers("embedded", "sixteen", "pooled")
def test_saved_once_found_changed_and_taken_back(database: TestDatabase) -> None:
    with session_on(database, FakeEmbedder()) as session:

        def save(title: str, learning: str, **more: object) -> LearningChange:
            return learnings.save(session, None, title=title, learning=learning, **more)  # type: ignore[arg-type]

        retry = saved(save("Retries", "Retry a deadlock with a growing pause.", tags=["sql"]))
        pool = saved(save("连接池", "事务池化下不能用会话级预处理语句。", context="PgBouncer"))
        assert save("Not yet", "A dry run writes nothing.", dry_run=True).learning is None
        for title, learning, code in (
            ("Other", "retry a deadlock with a growing pause", "learning_exists"),
            ("再说一次", "事务池化下不能用会话级预处理语句", "learning_exists"),
            ("Retries", "Never retry a refused password.", "learning_similar"),
        ):
            error = refusal(lambda t=title, w=learning: save(t, w))
            assert error.code == code and str(retry if "etr" in learning else pool) in error.why
        saved(save("Retries", "Never retry a refused password.", anyway=True))
        saved(
            save("No retry", "Do not retry a deadlock with a growing pause.")
        )  # says the opposite
        for words in ("  ", "x" * 100_001):
            with pytest.raises(UsageError):
                save("Blank", words)

        found = learnings.search_learnings(session, None, "deadlock pause")
        assert found.level == "hybrid" and found.learnings[0].embedded
        assert found.learnings[0].id == retry and 0 < found.learnings[0].score <= 1
        assert titles(session, "我们的预处理语句在池化下坏了", None, "global")[0] == "连接池"
        assert "预处理" in assemble(session, "anybody", "池化 预处理语句").text

        edited = learnings.edit(session, None, retry, learning="Retry a deadlock thrice.")
        assert edited.learning is not None and edited.learning.version == 2
        again = learnings.edit(session, None, retry, learning="Retry a deadlock thrice.")
        assert again.action == "unchanged"
        stale = lambda: learnings.edit(session, None, retry, title="x", expected_version=1)  # noqa: E731
        assert refusal(stale).code == "version_conflict"
        same = lambda: learnings.edit(session, None, pool, learning="retry a deadlock THRICE")  # noqa: E731
        assert refusal(same).code == "learning_exists"
        assert "Retries" in titles(session, "thrice", None, "global")
        learnings.remove(session, None, retry, reason="outdated")
        assert learnings.list_learnings(session, None, removed=True).total == 1
        assert "thrice" not in str(titles(session, "thrice deadlock", None, "global"))
        assert (
            refusal(lambda: learnings.edit(session, None, retry, title="x")).code
            == "learning_unknown"
        )
        back = learnings.undo(session, None, retry).learning
        assert back is not None and back.deleted_at is None and back.version == 4
        assert titles(session, "thrice", None, "global")[0] == "Retries"
        shown = learnings.versions(session, None, retry)
        assert [(v.version, v.reason, v.before["learning"]) for v in shown.versions] == [
            (1, "edited", "Retry a deadlock with a growing pause."),
            (2, "removed", "Retry a deadlock thrice."),
            (3, "undone", "Retry a deadlock thrice."),
        ]
        assert refusal(lambda: learnings.undo(session, None, pool)).code == "nothing_to_undo"
    counted = """
        SELECT s.documents, s.total_len, count(DISTINCT t.item_id)
        FROM negentropy.shared_term_stats AS s JOIN negentropy.shared_terms AS t USING (owner_kind, owner, app_name, item_kind)
        GROUP BY 1, 2"""
    documents, total_len, items = database.rows(counted)[0]
    lengths = (
        "SELECT sum(len) FROM (SELECT DISTINCT item_id, len FROM negentropy.shared_terms) AS d"
    )
    assert (
        (documents, total_len) == (items, database.value(lengths)) == (4, database.value(lengths))
    )


def test_nothing_leaks_between_namespaces(database: TestDatabase) -> None:
    secret = "The launch code of 项目红 is heron."
    with session_on(database, FakeEmbedder()) as session:
        namespaces.create(session, "红队", admin="alice")
        namespaces.grant(session, "红队", "bob")
        mine = saved(
            learnings.save(session, "alice", title="Mine", learning=secret, namespace="user")
        )
        team = saved(
            learnings.save(session, "alice", title="Team", learning=secret, namespace="红队")
        )
        everybody = saved(
            learnings.save(session, "alice", title="All", learning="Herons are birds.")
        )
        assert sorted(titles(session, "launch code heron", "alice")) == ["All", "Mine", "Team"]
        assert sorted(titles(session, "launch code heron", "bob")) == ["All", "Team"]
        assert titles(session, "launch code heron 项目红", "mallory") == ["All"]
        assert titles(session, "launch code heron", None) == ["All"]
        for user in ("mallory", None):
            assert "launch" not in assemble(session, user or "nobody", "launch code heron").text
            for id in (mine, team):
                for act in (
                    lambda i=id, u=user: learnings.show(session, u, i),
                    lambda i=id, u=user: learnings.versions(session, u, i),
                    lambda i=id, u=user: learnings.edit(session, u, i, title="mine now"),
                    lambda i=id, u=user: learnings.remove(session, u, i),
                    lambda i=id, u=user: learnings.undo(session, u, i),
                ):
                    assert refusal(act).code == "learning_unknown"
        denied = lambda: learnings.save(  # noqa: E731
            session, "mallory", title="t", learning="l", namespace="红队"
        )
        assert refusal(denied).code == "namespace_denied"
        assert (
            refusal(lambda: learnings.edit(session, "bob", team, title="x")).code
            == "namespace_denied"
        )
        assert refusal(lambda: learnings.remove(session, "bob", team)).code == "namespace_denied"
        # A private lesson of one user keeps nobody else from saving the same.
        saved(learnings.save(session, "mallory", title="Same", learning=secret, namespace="user"))
        namespaces.revoke(session, "红队", "bob")
        assert titles(session, "launch code heron", "bob") == ["All"]
    with session_on(database, FakeEmbedder(), **{"learning.global_access": "members"}) as session:
        assert titles(session, "herons", "bob") == []
        assert refusal(lambda: learnings.show(session, "bob", everybody)).code == "learning_unknown"
        assert "birds" not in assemble(session, "bob", "herons").text
        assert refusal(lambda: learnings.list_learnings(session, None)).code == "namespace_denied"
    with session_on(database, FakeEmbedder(), **{"connection.app": "other"}) as session:
        assert refusal(lambda: learnings.show(session, "alice", mine)).code == "learning_unknown"


@pytest.mark.servers("embedded", "pooled")
def test_many_writers_lose_nothing_and_double_nothing(database: TestDatabase) -> None:
    def write(number: int) -> str:
        with session_on(database) as session:
            try:
                learnings.save(session, None, title=f"T{number}", learning="池满时要等待。")
            except NegmemError as error:
                assert error.code == "learning_exists"
            own = learnings.save(
                session,
                None,
                title=f"Lesson {number}",
                learning=f"Step {number} comes after {number - 1}.",
            )
            return str(saved(own))

    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(write, range(32)))
    assert len(ids) == 32
    with session_on(database) as session:
        found = learnings.list_learnings(session, None, limit=100)
        assert found.total == 33 and ids < {str(one.id) for one in found.learnings}
    stats = "SELECT documents, (SELECT count(DISTINCT item_id) FROM negentropy.shared_terms) FROM negentropy.shared_term_stats"
    assert database.rows(stats) == [(33, 33)]


def test_as_typed_and_in_python(negmem: CliRunner, database: TestDatabase) -> None:
    made = (
        negmem(
            "learn",
            "save",
            "--title",
            "退避",
            "--learning",
            "重试之间等得越来越久。",
            "--tag",
            "网络",
            "--json",
        )
        .ok()
        .json
    )
    id = made["learning"]["id"]
    assert made["schema"] == "negmem.learn.save/1" and made["learning"]["namespace"] == "global"
    refused = negmem(
        "learn", "save", "--title", "别的", "--learning", "重试之间等得越来越久", "--json"
    )
    assert (refused.code, refused.json["error"]["code"]) == (1, "learning_exists")
    assert id in refused.json["error"]["why"]
    found = negmem("learn", "search", "重试该等多久", "--json").ok().json
    assert [one["id"] for one in found["learnings"]] == [id]
    assert "退避" in negmem("learn", "list", "--tag", "网络").ok().stdout
    assert "would be edited" in negmem("learn", "edit", id, "--context", "HTTP", "--dry-run").stdout
    negmem("learn", "edit", id, "--context", "HTTP").ok()
    negmem("learn", "rm", id, "--reason", "old").ok()
    assert "removed" in negmem("learn", "show", id).ok().stdout
    negmem("learn", "undo", id).ok()
    assert negmem("learn", "versions", id).ok().stdout.count("version ") == 4
    assert negmem("learn", "show", "nonsense").code == 2
    assert negmem("learn", "search", "x", "--namespace", "user").code == 2
    with _connected(database) as mem:
        assert [one.context for one in mem.learn.search("重试").learnings] == ["HTTP"]
        assert mem.learn.list(tags=["网络"]).total == 1


def _connected(database: TestDatabase) -> negmem.api.Memory:
    return negmem.connect(database.dsn, embedder=FakeEmbedder())


MEANS = {
    "连不上怎么办？": "Deadlock: Try it again with a growing pause.",
    "谁管钱？": "Ledger\nkeeps the books",
}


class _Meanings(FakeEmbedder):
    """Gives a question the vector of what it means."""

    def embed_query(self, text: str) -> array[float]:
        return super().embed_query(MEANS.get(text, text))


def test_a_context_has_what_says_the_same_in_other_words(database: TestDatabase) -> None:
    embedder = _Meanings(64)
    knows = {"learning.knowledge.enabled": "true"}
    with session_on(database, embedder, **knows) as session:
        save_as = partial(learnings.save, session, None)
        save_as(title="Deadlock", learning="Try it again with a growing pause.")
        save_as(title="茶", learning="绿茶用八十度的水泡。")
        entities.add(
            session,
            None,
            "ledger",
            entity_type="person",
            name="Ledger",
            description="keeps the books",
        )
        memories.add(session, "ada", "我喜欢茶")
        embedder.calls.clear()
        found = assemble(session, "ada", "连不上怎么办？")
        assert "growing pause" in found.text and "八十度" not in found.text
        assert "keeps the books" not in found.text
        built = machine.build_context(session, "ada", "连不上怎么办？").text
        assert "growing pause" in built and "八十度" not in built
        assert "keeps the books" in assemble(session, "ada", "谁管钱？", blocks=["entities"]).text
        # The question is embedded once, however much it is asked of.
        assert [kind for kind, _ in embedder.calls] == ["query"] * 3
        window = database.rows(
            "SELECT content FROM negentropy.get_context_window('ada', 'negmem', 'x', %s::vector)"
            " WHERE context_type = 'knowledge'",
            [str(hash_vector(MEANS["连不上怎么办？"], 64))],
        )
        assert len(window) == 1 and "growing pause" in window[0][0]
        # Vectors of another model say nothing here: words alone, and that is told.
        session.use_embedder(FakeEmbedder(64, model="another"))
        assert "growing pause" in assemble(session, "ada", "deadlock", blocks=["knowledge"]).text
        assert "found_by_words" in {one["code"] for one in session.warnings}
