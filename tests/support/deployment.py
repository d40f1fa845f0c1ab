"""A deployment with months behind it, and with texts that would break out of a page if they could."""

from __future__ import annotations

from tests.support.databases import TestDatabase

HOSTILE = "</style></title><script>alert('出去')</script><img src=http://evil.example/x onerror=alert(1)>\"'&"
TURNED = "abc\u202egpj.exe"
USERS = ("ada", "李雷", "bob", "erin", "noor", HOSTILE)
SHARED = "coffee_咖啡"

_USERS = """
    INSERT INTO negentropy.users (user_id, app_name)
    SELECT u, 'negmem' FROM unnest(%(users)s::text[]) AS u
"""
_MEMORIES = """
    INSERT INTO negentropy.memories (user_id, app_name, memory_type, content, created_at, last_accessed_at,
        access_count, importance_score, pinned_at, deleted_at, deleted_reason)
    SELECT (%(users)s::text[])[1 + n %% 6], 'negmem',
        CASE n %% 9 WHEN 0 THEN 'core' WHEN 1 THEN 'semantic' WHEN 2 THEN left(%(hostile)s, 50)
            ELSE 'episodic' END,
        %(hostile)s || ' 记住 ' || n, at, at + interval '1 day' * (n %% 5), n %% 4, (n %% 10) / 10.0,
        CASE WHEN n %% 31 = 0 THEN at END, CASE WHEN n %% 13 = 0 THEN now() - interval '2 days' END,
        CASE WHEN n %% 13 = 0 THEN 'retention' END
    FROM generate_series(1, %(memories)s) AS n
    CROSS JOIN LATERAL (SELECT now() - interval '7 hours' * n AS at) AS stored
"""
_STATISTICS = """
    INSERT INTO negentropy.memory_term_stats (user_id, app_name, documents, total_len)
    SELECT m.user_id, m.app_name, count(*), 10 * count(*) FROM negentropy.memories AS m
    WHERE m.deleted_at IS NULL GROUP BY 1, 2
"""
_LOGS = """
    INSERT INTO negentropy.memory_retrieval_logs (user_id, app_name, query, retrieved_memory_ids, search_level,
        fallbacks, latency_ms, budget_tokens, used_tokens, applied_at, created_at)
    SELECT (%(users)s::text[])[1 + n %% 6], 'negmem', %(hostile)s || n,
        CASE WHEN n %% 5 = 0 THEN '{}' ELSE ARRAY[gen_random_uuid()] END,
        'hybrid', CASE WHEN n %% 7 = 0 THEN '[{"code": "embedder_timeout"}]' ELSE '[]' END::jsonb, 10 + n %% 40,
        CASE WHEN n %% 3 = 0 THEN 1000 END, CASE WHEN n %% 3 = 0 THEN 600 END, now(), now() - interval '3 hours' * n
    FROM generate_series(1, 300) AS n
"""
_JOBS = """
    INSERT INTO negentropy.consolidation_jobs (user_id, app_name, thread_id, status, job_type, result,
        created_at, completed_at)
    SELECT 'ada', 'negmem', gen_random_uuid(), 'completed', 'fast_replay', jsonb_build_object('llm',
        jsonb_build_object('model', %(hostile)s::text, 'calls', 2, 'prompt_tokens', 900, 'completion_tokens', 100,
            'cost_usd', CASE WHEN n %% 4 > 0 THEN 0.01 END, 'fallbacks', 1)),
        now() - interval '1 day' * n, now() - interval '1 day' * n
    FROM generate_series(1, 20) AS n
"""
_TOPICS = """
    INSERT INTO negentropy.memory_topics (user_id, app_name, label, model_id, centroid, member_count)
    SELECT u, 'negmem', l, 1, '[1]'::vector, 7
    FROM unnest(%(users)s::text[]) AS u CROSS JOIN (VALUES (%(shared)s::text)) AS x (l)
    WHERE u <> 'bob'
    UNION ALL SELECT u, 'negmem', 'divorce_离婚', 1, '[1]'::vector, 50 FROM unnest(ARRAY['ada', 'bob', 'erin', 'noor']) AS u
    UNION ALL SELECT 'ada', 'negmem', left(%(hostile)s, 200) || %(turned)s, 1, '[1]'::vector, 99
"""
_RUNS = """
    INSERT INTO negentropy.automation_runs (job, source, status, message, started_at, finished_at)
    SELECT 'cleanup_memories', 'manual', CASE n WHEN 1 THEN 'failed' ELSE 'succeeded' END, %(hostile)s,
        now() - interval '1 day' * n, now() - interval '1 day' * n
    FROM generate_series(1, 5) AS n
"""
_BENCHMARKS = """
    INSERT INTO negentropy.benchmark_runs (kind, dataset, data_hash, config, metrics, started_at, finished_at)
    SELECT 'retrieval', left(%(hostile)s, 60), 'h', jsonb_build_object('name', %(hostile)s::text),
        jsonb_build_object('recall@5', 0.9 - n / 10.0), now() - interval '1 day' * (9 - n), now()
    FROM generate_series(1, 3) AS n
"""


def fill(database: TestDatabase, memories: int = 900) -> None:
    """Months of memories, searches, jobs, runs and topics of six users, one of them hostile by name."""
    values = {
        "users": list(USERS),
        "hostile": HOSTILE,
        "turned": TURNED,
        "shared": SHARED,
        "memories": memories,
    }
    for statement in (_USERS, _MEMORIES, _STATISTICS, _LOGS, _JOBS, _TOPICS, _RUNS, _BENCHMARKS):
        database.rows(statement, values)
