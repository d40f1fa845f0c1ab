"""What commands need to be called on, made once: fresh ids for those that change something."""

from __future__ import annotations

import itertools
import json
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

from negmem.core import associations, core_blocks, facts, memories
from negmem.core.learning import decision_log, entities, learnings, namespaces, profile, proposals
from negmem.core.session import Session, open_session
from negmem.providers.embedding import EmbedderAbsent
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tools.role_matrix import MATRIX

_ROLES = 4
DECISIONS_ON = {"learning.decision_log.enabled": "true"}


class RoleWorld:
    """Rows of several users; `words_of` puts their ids in the place of `$NAMES`."""

    def __init__(self, cli: CliRunner, database: TestDatabase) -> None:
        self._numbers = itertools.count(1)
        self._fresh: dict[str, Iterator[str]] = {}
        self._fixed: dict[str, str] = {"FOLDER": str(cli.cwd)}
        self._lines = [case.line for case in MATRIX]
        with open_session(dsn=database.dsn, env={}, overrides=DECISIONS_ON) as session:
            session.use_embedder(EmbedderAbsent("embedder_none", "not needed"))
            self._fill(session)
        with open_session(
            dsn=database.dsn, env={}, overrides={"learning.knowledge.mode": "propose"}
        ) as session:
            session.use_embedder(EmbedderAbsent("embedder_none", "not needed"))
            self._fresh["PROPOSAL"] = iter(_proposed(session, _ROLES * 7))
        self._age(database)
        self._write_files(cli)
        said = {"thread": "t1", "user": "eve", "turns": [{"role": "user", "text": "I like tea"}]}
        cli("ingest", "-", stdin=json.dumps(said)).ok()
        found = cli("search", "tea", "--user", "ann", "--json").ok().json
        self._fixed["RETRIEVAL"] = found["retrieval_id"]

    def words_of(self, line: str) -> list[str]:
        """A command line as words; `$N` is a new number at each call, `$MEMORY` and such a row not used before."""
        found = []
        for word in shlex.split(line):
            for name in sorted(self._fixed, key=len, reverse=True):
                word = word.replace(f"${name}", self._fixed[name])
            for name in sorted(self._fresh, key=len, reverse=True):
                if f"${name}" in word:
                    word = word.replace(f"${name}", next(self._fresh[name]))
            found.append(word.replace("$N", str(next(self._numbers))))
        return found

    def stdin_of(self, words: list[str]) -> str:
        """What a command that reads `-` is given."""
        if words[0] == "audit":
            decided = {"memory_id": next(self._fresh["MEMORY"]), "decision": "retain"}
            return json.dumps(decided) + "\n"
        turns = [{"role": "user", "text": "hello 你好"}]
        said = {"thread": f"s{next(self._numbers)}", "user": "ann", "turns": turns}
        return json.dumps(said) + "\n"

    def _fill(self, session: Session) -> None:
        def memory(user: str, place: int) -> str:
            added = memories.add(session, user, f"drinks tea number {place} 喝茶").memory
            assert added is not None
            return str(added.id)

        one = memory("ann", 0)
        self._fixed["ONE"] = one

        def many(name: str, make: Callable[[int], str]) -> None:
            """As many as the lines of the matrix use, each once a role, and some to spare."""
            uses = sum(f"${name}" in line for line in self._lines) + 1
            self._fresh[name] = iter([make(place) for place in range(1, _ROLES * uses + 1)])

        def pinned(place: int) -> str:
            made = memories.parse_id(memory("ann", 100 + place))
            memories.pin(session, "ann", [made])
            associations.link(session, "ann", made, memories.parse_id(one))
            return str(made)

        def edited_memory(place: int) -> str:
            made = memory("ann", 300 + place)
            memories.edit(session, "ann", memories.parse_id(made), content=f"edited {place}")
            return made

        def gone(place: int) -> str:
            made = memories.parse_id(memory("ann", 200 + place))
            memories.remove(session, "ann", [made])
            return str(made)

        def fact(place: int, *, value: str = "tea", user: str = "ann") -> tuple[str, str]:
            made = facts.set_fact(session, user, "preference", f"drink {place} 饮料", value)
            assert made.fact is not None
            return str(made.fact.id), str(made.conflict_id)

        def gone_fact(place: int) -> str:
            made = facts.parse_id(fact(100 + place)[0])
            facts.remove(session, "ann", [made])
            return str(made)

        def conflict(place: int) -> str:
            fact(200 + place)
            return fact(200 + place, value="coffee")[1]

        def block(place: int) -> str:
            core_blocks.set_block(session, "ann", f"block {place}", label=f"block{place}")
            return f"block{place}"

        def known(place: int) -> str:
            profile.set_field(session, f"known{place}", "city", "上海")
            return f"known{place}"

        def lesson(place: int) -> str:
            made = learnings.save(
                session,
                None,
                title=f"lesson {place}",
                learning=f"steep {place} minutes",
                anyway=True,
            ).learning
            assert made is not None
            return str(made.id)

        def edited(place: int) -> str:
            made = lesson(100 + place)
            learnings.edit(session, None, UUID(made), context="at home")
            return made

        def decision(place: int) -> str:
            made = decision_log.log_decision(session, "ann", f"steep {place} minutes").decision
            assert made is not None
            return str(made.id)

        def decided(place: int) -> str:
            made = decision(100 + place)
            decision_log.record_outcome(session, "ann", UUID(made), "good tea")
            return made

        def firm(place: int) -> str:
            entities.add(session, None, f"inn{place}", entity_type="company", name=f"Inn {place}")
            return f"inn{place}"

        def edited_firm(place: int) -> str:
            made = firm(100 + place)
            entities.add_fact(session, None, made, "open at night")
            return made

        def firm_fact(place: int) -> str:
            changed = entities.add_fact(session, None, "acme", f"has {place} rooms")
            assert changed.entity is not None
            return str(
                next(f.id for f in changed.entity.facts if f.content == f"has {place} rooms")
            )

        def member(place: int) -> str:
            namespaces.grant(session, "team-x", f"member{place}", role="reader")
            return f"member{place}"

        def leaver(place: int) -> str:
            memory(f"leaver{place:02}", 0)
            return f"leaver{place:02}"

        def person(place: int) -> str:
            memories.add(session, f"person{place}", f"call me: 1381234{place:04}")
            return f"person{place}"

        namespaces.create(session, "team-x")
        for name in ("acme", "brew"):
            entities.add(session, None, name, entity_type="company", name=name.title())
        core_blocks.set_block(session, "ann", "likes tea", label="persona")
        many("MEMORY", lambda place: memory("ann", place))
        for name, make in (
            ("EDITED_MEMORY", edited_memory),
            ("PINNED", pinned),
            ("GONE_MEMORY", gone),
            ("FACT", lambda place: fact(place)[0]),
            ("GONE_FACT", gone_fact),
            ("CONFLICT", conflict),
            ("BLOCK", block),
            ("KNOWN", known),
            ("LESSON", lesson),
            ("EDITED_LESSON", edited),
            ("DECISION", decision),
            ("DECIDED", decided),
            ("FIRM", firm),
            ("EDITED_FIRM", edited_firm),
            ("FIRM_FACT", firm_fact),
            ("MEMBER", member),
            ("LEAVER", leaver),
            ("PERSON", person),
        ):
            many(name, make)
        for user, text in (
            ("ben", "tea"),
            ("ben", "coffee"),
            ("dup", "the same"),
            ("dup", "the same"),
        ):
            memories.add(session, user, text)
        memories.remove(session, "ben", [memories.parse_id(memory("ben", 1))])

    def _age(self, database: TestDatabase) -> None:
        """A memory that a purge takes, and a change of the embedding model that was begun."""
        database.rows(
            "UPDATE negentropy.memories SET deleted_at = deleted_at - interval '99 days'"
            " WHERE user_id = 'ben' AND deleted_at IS NOT NULL"
        )
        for id, status in ((1, "active"), (2, "building")):
            database.rows(
                "INSERT INTO negentropy.embedding_models (app_name, id, provider, model, version, dims, status)"
                " VALUES ('negmem', %s, 'litellm', %s, '1', 8, %s)",
                (id, f"model {id}", status),
            )

    def _write_files(self, cli: CliRunner) -> None:
        export, erased, data = (
            cli.cwd / "ann.jsonl",
            cli.cwd / "erased.jsonl",
            cli.cwd / "bench",
        )
        cli("audit", "export", "--user", "ann", "--output", export).ok()
        cli("audit", "erase", "--user", "leaver01", "--yes")  # 3: others say the same
        next(self._fresh["LEAVER"])
        cli("audit", "head", "--erasures", erased, "--with-key").ok()
        data.mkdir()
        place = {"conversation_id": "c1", "session_id": "s1"}
        turns = [{"turn_id": "t1", "speaker": "Ada", "text": "Ann drinks tea"}]
        _write(data / "sessions.jsonl", {**place, "turns": turns})
        asked = {"question_id": "q1", "question": "what does Ann drink?", "evidence": ["t1"]}
        _write(data / "qa.jsonl", {**place, **asked, "evidence_sessions": ["s1"]})
        self._fixed |= {"EXPORT": str(export), "ERASED": str(erased), "BENCH": str(data)}


def _proposed(session: Session, count: int) -> list[str]:
    """Lessons that wait for an approval."""
    for place in range(count):
        learnings.save(session, None, title=f"waits {place}", learning=f"rinse {place} times")
    found = proposals.list_proposals(session, status="pending", limit=count).proposals
    return [str(one.id) for one in found]


def _write(path: Path, line: dict[str, object]) -> None:
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
