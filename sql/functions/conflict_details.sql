-- Conflicts with both of their facts as they stand now, and each decision about them.
--
-- callers: queries/conflicts.sql
-- volatility: STABLE, it reads tables
-- returns: a row a conflict; old and new are null where the fact was erased

CREATE OR REPLACE FUNCTION :"schema".conflict_details(p_user_id text, p_app_name text, p_ids uuid[])
RETURNS TABLE (
    id uuid,
    "user" text,
    app text,
    type text,
    resolution text,
    status text,
    detected_by text,
    confidence_delta double precision,
    similarity double precision,
    old jsonb,
    new jsonb,
    resolved_by text,
    can_undo boolean,
    steps jsonb,
    created_at timestamptz,
    updated_at timestamptz
)
LANGUAGE sql
STABLE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    WITH sides AS (
        SELECT f.id, jsonb_build_object('id', f.id, 'type', f.fact_type, 'key', f.key, 'value', f.value,
            'confidence', f.confidence, 'origin', f.origin, 'status', f.status, 'valid_from', f.valid_from,
            'valid_until', NULLIF(f.valid_until, 'infinity')) AS side
        FROM facts AS f
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id IN (
            SELECT unnest(ARRAY[c.old_fact_id, c.new_fact_id])
            FROM memory_conflicts AS c
            WHERE c.user_id = p_user_id AND c.app_name = p_app_name AND c.id = ANY (p_ids))
    )
    SELECT c.id, c.user_id::text, c.app_name::text, c.conflict_type::text, c.resolution::text, c.status::text,
        c.detected_by::text, c.confidence_delta, (c.metadata ->> 'similarity')::float8, o.side, n.side, c.resolved_by,
        COALESCE(c.metadata -> 'undo', '[]') <> '[]', COALESCE(c.metadata -> 'steps', '[]'), c.created_at, c.updated_at
    FROM memory_conflicts AS c
    LEFT JOIN sides AS o ON o.id = c.old_fact_id
    LEFT JOIN sides AS n ON n.id = c.new_fact_id
    WHERE c.user_id = p_user_id AND c.app_name = p_app_name AND c.id = ANY (p_ids);
$function$;
