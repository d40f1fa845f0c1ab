-- The queue of consolidation, and what its jobs read.

-- name: turns
-- params: user_id, app_name, thread_id, since, before
-- returns: the turns of a thread that were recorded from `since` on (null: all), in their order, and up to
--   `before` turns that stand before the first of them, marked as not new
-- The words are those of the turn's memory, as it was edited or masked, else the event's own. A turn whose
-- memory somebody removed is left out; one that faded or was merged into another is not.
WITH said AS MATERIALIZED (
    SELECT e.id AS event_id, e.position, e.sequence_num, e.event_type, e.author, e.content, e.occurred_at,
        %(since)s::timestamptz IS NULL OR e.created_at >= %(since)s::timestamptz AS is_new
    FROM :"schema".events AS e
    WHERE e.user_id = %(user_id)s::varchar AND e.app_name = %(app_name)s::varchar
        AND e.thread_id = %(thread_id)s::uuid
),
ranked AS (
    SELECT s.*, row_number() OVER (ORDER BY s.position, s.sequence_num) AS place FROM said AS s
)
SELECT r.event_id, r.position, r.event_type::text AS kind, r.content ->> 'role' AS role,
    COALESCE(r.content ->> 'speaker', NULLIF(r.author, r.content ->> 'role'))::text AS speaker,
    COALESCE(m.content, :"schema".event_text(r.content), '') AS text, r.occurred_at, r.is_new,
    m.id AS memory_id
FROM ranked AS r
LEFT JOIN LATERAL (
    SELECT one.id, one.content,
        one.deleted_at IS NOT NULL AND COALESCE(one.deleted_reason, '') <> 'retention'
            AND NOT COALESCE(one.metadata ? 'merged_into', false) AS is_removed
    FROM :"schema".item_sources AS s
    JOIN :"schema".memories AS one
        ON one.user_id = s.user_id AND one.app_name = s.app_name AND one.id = s.item_id
    WHERE s.user_id = %(user_id)s::varchar AND s.app_name = %(app_name)s::varchar
        AND s.event_id = r.event_id AND s.item_kind = 'memory' AND s.extractor = 'ingest'
    LIMIT 1
) AS m ON true
WHERE m.is_removed IS NOT TRUE
    AND r.place >= (SELECT min(n.place) FROM ranked AS n WHERE n.is_new) - %(before)s::integer
ORDER BY r.place;
