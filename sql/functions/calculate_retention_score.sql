-- How much of a memory is left: 1 is kept in full, 0 is gone.
--
--   least(1, time_decay * frequency_boost * type_multiplier * semantic_importance / 5 + recency_bonus)
--
-- Two forms of one name. The full form takes what a row of memories holds. p_decay_rate, a rate per
-- day, overrides the type's own (pass metadata.decay_override through retention_decay_override);
-- p_decay_lambda replaces the base rate 0.10 and scales the rates of the other types with it. The
-- form of three arguments is an episodic memory that was created at its last access.
--
-- Callers:    cleanup_low_value_memories, get_context_window, search, every reader of a score.
-- Volatility: STABLE; p_now is now() unless given, and the short form reads now() itself.
-- Inlining:   no object is named and no search_path is set, so the planner inlines both forms.
-- Bad rows:   negative counts and dates in the future count as 0, infinity as the longest age that
--             a timestamptz can have, NaN rates as not given. Where PostgreSQL would raise instead
--             of answering 0 or infinity (exp of -800, 1e-300 * 1e-300), the limits 1e-200, 1e6 and
--             -700 keep it from that. No row raises.
-- Twin:       negmem/core/formulas/retention.py
-- By hand:    psql -v schema=negentropy -v decay_lambda=0.1 -f calculate_retention_score.sql

CREATE OR REPLACE FUNCTION :"schema".calculate_retention_score(
    p_access_count integer,
    p_last_accessed_at timestamptz,
    p_created_at timestamptz,
    p_memory_type text,
    p_related_count integer DEFAULT 0,
    p_decay_rate double precision DEFAULT NULL,
    p_now timestamptz DEFAULT now(),
    p_decay_lambda double precision DEFAULT :decay_lambda
)
RETURNS double precision
LANGUAGE sql
STABLE
PARALLEL SAFE
AS $$
    SELECT LEAST(1, GREATEST(0,
        exp(GREATEST(-700, -1
            * LEAST(1e6, GREATEST(1e-200, COALESCE(
                NULLIF(p_decay_rate, 'NaN'),
                CASE p_memory_type
                    WHEN 'core' THEN 0::float8
                    WHEN 'semantic' THEN 0.005
                    WHEN 'preference' THEN 0.05
                    WHEN 'procedural' THEN 0.06
                    WHEN 'fact' THEN 0.08
                    ELSE 0.10
                END * (LEAST(1e6, GREATEST(1e-200, COALESCE(NULLIF(p_decay_lambda, 'NaN'), 0.10))) / 0.10)
            )))
            * LEAST(1.1e8, GREATEST(0,
                date_part('epoch', p_now)
                - date_part('epoch', COALESCE(p_last_accessed_at, p_created_at, p_now))
            ) / 86400)
        ))
        * (1 + ln(1 + GREATEST(0, p_access_count)::float8))
        * CASE p_memory_type
            WHEN 'core' THEN 1.5::float8
            WHEN 'semantic' THEN 1.4
            WHEN 'preference' THEN 1.3
            WHEN 'procedural' THEN 1.2
            WHEN 'fact' THEN 1.15
            ELSE 1.0
        END
        * (1 + 0.1 * LEAST(5, GREATEST(0, p_related_count)))
        / 5
        + 0.1 * GREATEST(0, 1 - LEAST(1.1e8, GREATEST(0,
            date_part('epoch', p_now)
            - date_part('epoch', COALESCE(p_created_at, p_last_accessed_at, p_now))
        ) / 86400) / 365)
    ))
$$;

CREATE OR REPLACE FUNCTION :"schema".calculate_retention_score(
    p_access_count integer,
    p_last_accessed_at timestamptz,
    p_decay_rate double precision DEFAULT :decay_lambda
)
RETURNS double precision
LANGUAGE sql
STABLE
PARALLEL SAFE
AS $$
    SELECT LEAST(1, GREATEST(0,
        exp(GREATEST(-700, -1
            * LEAST(1e6, GREATEST(1e-200, COALESCE(NULLIF(p_decay_rate, 'NaN'), 0.10)))
            * LEAST(1.1e8, GREATEST(0,
                date_part('epoch', now()) - date_part('epoch', COALESCE(p_last_accessed_at, now()))
            ) / 86400)
        ))
        * (1 + ln(1 + GREATEST(0, p_access_count)::float8))
        / 5
        + 0.1 * GREATEST(0, 1 - LEAST(1.1e8, GREATEST(0,
            date_part('epoch', now()) - date_part('epoch', COALESCE(p_last_accessed_at, now()))
        ) / 86400) / 365)
    ))
$$;
