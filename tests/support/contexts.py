"""What a context is made of, written by plain SQL as any other client might."""

from __future__ import annotations

import json
from typing import Any

from tests.support.databases import TestDatabase
from tests.support.memories import add_thread


def add_event(
    database: TestDatabase,
    text: str | None,
    *,
    thread: str = "chat",
    author: str = "user",
    position: int = 1,
    kind: str = "message",
    user: str = "ada",
    content: dict[str, Any] | None = None,
) -> None:
    """Append one event to a thread; `content` instead of `text` for other shapes."""
    add_thread(database, thread, user=user)
    body = {"role": author, "parts": [{"text": text}]} if content is None else content
    database.rows(
        """
        INSERT INTO negentropy.events (user_id, app_name, thread_id, author, event_type, content,
            position, content_hash, occurred_at)
        SELECT t.user_id, t.app_name, t.id, %s, %s, %s::jsonb, %s, sha256(%s::bytea),
            now() - interval '1 day' + %s * interval '1 minute'
        FROM negentropy.threads AS t
        WHERE t.user_id = %s AND t.app_name = 'negmem' AND t.external_id = %s
        """,
        (
            author,
            kind,
            json.dumps(body),
            position,
            json.dumps(body).encode(),
            position,
            user,
            thread,
        ),
    )


def add_core(
    database: TestDatabase,
    content: str,
    *,
    scope: str = "user",
    label: str = "persona",
    user: str = "ada",
    thread: str | None = None,
) -> None:
    """Insert one core block."""
    database.rows(
        """
        INSERT INTO negentropy.memory_core_blocks
            (owner_kind, owner, user_id, app_name, scope, thread_id, label, content)
        SELECT CASE WHEN s.scope = 'app' THEN 'global' ELSE 'user' END,
            CASE WHEN s.scope = 'app' THEN '' ELSE s.user_id END,
            CASE WHEN s.scope <> 'app' THEN s.user_id END, 'negmem', s.scope,
            (SELECT t.id FROM negentropy.threads AS t WHERE t.user_id = s.user_id
                AND t.app_name = 'negmem' AND t.external_id = %s),
            %s, %s
        FROM (VALUES (%s, %s)) AS s (scope, user_id)
        """,
        (thread, label, content, scope, user),
    )


def add_fact(
    database: TestDatabase,
    key: str,
    value: Any,
    *,
    fact_type: str = "preference",
    user: str = "ada",
    importance: float = 0.5,
    valid_until: str | None = None,
) -> None:
    """Insert one active fact with its search terms."""
    database.rows(
        """
        WITH added AS (
            INSERT INTO negentropy.facts
                (user_id, app_name, fact_type, key, value, importance_score, valid_until)
            VALUES (%(user)s, 'negmem', %(type)s, %(key)s, %(value)s::jsonb, %(importance)s,
                %(until)s::timestamptz)
            RETURNING id
        ),
        terms AS (
            SELECT a.id, t.term, count(*) AS tf
            FROM added AS a
            CROSS JOIN LATERAL unnest(negentropy.text_terms(%(text)s)) AS t (term)
            GROUP BY a.id, t.term
        ),
        posted AS (
            INSERT INTO negentropy.fact_terms (user_id, app_name, term, fact_id, tf, len)
            SELECT %(user)s, 'negmem', t.term, t.id, t.tf, sum(t.tf) OVER () FROM terms AS t
            RETURNING len
        )
        INSERT INTO negentropy.fact_term_stats AS s (user_id, app_name, documents, total_len)
        SELECT %(user)s, 'negmem', 1, (SELECT max(p.len) FROM posted AS p)
        ON CONFLICT (user_id, app_name) DO UPDATE
            SET documents = s.documents + 1, total_len = s.total_len + excluded.total_len
        """,
        {
            "user": user,
            "type": fact_type,
            "key": key,
            "value": json.dumps(value),
            "importance": importance,
            "until": valid_until,
            "text": f"{key}: {value}",
        },
    )


def add_summary(
    database: TestDatabase, content: str, *, user: str = "ada", hours_old: float = 0
) -> None:
    """Insert the summary of a user, as old as is said."""
    database.rows(
        "INSERT INTO negentropy.memory_summaries (user_id, app_name, content, updated_at)"
        " VALUES (%s, 'negmem', %s, now() - %s * interval '1 hour')",
        (user, content, hours_old),
    )


def add_instruction(database: TestDatabase, key: str, content: str, version: int = 1) -> None:
    """Insert one version of an instruction of the app."""
    database.rows(
        "INSERT INTO negentropy.instructions (app_name, instruction_key, content, version)"
        " VALUES ('negmem', %s, %s, %s)",
        (key, content, version),
    )


def add_learning(
    database: TestDatabase, title: str, learning: str, *, kind: str = "global", owner: str = ""
) -> None:
    """Insert one learning with its search terms."""
    database.rows(
        """
        WITH added AS (
            INSERT INTO negentropy.learnings (owner_kind, owner, app_name, title, learning, body_hash)
            VALUES (%(kind)s, %(owner)s, 'negmem', %(title)s, %(learning)s,
                sha256(convert_to(%(learning)s, 'UTF8')))
            RETURNING id
        ),
        terms AS (
            SELECT a.id, t.term, count(*) AS tf
            FROM added AS a
            CROSS JOIN LATERAL unnest(negentropy.text_terms(%(title)s || ' ' || %(learning)s)) AS t (term)
            GROUP BY a.id, t.term
        ),
        posted AS (
            INSERT INTO negentropy.shared_terms
                (owner_kind, owner, app_name, item_kind, term, item_id, tf, len)
            SELECT %(kind)s, %(owner)s, 'negmem', 'learning', t.term, t.id, t.tf, sum(t.tf) OVER ()
            FROM terms AS t
            RETURNING len
        )
        INSERT INTO negentropy.shared_term_stats AS s
            (owner_kind, owner, app_name, item_kind, documents, total_len)
        SELECT %(kind)s, %(owner)s, 'negmem', 'learning', 1, (SELECT max(p.len) FROM posted AS p)
        ON CONFLICT (owner_kind, owner, app_name, item_kind) DO UPDATE
            SET documents = s.documents + 1, total_len = s.total_len + excluded.total_len
        """,
        {"kind": kind, "owner": owner, "title": title, "learning": learning},
    )
