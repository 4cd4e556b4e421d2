# PURA Audit. Every target works from a fresh clone.
.DEFAULT_GOAL := help
.PHONY: help install demo test test-all test-fast engines circle survival coverage check format audit fuzz bench sweeps reproduce \
  reproduce-small schemas screenshots translations \
  wheel package packages release site clean system system-tests system-package
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

system:
	@packaging/setup/system.sh

system-tests:
	@packaging/setup/system.sh --tests

system-package:
	@packaging/setup/system.sh --package

install: system ## Make .venv with everything in it
	@packaging/setup/venv.sh

demo: install ## Mark a text with the built-in model, audit it, open the window on the result
	@$(BIN)/python -m pura_audit.tools.demo

# Run once more with a desktop's fonts: what measures letters, in the window and in every dialog.
LOOKED_AT := tests/app/theme tests/app/test_accessibility.py \
  $(patsubst %,tests/app/workbench/test_%.py,guide room side_by_side)
SHARED_OUT := -n $(WORKERS) --dist loadgroup --no-loadscope-reorder
test: DAILY := -m "not weekly"
test test-all: system-tests install check
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

engines: install ## The adapters inside real serving engines, each in its own environment (weekly)
	@$(BIN)/pura model install >/dev/null
	@packaging/setup/engines.sh $(ENGINES)

circle: system-tests install ## From an engine to a report, by the commands of docs/how-to/circle.md (weekly)
	@$(BIN)/pura model install >/dev/null
	@packaging/setup/engines.sh --install llama_cpp
	@PURA_CIRCLE=1 $(BIN)/python -m pytest -q tests/e2e/test_circle.py tests/e2e/test_chat_front_ends.py

survival: install ## What a mark survives of the programs of others, docs/how-to/what-survives.md (weekly)
	@packaging/setup/tools.sh
	@$(BIN)/python bench/held_out.py --write

coverage: system-tests install ## All tests once more, and which lines they never reach
	@$(BIN)/python -m pytest -q $(SHARED_OUT) --cov --cov-report=term:skip-covered

check: install ## Style, types, import arrows, repetition
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python packaging/setup/schemas.py --check
	@$(BIN)/python packaging/setup/public_keys.py --check
	@$(BIN)/python packaging/setup/repetition.py

format: install ## Format the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

audit: install ## Look for known holes: security rules, published advisories (asks the network)
	@packaging/setup/audit.sh

FUZZ_SECONDS ?= 600
fuzz: install ## Fuzz what reads strangers' bytes, FUZZ_SECONDS in all (asks the network once, for its tools)
	@tests/fuzz/run.sh --seconds $(FUZZ_SECONDS)
	@tests/fuzz/serve.sh
	@$(BIN)/python tests/fuzz/gguf_flips.py --seconds $$(($(FUZZ_SECONDS) / 2))

bench: install ## Print the benchmarks, side by side, with the machine
	@for file in bench/trellis.py bench/evidence_pass.py bench/audit_cost.py bench/generation.py \
	  bench/startup.py bench/window.py; do \
	  $(BIN)/python $$file || exit 1; done

sweeps: install ## Print and draw how cost grows: payload, keys, texts, vocabulary, tokens, number formats
	@$(BIN)/python bench/sweeps.py --plot docs/images/how-cost-grows.svg && \
	  $(BIN)/python bench/number_formats.py

reproduce-small: install ## Run the paper's experiments, 8 texts a cell, into build/reproduction
	@$(BIN)/pura model install
	@$(BIN)/pura lab run all --output build/reproduction --texts 8

reproduce: install ## The same with every cell, 128 texts each; a device is used when there is one
	@$(BIN)/pura model install
	@$(BIN)/pura lab run all --output build/reproduction --full

screenshots: install ## Take the pictures of README and guide (a test of `make test-all` names those that are too old)
	@$(BIN)/python -m pura_audit.tools.pictures

translations: install ## Collect the window's texts into the catalogues and compile them
	@packaging/i18n/update.sh

site: install ## Build docs/ as a searchable site into build/site/html, a warning is an error
	@packaging/site/build.sh

schemas: install ## Write resources/*.schema.json from the types that they describe, and the list of public keys
	@$(BIN)/python packaging/setup/schemas.py
	@$(BIN)/python packaging/setup/public_keys.py

wheel: install ## Build the wheel into dist/; with PURA_SLIM=1 without the lab
	@$(BIN)/python -m build --wheel --no-isolation

package: system-package ## Build the one-folder application into dist/linux and prove it (20 minutes)
	@packaging/linux/build.sh

packages: package ## Packages of the built application for distributions, and their checksums
	@packaging/linux/packages.sh

release: install ## Check tree and version, test, build and prove the packages, seal and tag them
	@$(BIN)/python packaging/release/release.py

clean: ## Remove everything that was made here, .venv included
	rm -rf .venv dist build demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis
