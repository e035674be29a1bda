# Every command runs in .venv, made on first use; only Python >= 3.11 and make are required.
# With PYTHON=python3.12 on the command line it is .venv-3.12.
PYTHON ?= python3
ifeq ($(origin PYTHON),command line)
VENV := .venv-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
else
VENV := .venv
endif
BIN := $(VENV)/bin
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
# One more than the cores, since some tests wait for a browser or for processes.
WORKERS = $(shell $(PYTHON) -c 'import os; print(min(4, os.cpu_count() + 1))')
SITE := docs/_build docs/api docs/gallery docs/project docs/_names.rst

.PHONY: demo test test-oldest package chaos fuzz lint bench docs reproduce clean help

help:
	@echo "make demo    cluster and classify scikit-learn's digits; results go to enhg-demo/"
	@echo "make test    tests, doctests, linters, type checker, rules of imports"
	@echo "make test PYTHON=python3.12"
	@echo "             the same with another Python, in an environment of its own"
	@echo "make test-oldest"
	@echo "             tests of the package with the oldest supported dependencies"
	@echo "make package wheel and sdist into dist/, then the README's commands from the wheel;"
	@echo "             with the oldest supported dependencies with DEPENDENCIES=oldest"
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
	$(PYTHON) -m venv $(VENV)

# One marker per set of extras that is installed.
$(VENV)/extra-%: pyproject.toml | $(BIN)/python
	$(BIN)/python $(PIP_INSTALL) --editable '.[$*]'
	@touch $@

demo: $(VENV)/extra-all
	$(BIN)/enhg demo --overwrite

lint: $(VENV)/extra-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

fuzz: $(VENV)/extra-dev
	$(BIN)/python tests/fuzz --count $(or $(COUNT),5000) $(NAME)

# A short version is among the tests.
chaos: $(VENV)/extra-dev
	ENHG_CHAOS=1 $(BIN)/python -m pytest tests/chaos -n $(WORKERS) --dist worksteal

# Libraries that only the tests need are the newest ones that the oldest dependencies allow; the
# test client of the oldest starlette is built on httpx.
OLDEST := .venv-oldest
# Later versions of HyperNetX need later ones of NumPy; this one does not name fastjsonschema.
TEST_LIBRARIES := pytest pytest-xdist hypothesis cvxpy graphlearning httpx httpx2 jsonschema mypy \
  xgi igraph networkx 'hypernetx<2.4.3' fastjsonschema 'pandas<3'

$(OLDEST)/installed: pyproject.toml .ci/oldest.py Makefile
	$(PYTHON) -m venv --clear $(OLDEST)
	$(PYTHON) .ci/oldest.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python $(PIP_INSTALL) --constraint $(OLDEST)/constraints.txt \
	  --editable '.[all]' $(TEST_LIBRARIES)
	@touch $@

# Not the tests of what users do not install.
test-oldest: $(OLDEST)/installed
	$(OLDEST)/bin/python -m pytest -n $(WORKERS) --dist worksteal tests README.md \
	  --ignore=tests/experiments --ignore=tests/benchmarks --ignore=tests/test_conventions.py

package:
	$(PYTHON) .ci/package.py $(if $(filter oldest,$(DEPENDENCIES)),--oldest)

bench: $(VENV)/extra-bench
	$(BIN)/python -m benchmarks $(NAME)

# The site is made from nothing: files of removed examples and names would stay otherwise.
docs: $(VENV)/extra-docs
	rm -rf $(SITE)
	$(BIN)/python -m sphinx -b html -W --keep-going -n -q docs docs/_build/html
	$(BIN)/python docs/check_links.py

reproduce: $(VENV)/extra-all
	$(BIN)/python -m experiments reproduce $(NAME) $(if $(DATA),--data $(DATA))

clean:
	rm -rf .venv .venv-* build dist enhg-demo $(SITE)
