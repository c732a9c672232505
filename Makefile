# Two commands on a fresh machine: `make demo` and `make test`. `make help` lists all targets.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
APART  := slow or ray or browser or kill or simulation or faults
PYTEST := $(BIN)/pytest --numprocesses auto --dist worksteal

.PHONY: help demo test lint types slow ray browser kill simulation faults oldest golden bench clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1|\2/' | column -t -s '|'

demo: $(STAMP)  ## evaluate methods on the built-in model and data, write report.html
	$(BIN)/assay evaluate

test: lint types  ## lint, types and all quick tests (below 8 minutes on 2 cores)
	$(PYTEST) -m "not ($(APART))"

lint: $(STAMP)  ## check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)  ## check types
	$(BIN)/mypy

slow: $(STAMP)  ## tests that need real weights or minutes
	$(BIN)/pytest -m slow

ray: $(STAMP)  ## tests that start a Ray cluster (needs the extra "ray")
	$(BIN)/pytest -m ray

browser: $(STAMP)  ## tests that open pages in Chromium
	$(BIN)/pytest -m browser

kill: $(STAMP)  ## tests that kill runs and trainings, and resume them
	$(BIN)/pytest -m kill

simulation: $(STAMP)  ## tests that repeat an experiment many times
	$(PYTEST) -m simulation

faults: $(STAMP)  ## tests with many bad inputs, damaged files, interrupts and full disks
	$(PYTEST) -m faults

oldest:  ## the quick tests with the oldest versions that pyproject.toml claims, in an environment of their own
	test -x .venv-oldest/bin/python || $(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/pip install --quiet --constraint constraints-oldest.txt torch==2.13.0
	.venv-oldest/bin/pip install --quiet --constraint constraints-oldest.txt --editable ".[test]"
	.venv-oldest/bin/pytest --numprocesses auto --dist worksteal -m "not ($(APART))"

golden: $(STAMP)  ## compare scores, tables and verdicts with the recorded ones
	$(BIN)/python scripts/golden.py check

bench: $(STAMP)  ## measure speed
	$(BIN)/python benchmarks/speed.py

# torch first and alone, exactly pinned: a range would let the resolver choose a build with gigabytes of CUDA.
$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt torch==2.13.0
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[fuzz]"
	touch $(STAMP)

clean:  ## remove the environment and caches
	rm -rf $(VENV) .venv-oldest .mypy_cache .ruff_cache .pytest_cache build dist

# The tests of reproductions/: claims and result pages of the papers. `make test` does not run them; `pytest -m slow
# reproductions` runs the slow ones.
.PHONY: reproductions-test
reproductions-test: $(STAMP)  ## tests of the claims and pages of the reproductions
	$(BIN)/pytest reproductions -m "not slow" --numprocesses auto --dist worksteal
