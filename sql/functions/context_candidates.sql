-- What belongs into a context whatever is asked: the user's summary, core blocks, instructions, the profile, and
-- what was last said.
--
--   summary   of the user, unless something that it was made of was removed, or it is older than a day and something
--             was said since
--   instruction  of the app, the newest version of each key
--   core      blocks of the thread, then of the app, then of the user; newer versions first
--   profile   active facts of type profile, the more important first
--   history   messages of one thread, newest first: the named one, else the one that changed last. Calls of
--             tools and what has no text are no part of it
--
-- callers: get_context_window(), context_page()
-- locks: none beyond reading
-- volatility: STABLE, it reads tables and now()
-- returns: candidates by section, best first by rank

CREATE OR REPLACE FUNCTION :"schema".context_candidates(
    p_user_id text,
    p_app_name text,
    p_thread_id uuid DEFAULT NULL
)
RETURNS TABLE (
    section text,
    rank bigint,
    id uuid,
    label text,
    content text,
    occurred_at timestamptz,
    thread_id uuid,
    thread text
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
-- Planned for each call the statement costs more than it takes.
SET plan_cache_mode = force_generic_plan
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH thread AS (
        SELECT t.id, t.external_id
        FROM threads AS t
        WHERE t.user_id = p_user_id AND t.app_name = p_app_name AND (p_thread_id IS NULL OR t.id = p_thread_id)
        ORDER BY t.updated_at DESC, t.occurred_at DESC NULLS LAST, t.id
        LIMIT 1
    )
    (
        SELECT 'core', row_number() OVER (ORDER BY
                array_position('{thread,app,user}'::text[], b.scope::text), b.version DESC, b.label, b.id),
            b.id, b.scope || ':' || b.label, b.content, b.updated_at, b.thread_id, NULL::text
        FROM memory_core_blocks AS b
        WHERE b.app_name = p_app_name
            AND (b.owner_kind, b.owner) IN (('user', p_user_id), ('global', ''))
            AND (b.thread_id IS NULL OR b.thread_id = (SELECT h.id FROM thread AS h))
        ORDER BY 2
        LIMIT 100
    )
    UNION ALL
    SELECT 'summary', 1, u.id, u.summary_type::text, u.content, u.updated_at, NULL, NULL
    FROM memory_summaries AS u
    WHERE u.user_id = p_user_id AND u.app_name = p_app_name AND u.summary_type = 'user_profile'
        AND u.thread_id IS NULL
        AND (u.updated_at > now() - interval '24 hours' OR NOT EXISTS (
            SELECT FROM memories AS m
            WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.deleted_at IS NULL
                AND m.created_at > u.updated_at))
        AND summary_sources_gone(p_user_id, p_app_name, u.details) = 0
    UNION ALL
    (
        SELECT 'instruction', row_number() OVER (ORDER BY i.instruction_key), i.id, i.instruction_key::text,
            i.content, i.created_at, NULL, NULL
        FROM (
            SELECT DISTINCT ON (one.instruction_key) one.id, one.instruction_key, one.content, one.created_at
            FROM instructions AS one
            WHERE one.app_name = p_app_name
            ORDER BY one.instruction_key, one.version DESC
        ) AS i
        WHERE btrim(i.content, E' \n\r\t') <> ''
        ORDER BY 2
        LIMIT 100
    )
    UNION ALL
    (
        SELECT 'profile', row_number() OVER (ORDER BY f.importance_score DESC, f.key, f.id),
            f.id, f.key::text, fact_text(f.key, f.value), f.valid_from, f.thread_id, NULL
        FROM facts AS f
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.fact_type = 'profile'
            AND f.status = 'active' AND f.deleted_at IS NULL
            AND (f.valid_from IS NULL OR f.valid_from <= now())
            AND (f.valid_until IS NULL OR f.valid_until > now())
        ORDER BY 2
        LIMIT 200
    )
    UNION ALL
    SELECT 'history', row_number() OVER (ORDER BY said.sequence_num DESC), said.id, said.author::text,
        said.words, said.occurred_at, said.thread_id, (SELECT h.external_id FROM thread AS h)
    FROM (
        SELECT e.id, e.author, t.words, e.occurred_at, e.thread_id, e.sequence_num
        FROM events AS e
        -- The usual form is read without a call; OFFSET keeps the text from being made twice.
        CROSS JOIN LATERAL (
            SELECT CASE WHEN jsonb_typeof(e.content -> 'parts') = 'array' AND e.content #> '{parts,1}' IS NULL
                AND jsonb_typeof(e.content #> '{parts,0,text}') = 'string'
                THEN e.content #>> '{parts,0,text}' ELSE event_text(e.content) END AS words
            OFFSET 0
        ) AS t
        WHERE e.user_id = p_user_id AND e.app_name = p_app_name AND e.thread_id = (SELECT h.id FROM thread AS h)
            AND e.event_type = 'message' AND btrim(t.words, E' \n\r\t') <> ''
        ORDER BY e.sequence_num DESC
        LIMIT 200
    ) AS said
    ORDER BY 1, 2;
END
$function$;
