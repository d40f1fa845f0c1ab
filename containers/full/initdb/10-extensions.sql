-- Purpose: the extensions of a new cluster. Run by: the image's entry point, once, in POSTGRES_DB.
-- age comes first everywhere: it is preloaded, and where a database lacks it, every DROP fails,
-- the one inside CREATE EXTENSION pg_cron included.
CREATE EXTENSION age;
CREATE EXTENSION vector;
CREATE EXTENSION pg_cron;

\connect template1
CREATE EXTENSION age;
