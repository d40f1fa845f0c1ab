#!/bin/sh
# Linting, formatting and strict typing; all three are told, whichever fails.
cd "$(dirname "$0")/.." || exit 1
failed=0
.venv/bin/ruff check . || failed=1
.venv/bin/ruff format --check . || failed=1
.venv/bin/mypy || failed=1
exit "$failed"
