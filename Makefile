# Two commands do everything on a fresh machine with python3, make, git and root:
#   make demo    the whole product on real conversations
#   make test    linting, typing and every test on five real databases
.PHONY: help demo test lint generate venv servers clean distclean

help:
	@sed -n 's/^#   //p' $(MAKEFILE_LIST)
	@echo "make lint     ruff check, ruff format --check and mypy --strict"
	@echo "make generate  what is made from the code: completions, reference, schemas, defaults"
	@echo "make venv     .venv with everything for development"
	@echo "make servers  the databases of the tests, kept running"
	@echo "make pythons  unit tests under every Python from 3.10 on that is here"
	@echo "make clean    stop them; remove what tests and builds left in the checkout"
	@echo "make distclean  also .venv and the cache of Debian roots"

demo:
	@scripts/make_venv.sh demo
	@.venv/bin/negmem demo

test: venv
	@scripts/run_tests.sh $(PYTEST)

lint: venv
	@scripts/lint.sh

generate: venv
	@.venv/bin/python -m tools.generate

venv:
	@scripts/make_venv.sh test

servers: venv
	@.venv/bin/python -m tests.servers up

pythons:
	@scripts/test_pythons.sh

clean:
	@if [ -f .venv/negmem-test ]; then .venv/bin/python -m tests.servers clean; fi
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

distclean: clean
	@if [ -f .venv/negmem-test ]; then .venv/bin/python -m tests.servers clean --roots; fi
	rm -rf .venv .venvs
