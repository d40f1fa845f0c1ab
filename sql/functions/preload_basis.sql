-- What a cached recall of a user rests on, in a form that is cheap to read and differs once any of it changes.
--
--   memories   how many are indexed and how long they are in all: a new, removed or restored one changes it.
--              What the cache shows is compared by version besides, so that edits are seen
--   facts      how many versions there are, and when one changed last
--   core       the core blocks of the user and of the app
--   config     the revision of the app's stored config
--
-- callers: queries/recall.sql
-- locks: none beyond reading
-- volatility: STABLE, it reads tables

CREATE OR REPLACE FUNCTION :"schema".preload_basis(p_user_id text, p_app_name text)
RETURNS jsonb
LANGUAGE sql
STABLE
PARALLEL SAFE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    SELECT jsonb_build_object(
        'memories', (
            SELECT jsonb_build_array(s.documents, s.total_len)
            FROM memory_term_stats AS s
            WHERE s.user_id = p_user_id AND s.app_name = p_app_name),
        'facts', (
            SELECT jsonb_build_array(count(*), max(GREATEST(f.updated_at, f.superseded_at, f.deleted_at)))
            FROM facts AS f
            WHERE f.user_id = p_user_id AND f.app_name = p_app_name),
        'core', (
            SELECT jsonb_build_array(count(*), sum(b.version), max(b.updated_at))
            FROM memory_core_blocks AS b
            WHERE b.app_name = p_app_name AND (b.owner_kind, b.owner) IN (('user', p_user_id), ('global', ''))),
        'config', (
            SELECT c.revision
            FROM memory_automation_configs AS c
            WHERE c.app_name = p_app_name OR c.is_main
            ORDER BY c.app_name = p_app_name DESC
            LIMIT 1)
    );
$function$;
