-- The first whole second at which the score of a memory is under the threshold; infinity for never.
--
-- The score never rises with time, so there is one such moment. It is found piece by piece: the part
-- before the access, before the creation and after the bonus year have closed forms; in the year
-- itself the score is convex, and Newton's steps from the left approach the root without passing
-- it. Infinity for core (never forgotten), for a row without a date, for a threshold that is not a
-- number above 0, and for what would cross after the year 9999. A memory that is under the
-- threshold from its first moment crosses at the earlier of its two dates.
--
-- Callers:    whoever writes a memory, its access or its neighbours; the recompute after a change of
--             the config. The sweep reads the stored moment and calls nothing.
-- Volatility: IMMUTABLE; no clock and no table is read, and seconds of the epoch have no zone.
-- Twin:       crossing_time in negmem/core/formulas/retention.py
-- By hand:    psql -v schema=negentropy -v decay_lambda=0.1 -v low_retention_threshold=0.1
--             -f retention_crossing_time.sql

CREATE OR REPLACE FUNCTION :"schema".retention_crossing_time(
    p_access_count integer,
    p_last_accessed_at timestamptz,
    p_created_at timestamptz,
    p_memory_type text,
    p_related_count integer DEFAULT 0,
    p_decay_rate double precision DEFAULT NULL,
    p_threshold double precision DEFAULT :low_retention_threshold,
    p_decay_lambda double precision DEFAULT :decay_lambda
)
RETURNS timestamptz
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
AS $$
DECLARE
    c_bonus CONSTANT float8 := 0.1;
    c_year CONSTANT float8 := 365.0 * 86400;
    -- 0001-01-03 and 9999-12-29: what every client can show in every zone.
    c_first CONSTANT float8 := -62135424000;
    c_last CONSTANT float8 := 253402041600;
    v_accessed float8 := date_part('epoch', COALESCE(p_last_accessed_at, p_created_at));
    v_created float8 := date_part('epoch', COALESCE(p_created_at, p_last_accessed_at));
    v_rate float8;
    v_strength float8;
    v_at float8;
    v_decayed float8;
    v_step float8;
    v_score float8;
BEGIN
    IF p_memory_type = 'core' OR v_accessed IS NULL
        OR p_threshold IS NULL OR p_threshold = 'NaN' OR p_threshold <= 0
    THEN
        RETURN 'infinity';
    END IF;
    v_accessed := LEAST(1e13, GREATEST(-1e13, v_accessed));
    v_created := LEAST(1e13, GREATEST(-1e13, v_created));
    v_rate := LEAST(1e6, GREATEST(1e-200, COALESCE(
        NULLIF(p_decay_rate, 'NaN'),
        CASE p_memory_type
            WHEN 'semantic' THEN 0.005::float8
            WHEN 'preference' THEN 0.05
            WHEN 'procedural' THEN 0.06
            WHEN 'fact' THEN 0.08
            ELSE 0.10
        END * (LEAST(1e6, GREATEST(1e-200, COALESCE(NULLIF(p_decay_lambda, 'NaN'), 0.10))) / 0.10)
    ))) / 86400;
    v_strength := (1 + ln(1 + GREATEST(0, p_access_count)::float8))
        * CASE p_memory_type
            WHEN 'semantic' THEN 1.4::float8
            WHEN 'preference' THEN 1.3
            WHEN 'procedural' THEN 1.2
            WHEN 'fact' THEN 1.15
            ELSE 1.0
        END
        * (1 + 0.1 * LEAST(5, GREATEST(0, p_related_count)))
        / 5;

    IF LEAST(1, v_strength + c_bonus) < p_threshold THEN
        v_at := floor(LEAST(v_accessed, v_created));
        RETURN to_timestamp(LEAST(c_last, GREATEST(c_first, v_at)));
    END IF;

    v_at := v_created + c_year;
    v_decayed := v_strength * exp(GREATEST(-700, -v_rate * GREATEST(0, v_at - v_accessed)));
    IF v_decayed >= p_threshold THEN
        -- Still above it when the bonus has gone: only the decay is left.
        v_at := v_accessed + (ln(v_strength) - ln(p_threshold)) / v_rate;
    ELSIF v_created < v_accessed AND v_accessed - v_created
        > c_year * (1 - (p_threshold - v_strength) / c_bonus)
    THEN
        -- The bonus shrinks under it before the access, while nothing decays yet.
        v_at := v_created + c_year * (1 - (p_threshold - v_strength) / c_bonus);
    ELSIF v_created > v_accessed AND v_strength
        * exp(GREATEST(-700, -v_rate * (v_created - v_accessed))) + c_bonus < p_threshold
    THEN
        -- The decay takes it under before the creation (clocks that disagree).
        v_at := v_accessed + (ln(v_strength) - ln(p_threshold - c_bonus)) / v_rate;
    ELSE
        v_at := GREATEST(v_accessed, v_created);
        FOR i IN 1..200 LOOP
            v_decayed := v_strength * exp(GREATEST(-700, -v_rate * (v_at - v_accessed)));
            v_step := (v_decayed + c_bonus * (1 - (v_at - v_created) / c_year) - p_threshold)
                / (v_rate * v_decayed + c_bonus / c_year);
            v_at := v_at + v_step;
            EXIT WHEN v_step < 1e-3;
        END LOOP;
    END IF;

    IF v_at > c_last THEN
        RETURN 'infinity';
    END IF;
    -- To the second, by the score itself: the first at which it is under the threshold.
    v_at := floor(v_at) - 1;
    FOR i IN 1..4 LOOP
        v_score := v_strength * exp(GREATEST(-700, -v_rate * GREATEST(0, v_at - v_accessed)))
            + c_bonus * GREATEST(0, 1 - GREATEST(0, v_at - v_created) / c_year);
        EXIT WHEN v_score < p_threshold;
        v_at := v_at + 1;
    END LOOP;
    RETURN to_timestamp(GREATEST(c_first, v_at));
END
$$;
