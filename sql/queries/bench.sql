-- Benchmarks.

-- name: settle
-- After a bulk load: statistics for the planner, and the visibility map that index-only scans need.
VACUUM (ANALYZE) :"schema".memories, :"schema".memory_terms, :"schema".memory_vectors, :"schema".memory_term_stats,
    :"schema".threads, :"schema".users;

-- name: versions
SELECT split_part(current_setting('server_version'), ' ', 1) AS postgresql,
    (SELECT e.extversion FROM pg_extension AS e WHERE e.extname = 'vector') AS pgvector;
