"""Writes what is generated from the code, or says what is stale: python -m tools.generate [--check]."""

from __future__ import annotations

import json
import sys
from functools import lru_cache
from pathlib import Path

from negmem.cli.tree import whole_tree
from negmem.config.render import render_default_yaml
from tools.generators.completions import completion_files
from tools.generators.documents import schemas
from tools.generators.inventory import inventory
from tools.generators.reference import reference, schema_file
from tools.generators.roles import role_matrix

ROOT = Path(__file__).resolve().parent.parent


@lru_cache(maxsize=1)
def generated() -> dict[Path, str]:
    """Every generated file with the text that it should have."""
    tree = whole_tree()
    files = {ROOT / "configs" / "default.yaml": render_default_yaml()}
    for name, text in completion_files(tree).items():
        files[ROOT / "completions" / name] = text
    files[ROOT / "docs" / "cli.md"] = reference(tree)
    files[ROOT / "docs" / "data-inventory.md"] = inventory()
    files[ROOT / "docs" / "role-matrix.md"] = role_matrix()
    for name, schema in schemas().items():
        text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        files[ROOT / "docs" / "schemas" / schema_file(name)] = text
    return files


def stale() -> list[Path]:
    """The generated files that say something else than the code."""
    return [
        path
        for path, text in generated().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]


def main(arguments: list[str]) -> int:
    """Write the stale files, or with --check only name them; 1 if there were any to name."""
    is_check = arguments == ["--check"]
    texts = generated()
    found = stale()
    for path in found:
        if not is_check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(texts[path], encoding="utf-8")
        sys.stdout.write(f"{'stale' if is_check else 'wrote'} {path.relative_to(ROOT)}\n")
    return 1 if is_check and found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
