# Two commands on a fresh machine: `make demo` (the main job) and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: demo test lint types slow bench clean

demo: $(STAMP)
	$(BIN)/assay evaluate

test: lint types
	$(BIN)/pytest -m "not slow" --numprocesses auto --dist worksteal

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

slow: $(STAMP)
	$(BIN)/pytest -m slow

bench: $(STAMP)
	$(BIN)/python benchmarks/speed.py

# torch first and alone, exactly pinned: a range would let the resolver choose a build with gigabytes of CUDA.
$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt torch==2.13.0
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[test]"
	touch $(STAMP)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache build dist

# The tests of reproductions/: claims and result pages of the papers. `make test` does not run them; `pytest -m slow
# reproductions` runs the slow ones.
.PHONY: reproductions-test
reproductions-test: $(STAMP)
	$(BIN)/pytest reproductions -m "not slow" --numprocesses auto --dist worksteal
