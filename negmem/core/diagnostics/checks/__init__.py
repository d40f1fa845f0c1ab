"""The checks, one module an area; importing this package declares them all, in order."""

from negmem.core.diagnostics.checks import connection, extensions, functions, schema

__all__ = ["connection", "extensions", "functions", "schema"]
