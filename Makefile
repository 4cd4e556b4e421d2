# PURA Audit. Every target works from a fresh clone. What runs once a week, engines and known holes
# among it, is called by packaging/weekly.sh; benchmarks and experiments by bench/run.sh.
.DEFAULT_GOAL := help
.PHONY: help install demo test test-fast test-all coverage check format schemas translations site \
  package packages release clean
# pip, apt and the tests would get into each other's way.
.NOTPARALLEL:
SHELL := /bin/sh
BIN := .venv/bin
# A worker that holds the model takes 2 GB.
WORKERS ?= 2
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Spinning OpenMP threads can make two torch threads ten times slower than one on a busy machine.
export OMP_WAIT_POLICY ?= PASSIVE

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | \
	  awk -F'|' '{printf "%-20s %s\n", $$1, $$2}'

install: ## Make .venv with everything in it
	@packaging/setup/system.sh
	@packaging/setup/venv.sh

demo: install ## Mark a text with the built-in model, audit it, open the window on the result
	@$(BIN)/python -m pura_audit.tools.demo

# Run once more with a desktop's fonts: what measures letters, in the window and in every dialog.
LOOKED_AT := tests/app/theme tests/app/test_accessibility.py \
  $(patsubst %,tests/app/workbench/test_%.py,guide room side_by_side)
SHARED_OUT := -n $(WORKERS) --dist loadgroup --no-loadscope-reorder
test: DAILY := -m "not weekly"
test test-all: install check
	@packaging/setup/system.sh --tests
	@FONTCONFIG_FILE=$(CURDIR)/tests/data/bare-fonts.conf PURA_TEST_FONTS=bare \
	  $(BIN)/python -m pytest -q $(SHARED_OUT) $(DAILY)
	@env -u FONTCONFIG_FILE PURA_TEST_FONTS=desktop \
	  $(BIN)/python -m pytest -q $(SHARED_OUT) $(DAILY) $(LOOKED_AT)

test: ## Set up, check the style, run the tests
test-all: ## The same with what is statistical, trains, packages or needs an X server

# Left out: whatever loads a model, opens a window or runs a whole command, and the packages whose tests
# start children or write much: model, embed, documents, keys, register, report, caselog, measure, lab, usecases.
FAST := base scheme detect record words
test-fast: install ## The quick tests of scheme, decoders, record, words and verdict, in 45 s
	@$(BIN)/python -m pytest -q -n $(WORKERS) -m "not model and not slow" \
	  $(FAST:%=tests/core/%) tests/test_house.py

coverage: install ## All tests once more, and which lines they never reach
	@packaging/setup/system.sh --tests
	@$(BIN)/python -m pytest -q $(SHARED_OUT) --cov --cov-report=term:skip-covered

check: install ## Style, types, import arrows, repetition, names
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/mypy --explicit-package-bases docs/reference/examples/*.py
	@$(BIN)/lint-imports
	@$(BIN)/python packaging/setup/schemas.py --check
	@$(BIN)/python packaging/setup/public_keys.py --check
	@$(BIN)/python packaging/setup/repetition.py
	@$(BIN)/python packaging/setup/names.py

format: install ## Format the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

schemas: install ## Write resources/*.schema.json from the types that they describe, and the list of public keys
	@$(BIN)/python packaging/setup/schemas.py
	@$(BIN)/python packaging/setup/public_keys.py

translations: install ## Collect the window's texts into the catalogues and compile them
	@packaging/i18n/update.sh

site: install ## Build docs/ as a searchable site into build/site/html, a warning is an error
	@packaging/site/build.sh

package: ## Build the one-folder application into dist/linux and prove it (20 minutes)
	@packaging/setup/system.sh --package
	@packaging/linux/build.sh

packages: package ## Packages of the built application for distributions, and their checksums
	@packaging/linux/packages.sh

release: install ## Check tree and version, test, build and prove the packages, seal and tag them
	@$(BIN)/python packaging/release/release.py

clean: ## Remove everything that was made here, .venv included
	rm -rf .venv dist build demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis
