"""The checks, one module an area; importing this package declares them all, in order."""

from negmem.core.diagnostics.checks import (
    connection,
    data,
    extensions,
    functions,
    indexes,
    jobs,
    providers,
    row_security,
    schema,
)

__all__ = [
    "connection",
    "data",
    "extensions",
    "functions",
    "indexes",
    "jobs",
    "providers",
    "row_security",
    "schema",
]
