-- Purpose: the database of the embedded cluster, made once, before the cluster is put in its place.
-- Run by: negmem/db/embedded.py with the server in single-user mode, one statement a line.
CREATE DATABASE negmem;
