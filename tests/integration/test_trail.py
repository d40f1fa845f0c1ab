"""The trail proves itself: what was tampered with is found and located, and nothing else is."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from negmem.core.governance import trail
from negmem.core.models.audit import TrailVerified
from negmem.core.session import Session
from negmem.errors import UsageError
from tests.support.cli import CliRunner
from tests.support.databases import TestDatabase
from tests.support.ingesting import session_on
from tests.support.roles import as_role, login_role

ENTRIES = 30
TAMPERINGS = 1000
RECORD = (
    "SELECT negentropy.record_audit_entries('negmem', %s, ARRAY[%s], %s, %s, %s, %s)"  # one entry
)
Row = dict[str, Any]


def fill(database: TestDatabase) -> None:
    for number in range(ENTRIES):
        values = (
            ("alice", "小明")[number % 2], f"m{number % 7}", ("delete", "retain")[number % 3 == 0],
            None if number % 5 == 0 else f"因为 {number}", f"k{number}", None if number % 4 else "dpo",
        )  # fmt: skip
        database.rows(RECORD, values)


class Undone(Exception):
    """Takes a tampering back."""


def after(
    session: Session,
    act: Callable[[psycopg.Connection[Any]], object],
    heads: list[tuple[int, str]],
) -> TrailVerified:
    """What is found when `act` was done past the triggers, which is taken back."""
    found: list[TrailVerified] = []
    try:
        with session.database.transaction() as connection:
            connection.execute("SET LOCAL session_replication_role = replica")
            act(connection)
            found.append(trail.check(session, heads))
            raise Undone
    except Undone:
        return found[0]


COLUMNS: dict[str, Callable[[random.Random], str]] = {
    "decision": lambda r: "'retain'" if r.random() < 0.5 else "'delete'",
    "user_id": lambda r: f"md5('{r.random()}')",
    "memory_id": lambda r: f"'m{r.randrange(100, 999)}'",
    "note": lambda r: f"md5('{r.random()}')",
    "idempotency_key": lambda r: f"md5('{r.random()}')",
    "actor": lambda r: f"md5('{r.random()}')",
    "actor_verified": lambda r: "NOT actor_verified",
    "version": lambda r: f"version + {r.randrange(50, 90)}",
    "id": lambda r: "gen_random_uuid()",
    "created_at": lambda r: f"created_at - interval '{r.randrange(1, 99)} ms'",
    "updated_at": lambda r: "updated_at + interval '1 us'",
    "entry_hash": lambda r: f"sha256('{r.random()}')",
    "previous_hash": lambda r: f"sha256('{r.random()}')",
    "sequence": lambda r: f"sequence + {r.randrange(1000, 2000)}",
}
T = "negentropy.memory_audit_logs"
# Every entry from one on, as somebody would write them who knows how.
REWRITE = f"""
DO $$
DECLARE e record; last bytea; n bigint;
BEGIN
    SELECT entry_hash, sequence INTO last, n FROM {T} WHERE sequence < {{first}} ORDER BY sequence DESC LIMIT 1;
    IF last IS NULL THEN last := sha256(convert_to('negmem:trail:negmem', 'UTF8')); n := 0; END IF;
    FOR e IN SELECT * FROM {T} WHERE sequence >= {{first}} ORDER BY sequence LOOP
        n := n + 1;
        UPDATE {T} SET sequence = n, previous_hash = last, entry_hash = negentropy.audit_entry_hash(last, n, id,
            app_name, user_id, memory_id, decision, note, idempotency_key, actor, actor_verified, version, created_at)
        WHERE id = e.id RETURNING entry_hash INTO last;
    END LOOP;
END $$
"""
FORGE = f"""
INSERT INTO {T} (app_name, user_id, memory_id, decision, actor, sequence, previous_hash, entry_hash, version)
SELECT app_name, user_id, memory_id, 'delete', actor, {{at}}, previous_hash, entry_hash, version + 100
FROM {T} WHERE sequence = {{like}}
"""


def tamper(chance: random.Random) -> tuple[str, list[str], set[int]]:
    """A name, what is done, and the entries at one of which it must be found."""
    first = chance.randrange(1, ENTRIES + 1)
    kind = chance.choice(
        (*COLUMNS, *COLUMNS, "delete", "cut", "swap", "insert", "rewrite", "rewrite_delete", "text")
    )
    if kind in COLUMNS:
        change = f"UPDATE {T} SET {kind} = {COLUMNS[kind](chance)} WHERE sequence = {first}"
        if kind == "decision":
            change += f" AND decision <> {change.split('decision = ')[1].split(' ')[0]}"
        return kind, [change], {first}
    if kind == "delete":
        count = chance.randrange(1, 4)
        last = min(ENTRIES, first + count - 1)
        gone = f"DELETE FROM {T} WHERE sequence BETWEEN {first} AND {last}"
        return kind, [gone], set(range(first, last + 2))
    if kind == "cut":
        return kind, [f"DELETE FROM {T} WHERE sequence >= {first}"], set(range(first, ENTRIES + 1))
    if kind == "swap":
        other = chance.choice([n for n in range(1, ENTRIES + 1) if n != first])
        moves = [(first, -1), (other, first), (-1, other)]
        acts = [f"UPDATE {T} SET sequence = {b} WHERE sequence = {a}" for a, b in moves]
        return kind, acts, {first, other}
    if kind == "insert":
        shift = [
            f"UPDATE {T} SET sequence = -sequence - 1 WHERE sequence >= {first}",
            f"UPDATE {T} SET sequence = -sequence WHERE sequence < 0",
        ]
        like = first + 1
        return kind, [*shift, FORGE.format(at=first, like=like)], set(range(first, ENTRIES + 2))
    if kind == "text":
        column = chance.choice(("note", "actor", "idempotency_key"))
        where = f"WHERE d.log_id = (SELECT id FROM {T} WHERE sequence = {first})"
        change = f"UPDATE negentropy.audit_details AS d SET {column} = 'x{chance.random()}' {where}"
        gone = f"DELETE FROM negentropy.audit_details AS d {where}"
        return kind, [chance.choice((change, gone))], {first}
    act = f"UPDATE {T} SET version = version + 70 WHERE sequence = {first}"
    if kind == "rewrite_delete":
        act = f"DELETE FROM {T} WHERE sequence = {first}"
    return kind, [act, REWRITE.format(first=first)], set(range(first, ENTRIES + 1))


def test_a_thousand_tamperings_are_found_and_located(database: TestDatabase) -> None:
    fill(database)
    chance = random.Random(20261130)
    with session_on(database) as session:
        end = trail.head(session)
        heads = [(end.sequence, end.entry_hash)]
        changed = 0
        for number in range(TAMPERINGS):
            kind, acts, places = tamper(chance)
            touched = [0]

            def act(
                connection: psycopg.Connection[Any],
                acts: list[str] = acts,
                touched: list[int] = touched,
            ) -> None:
                for one in acts:
                    touched[0] += max(0, connection.execute(one.encode()).rowcount)

            found = after(session, act, heads)
            if not touched[0]:  # the value was that already
                assert found.whole, (number, kind, acts, found.faults)
                continue
            changed += 1
            assert not found.whole, (number, kind, acts)
            at = found.faults[0]
            spans = [set(range(f.first, (f.last or f.first) + 1)) for f in found.faults if f.first]
            assert any(span & places for span in spans), (number, kind, acts, found.faults)
            assert at.said
        assert changed > TAMPERINGS * 0.9
        whole = trail.verify(session, [end.head])
        assert whole.whole and whole.proven_to == ENTRIES
        assert ["signature" in one for one in whole.remarks] == [True], "no key is set outside"


def test_what_it_can_and_can_not_prove(
    database: TestDatabase, negmem: CliRunner, tmp_path: Path
) -> None:
    empty = negmem("audit", "verify", "--json")
    assert empty.code == 0 and empty.json["entries"] == 0
    fill(database)
    with session_on(database) as session:
        early = negmem("audit", "head").stdout.strip()
        database.rows(RECORD, ("alice", "m1", "delete", None, None, None))
        kept = tmp_path / "heads.txt"
        kept.write_text(early + "\n", encoding="utf-8")
        told = negmem("audit", "verify", "--head", str(kept), "--json")
        assert told.code == 0 and told.json["proven_to"] == ENTRIES and told.json["remarks"]
        assert "can't be told" in negmem("audit", "verify").stdout

        def rewrite(connection: psycopg.Connection[Any]) -> None:
            connection.execute(f"UPDATE {T} SET version = 99 WHERE sequence = 20".encode())
            connection.execute(REWRITE.format(first=20).encode())

        late = trail.head(session)
        heads = [(1, digest_of(database, 1)), (ENTRIES, early.rsplit(":", 1)[1])]
        assert after(session, rewrite, []).whole, "a head is what finds a rewritten chain"
        found = after(session, rewrite, heads)
        assert [(f.kind, f.first, f.last) for f in found.faults] == [("rewritten", 2, ENTRIES)]

        def erase(connection: psycopg.Connection[Any]) -> None:
            for table in ("audit_details", "audit_keys"):
                connection.execute(
                    f"DELETE FROM negentropy.{table} WHERE user_id = 'alice'".encode()
                )

        found = after(session, erase, [(late.sequence, late.entry_hash)])
        assert found.whole and "erased" in found.remarks[0]
        with pytest.raises(UsageError):
            trail.verify(session, ["negmem-head:other:1:" + "0" * 64])
        with pytest.raises(UsageError):
            trail.verify(session, ["nowhere"])
    database.rows(
        "SET session_replication_role = replica; DELETE FROM negentropy.memory_audit_logs WHERE sequence = 3"
    )
    broken = negmem("audit", "verify", "--json")
    assert broken.code == 1 and broken.json["faults"][0]["first"] == 3


def test_a_head_under_a_key_outside_can_not_be_made_up(
    database: TestDatabase, negmem: CliRunner
) -> None:
    fill(database)
    env = {"NEGMEM_GOVERNANCE__TRAIL_KEY_ENV": "TRAIL_KEY", "TRAIL_KEY": "a key that nobody knows"}
    kept = negmem("audit", "head", env=env).ok().stdout.strip()
    plain = kept.rpartition(":")[0]
    assert plain == negmem("audit", "head").ok().stdout.strip(), "without a key it is not signed"
    told = negmem("audit", "verify", "--head", kept, "--json", env=env)
    assert told.code == 0 and told.json["proven_to"] == ENTRIES and not told.json["remarks"]
    other = {**env, "TRAIL_KEY": "a key of somebody else"}
    for forged, given in ((kept, other), (f"{plain}:{'0' * 64}", env)):
        told = negmem("audit", "verify", "--head", forged, "--json", env=given)
        assert told.code == 1 and told.json["faults"][0]["kind"] == "head_forged"
        assert told.json["proven_to"] is None
    for head, given in ((kept, {}), (plain, env)):
        told = negmem("audit", "verify", "--head", head, "--json", env=given)
        assert told.code == 0 and "without a signature" in told.json["remarks"][0], head
    missing = negmem("audit", "head", "--json", env={**env, "TRAIL_KEY": "short"})
    assert missing.code == 1 and missing.json["error"]["code"] == "trail_key_missing"


def digest_of(database: TestDatabase, sequence: int) -> str:
    return str(
        database.value(f"SELECT encode(entry_hash, 'hex') FROM {T} WHERE sequence = {sequence}")
    )


@pytest.mark.servers("full", "sixteen")
def test_nobody_changes_it_and_not_everybody_writes_it(database: TestDatabase) -> None:
    fill(database)
    for act in (f"UPDATE {T} SET version = 9", f"DELETE FROM {T}", f"TRUNCATE {T}"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
            database.rows(act)
    with login_role(database.server, database.name) as role:
        database.rows(f'GRANT USAGE ON SCHEMA negentropy TO "{role}"')
        with psycopg.connect(as_role(database.dsn, role), autocommit=True) as stranger:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                stranger.execute(RECORD, ("alice", "m1", "delete", None, None, None))
            database.rows(f'GRANT SELECT, UPDATE ON negentropy.memories TO "{role}"')
            stranger.execute(RECORD, ("alice", "m1", "delete", None, None, None))
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                stranger.execute(f"SELECT count(*) FROM {T}")
    assert database.value(f"SELECT count(*) FROM {T}") == ENTRIES + 1
    with session_on(database) as session:
        assert not any("trigger" in said for said in trail.verify(session).remarks)
        for act in ("DISABLE", "ENABLE REPLICA"):
            database.rows(f"ALTER TABLE {T} {act} TRIGGER memory_audit_logs_append_only")
            assert any("trigger" in said for said in trail.verify(session).remarks), act
