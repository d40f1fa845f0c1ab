-- The cosine that 99 in 100 texts stay under that have nothing to do with a question, by the model of an app.
--
-- A model that was not measured counts as one whose vectors share no direction: 0.3.
--
-- callers: knowledge_candidates(), entity_candidates()
-- volatility: STABLE, it reads a table

CREATE OR REPLACE FUNCTION :"schema".unlike_cosine(p_app_name text)
RETURNS double precision
LANGUAGE sql
STABLE
PARALLEL SAFE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    SELECT COALESCE((
        SELECT (m.calibration -> 'unrelated_queries' ->> '99')::float8
        FROM embedding_models AS m
        WHERE m.app_name = p_app_name AND m.status = 'active'), 0.3)
$function$;
