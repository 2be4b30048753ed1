# Verbs for a working copy. `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOCKED := $(VENV)/.locked
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo demo-benchmark record-judge test check docs bench bench-diagnosis lock clean

help:  ## list the verbs
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## install everything into .venv, which then holds .venv/bin/liftbay

# A mark is made last, so a set-up that was interrupted starts again.
$(LOCKED): requirements/dev.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "liftbay needs Python 3.11 or newer; name one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null \
	  || { echo "this Python has no venv module; install it (Debian: apt-get install python3-venv)" >&2; exit 2; }
	@echo "setting up $(VENV) (once; under a minute with a fast network)"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP) install --require-hashes -r requirements/dev.lock
	@touch $@

$(READY): $(LOCKED) pyproject.toml
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(READY)  ## look inside the sample agent, judged by recorded answers; writes an HTML report
	@$(BIN)/python demo/run.py

demo-benchmark: $(READY)  ## generate and evaluate a small JMultiWOZ-TC against a scripted endpoint
	@$(BIN)/python demo/benchmark.py

record-judge: $(READY)  ## record the demo's judge anew: JUDGE=http://… [JUDGE_MODEL=NAME]
	@test -n "$(JUDGE)" || { echo "name the endpoint: make record-judge JUDGE=http://127.0.0.1:8000/v1" >&2; exit 2; }
	@$(BIN)/python demo/record_judge.py --judge "$(JUDGE)" $(if $(JUDGE_MODEL),--judge-model "$(JUDGE_MODEL)")

test: check  ## lint, types, layers and all tests; what CI runs
	@$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

check: $(READY)  ## lint, types and layers only
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

docs: $(READY)  ## write the generated pages of docs/reference anew
	@$(BIN)/python docs/generate.py
	@$(BIN)/python docs/generate_catalog.py

bench: $(READY)  ## run the benchmarks, interleaved with what they compare against
	@$(BIN)/python bench/evaluate.py
	@$(BIN)/python bench/generate.py
	@$(BIN)/python bench/faults.py
	@$(BIN)/python bench/store.py
	@$(BIN)/python bench/engine.py
	@$(BIN)/python bench/engine_faults.py
	@$(BIN)/python bench/trace.py
	@$(BIN)/python bench/sample_agent.py

bench-diagnosis: $(READY)  ## the fault bench: is the blame laid to the module that has the fault?
	@$(BIN)/python bench/diagnosis.py

lock: $(READY)  ## resolve the locked versions anew
	@$(PIP) install uv
	@$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header --quiet --upgrade --output-file requirements/dev.lock

clean:  ## remove what the verbs made
	@rm -rf $(VENV) demo/output build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
