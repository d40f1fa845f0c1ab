-- The cosine that three in four texts stay under that have nothing to do with a question, by the model of an app.
--
-- Not more: with a small model what says the same in another language is no nearer than that.
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
        SELECT (m.calibration -> 'unrelated_queries' ->> '75')::float8
        FROM embedding_models AS m
        WHERE m.app_name = p_app_name AND m.status = 'active'), 0.3)
$function$;
