#!/bin/sh
# Lints and runs all tests, with the databases coming up meanwhile. Arguments go to pytest.
set -u
cd "$(dirname "$0")/.."
# Some hundred commands of the tests are programs of their own: what they import is compiled once.
unset PYTHONDONTWRITEBYTECODE
log=$(mktemp)
trap 'rm -f "$log"' EXIT

.venv/bin/python -m tests.servers up >"$log" 2>&1 </dev/null &
servers=$!
scripts/lint.sh
lint=$?
wait "$servers"
up=$?
cat "$log"
[ "$lint" = 0 ] || echo "lint failed" >&2
[ "$up" = 0 ] || echo "a database can't be had" >&2
[ "$up" = 0 ] || exit 1

# Three workers on two cores: each waits now and then, for a kill, for the ticks of pg_cron.
.venv/bin/python -m pytest -n "${NEGMEM_TEST_WORKERS:-3}" "$@"
tests=$?
[ "$lint" = 0 ] || exit 1
exit "$tests"
