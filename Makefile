# make reproduce, make test, make benchmark: each makes its own environment first.
PYTHON ?= python3
RUNTIME := .venv
DEVELOP := .venv-dev
CORES ?= all

.PHONY: reproduce test benchmark lock clean-environments
.DEFAULT_GOAL := reproduce

reproduce: $(RUNTIME)/installed
	$(RUNTIME)/bin/python scripts/reproduce.py --cores $(CORES)

benchmark: $(RUNTIME)/installed
	$(RUNTIME)/bin/snakemake --cores 1 --forcerun measure_speed -- benchmark

test: $(DEVELOP)/installed
	PATH="$(CURDIR)/$(DEVELOP)/bin:$$PATH" sh tests/run.sh

$(RUNTIME)/installed: envs/requirements.lock
	$(PYTHON) -m venv $(RUNTIME)
	$(RUNTIME)/bin/python -m pip install --quiet --require-hashes -r envs/requirements.lock
	touch $@

$(DEVELOP)/installed: envs/requirements-dev.lock
	$(PYTHON) -m venv $(DEVELOP)
	$(DEVELOP)/bin/python -m pip install --quiet --require-hashes -r envs/requirements-dev.lock
	touch $@

lock:
	cd envs && uv pip compile --universal --python-version 3.11 --generate-hashes --no-annotate \
		--no-header requirements.in -o requirements.lock
	cd envs && uv pip compile --universal --python-version 3.11 --generate-hashes --no-annotate \
		--no-header requirements.in requirements-dev.in -o requirements-dev.lock

clean-environments:
	rm -rf $(RUNTIME) $(DEVELOP)
