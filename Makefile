# Two commands matter: `make dashboard` and `make test`. Everything happens in .venv; paths stay relative, so that
# the folder may have any name. Written for GNU make 3.81, which macOS ships.

PY := .venv/bin/python
PIP := PYTHONWARNINGS=ignore $(PY) -m pip --quiet --disable-pip-version-check --no-input
PYTHONS := python3 python3.14 python3.13 python3.12 python3.11
ARGS :=

export PIP_ROOT_USER_ACTION := ignore

.PHONY: help dashboard test tests lint types bench soak native-sanitize demo-models install install-test install-training clean
.DEFAULT_GOAL := help

help:
	@echo "make dashboard   install what is missing and open the dashboard on this computer (http://localhost:8501)"
	@echo "make test        install, lint, check types, run every test"
	@echo "make tests       only the tests; ARGS=... goes to pytest, e.g. make tests ARGS='-k cursor'"
	@echo "make lint        ruff, check and format"
	@echo "make types       mypy"
	@echo "make bench       measure this computer, print one table"
	@echo "make soak        the long random tests"
	@echo "make native-sanitize  the tests of the native runner, soak too, once with each sanitizer"
	@echo "make demo-models train the demo models (many hours; goes on where it was stopped), ARGS=... as in docs/demo-models.md"
	@echo "make clean       remove everything that was installed or written here"

# The port is STREAMLIT_SERVER_PORT or 8501, the address STREAMLIT_SERVER_ADDRESS or what .streamlit/config.toml says.
dashboard: install
	@exec $(PY) -m streamlit run dashboard/streamlit_app.py $(ARGS)

test: install-test lint types tests

# Hundreds of processes import the tree: compiled once, it is there for all of them, whatever the caller's setting.
tests: install-test
	@PYTHONDONTWRITEBYTECODE= exec $(PY) -m pytest -rs -n auto --maxprocesses=4 --dist=loadfile --no-loadscope-reorder $(ARGS)

lint: install-test
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .

types: install-test
	@$(PY) -m mypy

bench: install
	@exec $(PY) -m tests.bench $(ARGS)

soak: install-test
	@AS2D_ALL_EXAMPLES=1 exec $(PY) -m pytest -m 'soak or examples' --timeout=1800 $(ARGS)

native-sanitize: install-test
	@for kinds in address,undefined thread; do \
	  AS2D_NATIVE_SANITIZE=$$kinds $(PY) -m pytest -m '' --timeout=1800 tests/as2d_core/native $(ARGS) || exit 1; \
	done

demo-models: install-training
	@exec nice -n 19 env OMP_WAIT_POLICY=passive $(PY) -m as2d_core.models.training $(or $(ARGS),all)

install: .venv/installed
install-test: .venv/installed-test
install-training: .venv/installed-training

.venv/installed: pyproject.toml $(PY)
	@echo "Installing..."
	@$(PIP) install --upgrade pip
	@$(PIP) install --editable .
	@touch $@

.venv/installed-test: pyproject.toml $(PY)
	@echo "Installing, with what the tests need..."
	@$(PIP) install --upgrade pip
	@$(PIP) install --editable '.[test]'
	@touch .venv/installed $@

.venv/installed-training: pyproject.toml $(PY)
	@echo "Installing, with what training needs..."
	@$(PIP) install --upgrade pip
	@$(PIP) install --editable '.[training]'
	@touch .venv/installed $@

# The first Python that is new enough and can make environments; a broken .venv is made anew.
$(PY):
	@for python in $(PYTHONS); do \
	  if $$python -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null; then \
	    echo "Creating .venv with $$($$python --version)..."; \
	    exec $$python -m venv --clear .venv; \
	  fi; \
	done; \
	echo "Python 3.11 to 3.14 with venv is needed (Debian and Ubuntu: apt install python3 python3-venv)." >&2; \
	exit 1

clean:
	rm -rf .venv build dist artifacts as2d.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
