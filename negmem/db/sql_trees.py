"""Whether sqlglot reads two SQL texts as the same tree, parentheses aside.

Used to classify alone: SQL that sqlglot wrote is never run. It reads pgvector's `<=>` as IS NOT DISTINCT
FROM, so equal trees prove nothing where tokens differ in more than punctuation: core/text/sql_tokens.py.
"""

from __future__ import annotations

import logging


def same_tree(one: str, other: str) -> bool:
    """Whether both are one statement that sqlglot understands, and the same one."""
    first, second = _tree(one), _tree(other)
    return first is not None and first == second


def _tree(text: str) -> object | None:
    import sqlglot
    from sqlglot import exp

    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
    try:
        statements = sqlglot.parse(text, read="postgres")
    except sqlglot.errors.SqlglotError:
        return None
    if len(statements) != 1 or statements[0] is None or statements[0].find(exp.Command):
        return None
    return statements[0].transform(
        lambda node: node.unnest() if isinstance(node, exp.Paren) else node
    )
