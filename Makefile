# `make demo` scores the sample set, `make test` runs all the tests; both set up .venv themselves.
# `make quick` runs the tests that start no process, within half a minute, and lists those that took
# longer than a second: they are to be marked `process`.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

# Without bytecode every process compiles the sources again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test quick check clean

demo: $(VENV)/installed
	$(BIN)/cce relevance eval/code.jsonl

test: $(VENV)/installed-dev
	$(BIN)/pytest

quick: $(VENV)/installed-dev
	$(BIN)/pytest -m "not process" --durations=10 --durations-min=1

check: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "cce needs Python 3.11 or later: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/installed-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	$(BIN)/python -m pip install --quiet --only-binary :all: --editable '.[systems-test]' \
	    || echo "not all outside systems could be installed: their tests will skip"
	touch $@

clean:
	rm -rf $(VENV) .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache build dist
