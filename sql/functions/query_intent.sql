-- What kind of memory a question asks for, told by its words, in English and in Chinese.
--
--   procedural   how to, how do, how can, step, guide, 步骤 …    also semantic, fact
--   preference   prefer, favorite, 喜欢 …                        also semantic, episodic
--   episodic     when, yesterday, last week, 昨天 …              also semantic, fact
--   semantic     what is, define, 定义 …                         also fact, episodic
--
-- The first that matches. English words match whole, Chinese ones anywhere.
--
-- callers: ranked_items()
-- volatility: IMMUTABLE, it depends on its argument alone; standard SQL, so that it is inlined
-- returns: one row; confidence in 0..1, of which at most 0.3 means that no words told (nothing is raised by it)

CREATE OR REPLACE FUNCTION :"schema".query_intent(p_query text)
RETURNS TABLE (intent text, confidence double precision, beside text[])
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
ROWS 1
BEGIN ATOMIC
    SELECT
        CASE WHEN m.procedural THEN 'procedural' WHEN m.preference THEN 'preference' WHEN m.episodic THEN 'episodic'
            WHEN m.semantic THEN 'semantic' ELSE 'episodic' END,
        CASE
            WHEN m.procedural THEN CASE WHEN m.episodic OR m.semantic THEN 0.55 ELSE 0.7 END
            WHEN m.preference THEN 0.7 WHEN m.episodic THEN 0.65 WHEN m.semantic THEN 0.6
            WHEN m.is_blank THEN 0 ELSE 0.3
        END::float8,
        CASE WHEN m.procedural THEN '{semantic,fact}'::text[] WHEN m.preference THEN '{semantic,episodic}'
            WHEN m.episodic THEN '{semantic,fact}' WHEN m.semantic THEN '{fact,episodic}' ELSE '{semantic}' END
    FROM (
        SELECT btrim(q.said) = '' AS is_blank,
            q.said ~ '\m(how to|how do|how can|steps?|guides?)\M|步骤|流程|怎么做|怎样|如何|教程' AS procedural,
            q.said ~ '\m(prefer|prefers|preferred|favou?rites?)\M|偏好|喜欢|习惯' AS preference,
            q.said ~ '\m(when|yesterday|last week|recall|history)\M|今天|昨天|上周|去年|曾经|发生|那次|历史' AS episodic,
            q.said ~ '\m(what is|what does|define|meaning)\M|定义|含义|什么是|介绍' AS semantic
        FROM (SELECT lower(left(p_query, 10000))) AS q (said)
    ) AS m;
END;
