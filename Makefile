# `make serve` and `make test` do everything; bare `make` tells what else there is.

PYTHON ?= python3
# Three environments: what serving needs is a tenth of what the tests need, and the site needs neither.
SERVE  := .venv-serve
VENV   := .venv
DOCS   := .venv-docs
BIN    := $(VENV)/bin
# What an environment is made from, beside its lock.
MADE_FROM := pyproject.toml hatch_build.py src/rireki/search/text/tokenizer.c tools/setup tools/install.py

.PHONY: help serve test fast lint types golden looks stress bench docs lock clean
.DEFAULT_GOAL := help

help:  ## this list
	@echo "make TARGET"; echo
	@sed -n 's/^\([a-z]*\):.*  ## \(.*\)/  \1 \2/p' $(MAKEFILE_LIST) | \
		while read -r name does; do printf '  %-8s %s\n' "$$name" "$$does"; done

serve: $(SERVE)/.ready  ## this machine's histories in a browser; ARGS="--port 8000" goes to rireki serve
	@$(SERVE)/bin/rireki serve $(ARGS)

test: $(VENV)/.ready lint  ## everything that has to hold: lint, types, all tests, a real browser included
	@$(BIN)/python -m tools.suite

fast: $(VENV)/.ready  ## the tests that wait for no browser, no other process and no clock
	@$(BIN)/python -m tools.suite fast

lint: $(VENV)/.ready  ## style, layers, and whether the locks fit pyproject.toml
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python -m tools.lock --check

types: $(VENV)/.ready  ## mypy --strict, and the types of the scripts
	$(BIN)/mypy
	$(BIN)/python -m tools.javascript

golden: $(VENV)/.ready  ## what readers make of the fixtures, written again: look at the difference
	$(BIN)/python -m tests.golden

looks: $(VENV)/.ready  ## how every page looks, against the pictures that are kept; ARGS="home usage" these alone, ARGS=--accept keeps new ones
	@sh tools/fonts
	@sh tools/browser
	@$(BIN)/python -m tests.looks $(ARGS)

stress: $(VENV)/.ready  ## long campaigns: kills, saves against imports, damaged histories by SEED=1 (goes on where it was)
	$(BIN)/python -m pytest -q tests/stress --campaign
	$(BIN)/python -m tests.stress.fuzz $(if $(SEED),--seed $(SEED))

bench: $(VENV)/.ready  ## the figures
	$(BIN)/python -m bench.import
	$(BIN)/python -m bench.first
	$(BIN)/python -m bench.check
	$(BIN)/python -m bench.extremes
	$(BIN)/python -m bench.search
	$(BIN)/python -m bench.live
	$(BIN)/python -m bench.web
	$(BIN)/python -m bench.usage
	$(BIN)/python -m bench.history
	$(BIN)/python -m bench.chatkit
	$(BIN)/python -m bench.bridge
	$(BIN)/python -m bench.masking
	$(BIN)/python -m bench.recall

docs: $(DOCS)/.ready  ## the documentation as a site, in site/; every link has to lead somewhere
	@NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict
	@echo "To look at it: python3 -m http.server -d site"

lock: $(VENV)/.ready  ## the locks again, with the newest releases pyproject.toml allows (needs uv); ARGS=--keep: only what it asks for
	$(BIN)/python -m tools.lock $(ARGS)

$(SERVE)/.ready: requirements/serve.lock $(MADE_FROM)
	@sh tools/setup $(PYTHON) serve $(SERVE)
	@touch $@

$(VENV)/.ready: requirements/test.lock $(MADE_FROM)
	@sh tools/setup $(PYTHON) test $(VENV)
	@touch $@

$(DOCS)/.ready: requirements/docs.lock tools/setup tools/install.py
	@sh tools/setup $(PYTHON) docs $(DOCS)
	@touch $@

clean:  ## remove the environments and caches
	rm -rf $(VENV) $(SERVE) $(DOCS) site *.log .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
