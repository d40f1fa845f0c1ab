"""Settings that managed functions bring with them."""

from __future__ import annotations

import re

import pytest

from negmem.db.sqlfiles import function_names, function_text

DISABLING = [
    n for n in function_names() if re.search(r"^SET enable_\w+ = off", function_text(n), re.M)
]


@pytest.mark.parametrize("name", DISABLING)
def test_a_disabled_plan_is_not_compiled(name: str) -> None:
    """Before PostgreSQL 18 a disabled node adds 1e10 to the cost: servers with JIT compile it, for seconds."""
    assert re.search(r"^SET jit = off$", function_text(name), re.M)
