# Two commands do everything: `make serve` and `make test`.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: serve test stress bench clean

serve: $(READY)  ## this machine's histories in a browser
	@$(BIN)/rireki serve

test: $(READY)  ## everything that has to hold: lint, types, layers, tests, browser included
	@sh tools/browser
	@sh tools/adapter $(VENV)/npm
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
# Types beside the tests, of which many wait for a browser or another process; said at the end.
# One that waits may come too late beside so many others: what fails has a second try by itself.
	@echo "$(BIN)/mypy & $(BIN)/python -m pytest -n 3"; \
	$(BIN)/mypy > $(VENV)/types 2>&1 & types=$$!; \
	$(BIN)/python -m pytest -n 3; tests=$$?; \
	wait $$types; types=$$?; \
	if [ $$tests -eq 1 ]; then \
		echo "What failed beside all others is asked once more, alone:"; \
		$(BIN)/python -m pytest --last-failed --last-failed-no-failures none; tests=$$?; \
	fi; \
	cat $(VENV)/types; [ $$types -eq 0 ] && exit $$tests; exit 1

stress: $(READY)  ## long campaigns: hundreds of kills, fuzzing
	$(BIN)/python -m pytest -q tests/stress --campaign

bench: $(READY)  ## the figures
	$(BIN)/python -m bench.import
	$(BIN)/python -m bench.search
	$(BIN)/python -m bench.live
	$(BIN)/python -m bench.web
	$(BIN)/python -m bench.history
	$(BIN)/python -m bench.chatkit
	$(BIN)/python -m bench.bridge

$(READY): pyproject.toml hatch_build.py src/rireki/search/cutter.c tools/setup
	@sh tools/setup $(PYTHON) $(VENV)
	@touch $(READY)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
