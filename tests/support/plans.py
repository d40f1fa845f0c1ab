"""Plans of statements inside functions, as the server ran them; and a user's memories in bulk to plan for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tests.support.databases import TestDatabase
from tests.support.embedder import hash_vector

WORDS = [
    "tea",
    "coffee",
    "绿茶",
    "咖啡",
    "river",
    "mountain",
    "violin",
    "zeppelin",
    "garden",
    "winter",
]


def fill_indexed(database: TestDatabase, user: str, count: int) -> None:
    """Memories with terms and vectors, in bulk; vectors are those of one of ten words."""
    database.rows(
        "INSERT INTO negentropy.users (user_id, app_name) VALUES (%s, 'negmem')"
        " ON CONFLICT DO NOTHING",
        (user,),
    )
    vectors = [str(hash_vector(word, 32)) for word in WORDS]
    database.rows(
        """
        WITH added AS (
            INSERT INTO negentropy.memories (user_id, app_name, content, metadata)
            SELECT %(user)s, 'negmem', 'note ' || n || ' about ' || (%(words)s::text[])[1 + n %% 10],
                jsonb_build_object('n', n)
            FROM generate_series(1, %(count)s) AS n
            RETURNING id, metadata
        )
        INSERT INTO negentropy.memory_vectors (user_id, app_name, memory_id, model_id, bits, embedding)
        SELECT %(user)s, 'negmem', a.id, m.id, negentropy.embedding_bits(v::vector, m.mean), v::halfvec
        FROM added AS a
        CROSS JOIN LATERAL (SELECT (%(vectors)s::text[])[1 + (a.metadata ->> 'n')::int %% 10]) AS x (v)
        CROSS JOIN negentropy.embedding_models AS m
        """,
        {"user": user, "count": count, "words": WORDS, "vectors": vectors},
    )
    database.rows(
        "SELECT negentropy.index_memories(%(user)s, 'negmem',"
        " ARRAY(SELECT id FROM negentropy.memories WHERE user_id = %(user)s))",
        {"user": user},
    )


def vacuum_indexed(database: TestDatabase) -> None:
    """What index-only scans and estimates rest on."""
    database.rows("VACUUM (ANALYZE) negentropy.memory_terms, negentropy.memory_vectors")
    database.rows("VACUUM (ANALYZE) negentropy.memories")


def nested_plans(
    database: TestDatabase,
    statement: str,
    params: Sequence[Any],
    *,
    role: str | None = None,
    person: str | None = None,
) -> list[str]:
    """The plans of all that ran inside a statement, each with its text.

    Args: role, who runs it, by SET ROLE; person, whom row-level security shows.
    """
    notices: list[str] = []
    with database.connect() as connection:
        connection.add_notice_handler(lambda note: notices.append(note.message_primary or ""))
        connection.execute("LOAD 'auto_explain'")
        for name, value in {
            "log_min_duration": "0",
            "log_analyze": "on",
            "log_nested_statements": "on",
            "log_level": "notice",
        }.items():
            connection.execute(f"SET auto_explain.{name} = '{value}'".encode())
        connection.execute("SELECT set_config('negmem.user_id', %s, false)", (person or "",))
        if role is not None:
            connection.execute(f'SET ROLE "{role}"'.encode())
        notices.clear()
        connection.execute(statement.encode(), params)
    return notices


def plan_of_search(database: TestDatabase, user: str, *, role: str | None = None) -> str:
    """The plans of the ranking, from inside the function."""
    told = nested_plans(
        database,
        "SELECT * FROM negentropy.search_items(%s, 'negmem', 'tea by the river 绿茶', %s::vector)",
        (user, str(hash_vector("tea by the river 绿茶", 32))),
        role=role,
        person=user,
    )
    plans = [text for text in told if re.search("AS bm25|CTE known|<~>", text)]
    assert len(plans) > 1
    return "\n".join(plans)


def scans(plan: str) -> list[str]:
    """The scans of tables that ran, with the condition or filter after each."""
    lines = plan.splitlines()
    return [
        f"{line.strip()} {lines[number + 1].strip()}"
        for number, line in enumerate(lines)
        if re.search(r"Scan .*on (memory_|memories)", line) and "never executed" not in line
    ]
