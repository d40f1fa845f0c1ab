"""Memories for tests, written by plain SQL as any other client might."""

from __future__ import annotations

from typing import Any

from tests.support.databases import TestDatabase


def add_memory(
    database: TestDatabase,
    content: str = "我喜欢喝咖啡",
    *,
    user: str = "ada",
    app: str = "negmem",
    days: float = 0.0,
    accessed_days: float | None = None,
    memory_type: str = "episodic",
    access_count: int = 0,
    thread: str | None = None,
    metadata: str = "{}",
    pinned: bool = False,
) -> str:
    """Insert one memory that was created `days` and last read `accessed_days` ago; returns its id."""
    if thread is not None:
        add_thread(database, thread, user=user, app=app)
    return str(
        database.value(
            """
            INSERT INTO negentropy.memories (user_id, app_name, thread_id, content, memory_type,
                access_count, created_at, last_accessed_at, metadata, pinned_at)
            VALUES (%(user)s::varchar, %(app)s::varchar,
                (SELECT t.id FROM negentropy.threads AS t WHERE t.user_id = %(user)s::varchar
                    AND t.app_name = %(app)s::varchar AND t.external_id = %(thread)s::text),
                %(content)s, %(type)s::varchar, %(count)s,
                now() - %(days)s * interval '24 hours', now() - %(accessed)s * interval '24 hours',
                %(metadata)s::jsonb, CASE WHEN %(pinned)s::boolean THEN now() END)
            RETURNING id
            """,
            {
                "user": user,
                "app": app,
                "thread": thread,
                "content": content,
                "type": memory_type,
                "count": access_count,
                "days": days,
                "accessed": days if accessed_days is None else accessed_days,
                "metadata": metadata,
                "pinned": pinned,
            },
        )
    )


def add_many(
    database: TestDatabase, count: int, *, user: str = "ada", app: str = "negmem", days: float = 60
) -> None:
    """Insert `count` memories of one age, with search terms."""
    database.rows(
        """
        INSERT INTO negentropy.memories (user_id, app_name, content, created_at, last_accessed_at)
        SELECT %(user)s::varchar, %(app)s::varchar, 'number ' || n || ' 第' || n || '条',
            now() - %(days)s * interval '24 hours' - n * interval '1 second',
            now() - %(days)s * interval '24 hours' - n * interval '1 second'
        FROM generate_series(1, %(count)s) AS n
        """,
        {"user": user, "app": app, "count": count, "days": days},
    )


def add_thread(
    database: TestDatabase, name: str, *, user: str = "ada", app: str = "negmem"
) -> None:
    """Insert a thread unless it is there."""
    database.rows(
        """
        INSERT INTO negentropy.threads (user_id, app_name, external_id) VALUES (%s, %s, %s)
        ON CONFLICT DO NOTHING
        """,
        (user, app, name),
    )


def add_app(database: TestDatabase, app: str, **retention: Any) -> None:
    """Give an app a config of its own."""
    database.rows(
        """
        INSERT INTO negentropy.memory_automation_configs (app_name, config)
        SELECT %s, jsonb_set(c.config, '{retention}', c.config -> 'retention' || %s::jsonb)
        FROM negentropy.memory_automation_configs AS c
        WHERE c.is_main
        """,
        (app, _json(retention)),
    )


def live(database: TestDatabase, *, user: str = "ada", app: str = "negmem") -> set[str]:
    """The ids of a user's live memories."""
    found = database.rows(
        """
        SELECT id::text FROM negentropy.memories
        WHERE user_id = %s AND app_name = %s AND deleted_at IS NULL
        """,
        (user, app),
    )
    return {row[0] for row in found}


def _json(values: dict[str, Any]) -> str:
    import json

    return json.dumps(values)
