"""A person erased: nothing left in a dump, others as they were, also when killed or written to meanwhile."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import psycopg
import pytest

from negmem.core import facts, memories
from negmem.core.formation.ingest import Ingest, IngestOptions
from negmem.core.governance import erasure, trail
from negmem.core.governance.bring_back import bring_back
from negmem.core.governance.erasure import digest_of
from negmem.core.governance.erasure_list import check_certificate, replay, write_list
from negmem.core.governance.export import export_to_file
from negmem.core.governance.registry import TABLES
from negmem.core.models.erasure import Erased
from negmem.core.session import Session
from negmem.db import embedded
from negmem.db.embedded import home
from negmem.errors import NegmemError, UsageError
from negmem.providers.cache import FILE_NAME, CachedEmbedder, EmbeddingCache
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.embedder import FakeEmbedder
from tests.support.ingesting import conversation, session_on, write_lines

MARKER = "zqxmarkerqxz"
USER = f"{MARKER}-用户"
COLUMNS = """
SELECT a.attname::text, t.typname::text, a.attnotnull AND NOT a.atthasdef, a.attgenerated <> ''
FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
WHERE a.attrelid = ('negentropy.' || %s)::regclass AND a.attnum > 0 AND NOT a.attisdropped
"""


def fill_every_column(database: TestDatabase, user: str, marker: str) -> None:
    """Rows of one person in every table that has such, with the marker in every column that can hold it.

    Keys that point elsewhere are not looked at: what is stored is what counts.
    """
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        for number, table in enumerate(TABLES):
            if table.owner not in ("user", "kind") or table.name == "audit_keys":
                continue
            values: dict[str, str] = {"app_name": "'negmem'"}
            values |= {"user_id": f"'{user}'"} if table.owner == "user" else {
                "owner_kind": "'user'", "owner": f"'{user}'",
            }  # fmt: skip
            for name, type_name, is_needed, is_generated in connection.execute(
                COLUMNS, (table.name,)
            ):
                if is_generated or name in values:
                    continue
                made = MADE.get((table.name, name)) or filler(
                    table.columns.get(name),
                    type_name,
                    is_needed,
                    f"{marker}-{table.name}.{name}",
                    number,
                )
                if made is not None:
                    values[name] = made.replace("USER", user)
            columns = ", ".join(values)
            connection.execute(
                f"INSERT INTO negentropy.{table.name} ({columns})"
                f" VALUES ({', '.join(values.values())}) ON CONFLICT DO NOTHING".encode()
            )
            held = connection.execute(
                f"SELECT count(*) FROM negentropy.{table.name} AS t WHERE t::text LIKE %s",
                (f"%{marker}%",),
            ).fetchone()
            assert held and held[0] > 0, table.name


MADE = {
    ("memory_core_blocks", "user_id"): "'USER'",
    ("memory_core_blocks", "scope"): "'user'",
    ("memory_associations", "source_type"): "'memory'",
    ("memory_associations", "target_type"): "'memory'",
    ("retrieval_feedback", "outcome"): "'helpful'",
    ("consolidation_jobs", "job_type"): "'fast_replay'",
    ("proposals", "store"): "'memory'",
    ("proposals", "op"): "'add'",
    ("item_sources", "item_kind"): "'memory'",
    ("shared_vectors", "item_kind"): "'learning'",
    ("shared_terms", "item_kind"): "'learning'",
}


def filler(
    kind: str | None, type_name: str, is_needed: bool, marker: str, number: int
) -> str | None:
    """A value of a column: the marker where the registry says that a text can stand, else what is needed."""
    if kind in ("text", "name", "actor", "terms", "person"):
        return f"'{marker}'"
    if kind == "texts":
        return f"ARRAY['{marker}', '别的']"
    if kind == "json":
        return f"""'{{"{marker}": ["{marker} \\"引\\""]}}'"""
    needed = {
        "uuid": "gen_random_uuid()", "int4": "1", "int2": "1", "int8": "1", "float8": "0.5",
        "bytea": f"sha256('{number}')", "timestamptz": "now()", "_uuid": "'{}'", "varchar": "'x'",
        "text": "'x'", "jsonb": "'{}'", "bool": "true", "varbit": "B'1'", "halfvec": f"'[{number},2]'",
        "vector": f"'[{number},2]'",
    }  # fmt: skip
    return needed[type_name] if is_needed else None


def dump(database: TestDatabase) -> str:
    """Every row of every table of the schema, as text, and every name of the catalog that could hold one."""
    names = database.rows(
        "SELECT c.relname::text FROM pg_class AS c"
        " WHERE c.relnamespace = 'negentropy'::regnamespace AND c.relkind = 'r' ORDER BY 1"
    )
    return "\n".join(
        row[0]
        for (name,) in names
        for row in database.rows(f"SELECT t::text FROM negentropy.{name} AS t")
    )


def pg_dump(database: TestDatabase) -> str:
    """The whole database as pg_dump writes it."""
    words = [str(embedded.client_program("pg_dump")), "--inserts", "-d", database.dsn]
    return subprocess.run(words, capture_output=True, check=True, text=True).stdout


def rows_of(database: TestDatabase, user: str) -> dict[str, list[Any]]:
    found = {}
    for table in TABLES:
        if table.owner not in ("user", "kind"):
            continue
        column = "user_id" if table.owner == "user" else "owner"
        found[table.name] = database.rows(
            f"SELECT t.ctid::text, t::text FROM negentropy.{table.name} AS t WHERE {column} = %s ORDER BY 1",
            (user,),
        )
    return found


def talk(session: Session, folder: Path, user: str, turns: int = 6) -> None:
    said = [f"{user} 说了第 {n} 句话，住在 {n} 号" for n in range(turns)]
    path = write_lines(
        folder / f"{abs(hash(user))}.jsonl", [conversation("谈话", *said, user=user)]
    )
    Ingest(session, IngestOptions(path=str(path))).run()


@pytest.mark.servers("embedded", "sixteen")
def test_a_dump_holds_nothing_and_others_are_as_they_were(
    database: TestDatabase, tmp_path: Path
) -> None:
    fill_every_column(database, USER, MARKER)
    fill_every_column(database, "bobsmark", "bobsmark")
    written = pg_dump(database)
    held = [
        f"{MARKER}-{table.name}.{name}"
        for table in TABLES
        if table.owner in ("user", "kind") and table.name != "audit_keys"
        for name in table.of_kind("text", "texts", "json", "name", "actor", "terms")
    ]
    assert len(held) > 80 and [one for one in held if one not in written] == []
    with session_on(database, FakeEmbedder(), home=tmp_path / "home") as session:
        with EmbeddingCache(home(session.env) / "cache" / FILE_NAME) as cache:
            CachedEmbedder(FakeEmbedder(), cache).embed_batch([f"{USER} {MARKER} 缓存的话"])
        memories.add(session, USER, f"{USER} {MARKER} 缓存的话")
        facts.set_fact(session, USER, "profile", MARKER, MARKER)
        database.rows(
            "INSERT INTO negentropy.learnings (owner_kind, owner, app_name, title, learning, written_by, body_hash)"
            " VALUES ('team', 't', 'negmem', '标题', '内容', %s, '\\x01')",
            (USER,),
        )
        bob = rows_of(database, "bobsmark")
        planned = erasure.erase(session, USER, dry_run=True)
        assert MARKER in dump(database) and planned.rows > 30
        done = erasure.erase(session, USER)
        assert MARKER not in dump(database) and MARKER not in pg_dump(database)
        assert rows_of(database, "bobsmark") == bob
        assert done.verification and not done.verification.mentions and not done.verification.left
        assert {one.table for one in planned.tables} <= {one.table for one in done.tables} | {
            "users"
        }
        assert [one.table for one in done.names_replaced] == ["learnings"]
        assert done.cached_vectors >= 1 and MARKER not in done.model_dump_json()
        # the row of the other person that stands on no entry was made up above
        assert [one.kind for one in trail.verify(session).faults] == ["details_foreign"]
        again = erasure.erase(session, USER)
        assert again.sha256 == done.sha256, "harmless, and the certificate is at hand"
        memories.add(session, USER, f"{MARKER} 又来了")
        assert erasure.erase(session, USER).erased_before == 1
        assert MARKER not in dump(database)


def test_it_refuses_what_is_no_one_and_tells_who_is_unknown(
    database: TestDatabase, negmem: CliRunner, tmp_path: Path
) -> None:
    with session_on(database) as session:
        for user in ("alice", "bob"):
            memories.add(session, user, f"{user} 记住这个")
        before = dump(database)
        for words in (["--user", ""], ["--user", "%"], ["--user", "*"], ["--user", "ali%"], []):
            refused = negmem("audit", "erase", *words, "--yes")
            assert refused.code == 2, words
        assert negmem("audit", "erase", "--user", "alice").code == 2, "without --yes"
        assert negmem("audit", "erase", "--user", "alice", "--dry-run").code == 0
        unknown = negmem("audit", "erase", "--user", "nobody", "--yes", "--json")
        assert unknown.code == 0 and unknown.json["warnings"][0]["code"] == "user_unknown"
        assert dump(database) == before
        database.rows("UPDATE negentropy.users SET held_at = now() WHERE user_id = 'alice'")
        with pytest.raises(NegmemError) as held:
            erasure.erase(session, "alice")
        assert held.value.code == "user_on_hold"
        database.rows("UPDATE negentropy.users SET held_at = NULL")
        with pytest.raises(UsageError):
            erasure.erase(session, "%")
        file = tmp_path / "certificate.json"
        database.rows(
            "UPDATE negentropy.memories SET content = 'bob kennt alice' WHERE user_id = 'bob'"
        )
        told = negmem("audit", "erase", "--user", "alice", "--yes", "--output", str(file), "--json")
        assert told.code == 3, "bob speaks of alice in his own words"
        assert told.json["verification"]["mentions"] == [{"table": "memories", "rows": 1}]
        assert file.stat().st_mode & 0o077 == 0 and "alice" not in file.read_text()
        assert negmem("audit", "verify", "--certificate", str(file)).code == 0
        assert check_certificate(session, file) == ([], [])
        said = json.loads(file.read_text())
        real = Erased.model_validate_json(json.dumps({k: said[k] for k in Erased.model_fields}))
        (first, *others) = real.tables
        counts = [first.model_copy(update={"rows": first.rows + 1}), *others]
        head = real.trail_head[:-4] + "0000"
        for changed, forged in (
            ({"tables": counts}, False), ({"tables": counts}, True), ({"trail_head": head}, True),
            ({"person": "zz"}, True),
        ):  # fmt: skip
            made = real.model_copy(update=changed)
            made = made.model_copy(update={"sha256": digest_of(made)}) if forged else made
            file.write_text(made.model_dump_json())
            assert negmem("audit", "verify", "--certificate", str(file)).code == 1, changed
        memories.add(session, "alice", "von vorn")
        assert erasure.erase(session, "alice").erased_before == 1
        file.write_text(real.model_dump_json())
        faults, remarks = check_certificate(session, file)
        assert faults == [] and "again" in remarks[0]


def test_writers_are_kept_out_and_others_are_not(database: TestDatabase, tmp_path: Path) -> None:
    with session_on(database, FakeEmbedder()) as session:
        talk(session, tmp_path, USER)
        database.rows(
            "UPDATE negentropy.users SET erasing_since = now() WHERE user_id = %s", (USER,)
        )
        writes = (
            lambda: memories.add(session, USER, "新的"),
            lambda: facts.set_fact(session, USER, "profile", "城市", "北京"),
            lambda: talk(session, tmp_path, USER, 9),
        )
        for write in writes:
            with pytest.raises(NegmemError) as refused:
                write()
            assert refused.value.code == "user_being_erased"
        memories.add(session, "bob", "别人照写")
        # A writer that holds the person is waited for; what it wrote goes too.
        database.rows("UPDATE negentropy.users SET erasing_since = NULL")
        writer = database.connect(autocommit=False)
        writer.execute("SELECT negentropy.admit_writer(%s, 'negmem')", (USER,))
        writer.execute(
            "INSERT INTO negentropy.memories (user_id, app_name, content) VALUES (%s, 'negmem', %s)",
            (USER, f"{MARKER} 刚写的"),
        )
        results: list[Any] = []

        def work() -> None:
            with session_on(database) as mine:
                results.append(erasure.erase(mine, USER))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        writer.commit()
        for thread in threads:
            thread.join()
        assert len(results) == 3 and MARKER not in dump(database)
        whole = max(one.rows for one in results)
        with session_on(database) as session:
            assert erasure.erase(session, USER).rows == whole, (
                "the certificate that is kept counts all"
            )


def test_killed_at_thirty_moments_it_is_finished(database: TestDatabase, tmp_path: Path) -> None:
    chance = random.Random(30)
    killed = 0
    with session_on(database) as session:
        talk(session, tmp_path, "bob", 3)
        bob = rows_of(database, "bob")
        for furthest in (40, 90, 140):
            fill_every_column(database, USER, MARKER)
            memories.add(session, USER, f"{MARKER} 又一句")
            for _ in range(10):
                pid = os.fork()
                if pid == 0:
                    die_at(chance.randint(1, furthest))
                    with session_on(database) as mine:
                        erasure.erase(mine, USER)
                    os._exit(0)
                chance.random()
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                assert code in (0, -signal.SIGKILL)
                killed += code != 0
            done = erasure.erase(session, USER)
            assert done.state == "done" and MARKER not in dump(database), furthest
            counted = {one.table: one.rows for one in done.tables}
            assert (counted["memories"], counted["facts"]) == (2, 1), (furthest, counted)
        assert killed >= 20
        assert rows_of(database, "bob") == bob
        assert trail.verify(session).whole


def die_at(number: int) -> None:
    """Let this process be killed right before or after its statement of this number."""
    execute = psycopg.Cursor.execute
    count = 0

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal count
        count += 1
        if count == number and number % 2:
            os.kill(os.getpid(), signal.SIGKILL)
        result = execute(self, *args, **kwargs)
        if count == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    psycopg.Cursor.execute = counted  # type: ignore[method-assign]


def test_after_a_restore_it_is_done_again(database: TestDatabase, tmp_path: Path) -> None:
    listed, keyed = tmp_path / "list", tmp_path / "keyed"
    with session_on(database) as session:
        for user in (USER, "bob", "carol"):
            memories.add(session, user, f"{user} 说过的话")
        erasure.erase(session, USER)
        write_list(session, listed)
        write_list(session, keyed, with_key=True)
        assert write_list(session, listed).persons == 1
        assert MARKER not in listed.read_text() and listed.stat().st_mode & 0o077 == 0
        memories.add(session, USER, f"{MARKER} 新的开始")
        assert [one.action for one in replay(session, listed).persons] == ["came_later"]
        database.rows(
            "UPDATE negentropy.users SET created_at = now() - interval '1 day' WHERE user_id = %s",
            (USER,),
        )
        assert replay(session, listed, dry_run=True).persons[0].action == "would_be_erased"
        done = replay(session, listed)
        assert done.erased == 1 and MARKER not in dump(database)
        assert memories.list_memories(session, "bob").total == 1
        database.rows(
            "UPDATE negentropy.installation SET id = gen_random_uuid(), erasure_key = sha256('x')"
        )
        memories.add(session, USER, f"{MARKER} 另一处")
        database.rows("UPDATE negentropy.users SET created_at = '2020-01-01'")
        with pytest.raises(UsageError):
            replay(session, listed)
        assert replay(session, keyed).erased == 1 and MARKER not in dump(database)
        for text in ("", "x", '{"format": "negmem.erasures"}', "[]"):
            (tmp_path / "bad").write_text(text)
            with pytest.raises(UsageError):
                replay(session, tmp_path / "bad")


def test_an_objection_outlives_the_erasure(
    database: TestDatabase, negmem: CliRunner, tmp_path: Path
) -> None:
    with session_on(database) as session:
        for user in (USER, "bob"):
            memories.add(session, user, f"{user} 说过的话")
        negmem("user", "pause", "--objection", "--user", USER).ok()
        export_to_file(session, USER, tmp_path / "old.jsonl")
        assert erasure.erase(session, USER).state == "done"
        for act in (
            lambda: memories.add(session, USER, "又来了"),
            lambda: bring_back(session, tmp_path / "old.jsonl"),
        ):
            with pytest.raises(NegmemError) as refused:
                act()
            assert refused.value.code == "user_paused"
        lines = [conversation("谈话", "你好", user=user) for user in (USER, "bob")]
        file = write_lines(tmp_path / "talk.jsonl", lines)
        assert negmem("ingest", file, "--json").json["memories"] == 1, "bob's alone"
        assert negmem("user", "show", "--user", USER, "--json").json["paused_at"]
        assert MARKER not in dump(database)
        erasure.erase(session, USER)  # again, and the wish still stands
        with pytest.raises(NegmemError):
            facts.set_fact(session, USER, "profile", "city", "杭州")
        assert negmem("user", "resume", "--user", USER, "--json").ok().json["changed"]
        memories.add(session, USER, "请再记住我")
        erasure.erase(session, USER)
        memories.add(session, USER, "没有反对")
