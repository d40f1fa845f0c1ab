"""What a text names that may have changed since: files, functions, addresses.

A memory that says where something is was true when it was said. What it names can be looked up, so
whoever reads it should look before relying on it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

KINDS = ("address", "file", "function")

# A file needs an ending of letters after a path or a name, or a path of two parts from a root.
_ENDINGS = (
    "py|pyi|ipynb|js|jsx|ts|tsx|mjs|cjs|java|kt|kts|go|rs|rb|php|c|cc|cpp|cxx|h|hpp|cs|swift|scala|sh|bash|zsh"
    "|ps1|bat|sql|yaml|yml|toml|json|jsonl|xml|html|htm|css|scss|md|rst|txt|csv|tsv|ini|cfg|conf|env|lock|log"
    "|gradle|tf|proto|pdf|docx?|xlsx?|pptx?|vue|svelte|lua|pl|r|jl|ex|exs|dockerfile"
)
# Chinese stands right beside a name, without a blank: a boundary is any but a character of names.
_BEFORE = r"(?<![A-Za-z0-9_./\\~@-])"
_FILE = re.compile(
    rf"""
    {_BEFORE}(?:
        (?:~|\.{{1,2}})?(?:/[\w.+@-]+){{2,}}/?                       # /etc/hosts, ./src/main
      | [A-Za-z]:\\(?:[\w.+ @-]+\\)*[\w.+@-]+                        # C:\Users\ada
      | (?:[A-Za-z0-9_.+@-]{{1,80}}[/\\]){{0,12}}[A-Za-z0-9_+@-][A-Za-z0-9_.+@-]{{0,80}}\.(?:{_ENDINGS})(?![A-Za-z0-9_])
      | (?:Dockerfile|Makefile|Jenkinsfile|Procfile|\.gitignore|\.env)(?![A-Za-z0-9_])
    )""",
    re.VERBOSE | re.ASCII,
)
# A word before parentheses is prose, unless nothing stands in them or it is written as names in code are.
_FUNCTION = re.compile(
    r"(?<![A-Za-z0-9_])(?:"
    r"[A-Za-z_][A-Za-z0-9_]*(?:(?:\.|::|->)[A-Za-z_][A-Za-z0-9_]*){0,6}\(\)"
    r"|(?=[A-Za-z0-9]{0,60}(?:_|[a-z][A-Z]|\.|::|->))"
    r"[A-Za-z_][A-Za-z0-9_]*(?:(?:\.|::|->)[A-Za-z_][A-Za-z0-9_]*){0,6}\([^()\n]{1,80}\)"
    r"|[A-Za-z_][A-Za-z0-9_]*(?:::[A-Za-z_][A-Za-z0-9_]*){1,6}"
    r")",
    re.ASCII,
)
_ADDRESS = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"[a-z][a-z0-9+.-]{1,20}://[^\s<>\"'，。；！？、）】]+"
    r"|www\.[A-Za-z0-9-]+\.[A-Za-z0-9.-]+"
    r"|[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,6}"
    r"|(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?"
    r"|localhost(?::\d{1,5})?"
    r"|[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,6}\.[A-Za-z]{2,24}:\d{2,5}"
    r")(?![A-Za-z0-9])",
    re.ASCII,
)
_PRODUCTS = re.compile(
    r"(?<![A-Za-z0-9_/\\.-])(?:node|next|nuxt|vue|three|express|react|angular|ember|d3|p5|chart|discord)\.js",
    re.IGNORECASE,
)
_LONGEST_READ = 20_000
# Nothing that is looked for has none of these; most of what people say has none.
_HINT = re.compile(r"[/\\@(]|\.\w|:[:\d/]|->|file|localhost", re.ASCII)


def things_to_verify(text: str) -> list[str]:
    """Which of KINDS a text names. Reads its first 20,000 characters."""
    text = text[:_LONGEST_READ]
    found: list[str] = []
    if _HINT.search(text) is None:
        return found
    if _ADDRESS.search(text):
        found.append("address")
    rest = _PRODUCTS.sub(" ", _ADDRESS.sub(" ", text))
    if _FILE.search(rest):
        found.append("file")
    if _FUNCTION.search(rest):
        found.append("function")
    return found


def to_verify(text: str, metadata: Mapping[str, object] | None) -> list[str]:
    """What to check before a memory is relied on: what its text names, or what its metadata says.

    `verify` in the metadata wins: false for nothing, true for at least "content", a kind or a list of
    kinds for just those.
    """
    said = (metadata or {}).get("verify")
    if said is False:
        return []
    if isinstance(said, str) and said:
        return [said]
    if isinstance(said, (list, tuple)):
        return [kind for kind in said if isinstance(kind, str)]
    found = things_to_verify(text)
    return found or (["content"] if said is True else [])
