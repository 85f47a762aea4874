# Two commands for newcomers: `make demo` shows a first result, `make test` runs everything CI runs.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DEMO   := .demo

.DEFAULT_GOAL := help
.PHONY: help demo test install check lint types imports tests generated format bench clean

help:           ## Show these targets
	@grep -E '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed -E 's/: .*## */\t/' | expand -t 12

demo: $(VENV)/installed  ## Index fixtures/corpus into a scratch folder and answer fixtures/queries.ndjson
	@rm -rf $(DEMO)
	KEBAB_STORAGE_DATA_DIR=$(DEMO) $(BIN)/kebab ingest fixtures/corpus
	KEBAB_STORAGE_DATA_DIR=$(DEMO) $(BIN)/kebab search 'restore the wiki database' --k 3
	KEBAB_STORAGE_DATA_DIR=$(DEMO) $(BIN)/kebab search --bulk --json < fixtures/queries.ndjson

test: check      ## Install the development tools and run everything CI runs

check: lint types imports tests

install: $(VENV)/developed

lint: install   ## Style and likely bugs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install  ## mypy, strict
	$(BIN)/mypy

imports: install ## Rows may import the rows below them only
	$(BIN)/lint-imports

tests: install  ## pytest, warnings are errors
	$(BIN)/pytest

generated: install  ## Write the schemas and the generated tables in docs/ anew
	$(BIN)/python tools/write_generated.py

format: install ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: install  ## Measure the speed and write benchmarks/RESULTS.md; options in BENCH, see benchmarks/README.md
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python -m benchmarks $(BENCH)

clean:          ## Remove what these commands made
	rm -rf $(VENV) $(DEMO) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(VENV)/made:
	$(PYTHON) -c 'import sys; sys.exit(f"Python 3.11 or newer is needed, this is {sys.version}" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@touch $@

$(VENV)/installed: $(VENV)/made pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/developed: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@
