# Every command runs in .venv, made on first use; only Python >= 3.11 and make are required.
PYTHON ?= python3
BIN := .venv/bin
SITE := docs/_build docs/api docs/gallery docs/project docs/_names.rst

.PHONY: demo test chaos fuzz lint bench docs reproduce clean help

help:
	@echo "make demo    cluster and classify scikit-learn's digits; results go to enhg-demo/"
	@echo "make test    tests, doctests, linters, type checker, rules of imports"
	@echo "make chaos   runs that are killed at many random moments, full disks, little memory (long)"
	@echo "make lint    only the linters, type checker and rules of imports"
	@echo "make fuzz    5000 random inputs for every reader, both learners and the solver; fewer"
	@echo "             with COUNT=100, one with NAME=npz"
	@echo "make bench   speed and memory against a matrix product and other libraries, into"
	@echo "             benchmarks/results/; one benchmark with NAME=sparse"
	@echo "make docs    the site, into docs/_build/html, with its examples run and its links checked"
	@echo "make reproduce NAME=table1 DATA=folder"
	@echo "             tables and figures of the paper from the image sets in a folder"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "enhg needs Python 3.11 or newer; name one with: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv .venv

# One marker per set of extras that is installed.
.venv/extra-%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@

demo: .venv/extra-all
	$(BIN)/enhg demo --overwrite

lint: .venv/extra-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(BIN)/python -m pytest -n auto --maxprocesses=4

fuzz: .venv/extra-dev
	$(BIN)/python tests/fuzz --count $(or $(COUNT),5000) $(NAME)

# A short version is among the tests.
chaos: .venv/extra-dev
	ENHG_CHAOS=1 $(BIN)/python -m pytest tests/chaos -n auto --maxprocesses=4

bench: .venv/extra-bench
	$(BIN)/python -m benchmarks $(NAME)

# The site is made from nothing: files of removed examples and names would stay otherwise.
docs: .venv/extra-docs
	rm -rf $(SITE)
	$(BIN)/python -m sphinx -b html -W --keep-going -n -q docs docs/_build/html
	$(BIN)/python docs/check_links.py

reproduce: .venv/extra-all
	$(BIN)/python -m experiments reproduce $(NAME) $(if $(DATA),--data $(DATA))

clean:
	rm -rf .venv build dist enhg-demo $(SITE)
