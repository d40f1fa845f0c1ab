#!/bin/sh
# Runs the unit and property tests under every Python from 3.10 on that this machine has.
set -u
cd "$(dirname "$0")/.."
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
failed=0
ran=
for minor in 10 11 12 13 14 15; do
    for python in "$(command -v "python3.$minor")" "$HOME"/.pyenv/versions/3."$minor".*/bin/python; do
        "$python" -c 'import ensurepip' 2>/dev/null || continue
        folder=.venvs/3.$minor
        [ -x "$folder/bin/python" ] || "$python" -m venv "$folder" || continue
        "$folder/bin/python" -m pip install -q -e '.[dev,all]' || failed=1
        echo "== $("$folder/bin/python" --version)"
        "$folder/bin/python" -m pytest -q -p no:cacheprovider -n 2 tests/unit tests/property || failed=1
        ran="$ran 3.$minor"
        break
    done
done
echo "ran under:${ran:- none}"
exit "$failed"
