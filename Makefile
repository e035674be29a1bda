# Everything runs in .venv, made on first use; nothing but Python >= 3.11 and make is assumed.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint bench clean help

help:
	@echo "make demo    cluster and classify the embedded digits; pictures go to enhg-demo/"
	@echo "make test    tests, doctests, linters, type checker, import contract"
	@echo "make lint    only the linters, type checker and import contract"
	@echo "make bench   speed and memory against one matrix product and other libraries, into"
	@echo "             benchmarks/results/; one of them alone with NAME=sparse"

.venv/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "enhg needs Python 3.11 or newer; name one with: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: .venv/installed
	$(BIN)/enhg demo --overwrite

lint: .venv/installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(BIN)/python -m pytest

bench: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python -m benchmarks $(NAME)

clean:
	rm -rf .venv build dist enhg-demo
