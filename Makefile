# make reproduce, make test, make estimator: each makes its own environment first.
PYTHON ?= python3
RUNTIME := .venv
DEVELOP := .venv-dev
CORES ?= all

.PHONY: reproduce evidence networks estimator test mutants benchmark docs lock clean-environments
.DEFAULT_GOAL := reproduce

reproduce: $(RUNTIME)/installed
	$(RUNTIME)/bin/python scripts/reproduce.py --cores $(CORES)

evidence: $(RUNTIME)/installed
	$(RUNTIME)/bin/snakemake --cores $(CORES) evidence

# A page on an estimator of your own: make estimator FILE=mine/my_estimator.py
FILE ?= mine/my_estimator.py
estimator: $(RUNTIME)/installed
	$(RUNTIME)/bin/snakemake --cores $(CORES) --config estimator=$(FILE)

# Trains all networks of known truth, in about half an hour of one core, and writes resources/networks. An
# interrupted run goes on where it stopped.
NETWORKS := .venv-networks
NETWORK_CONFIGURATIONS = $(CURDIR)/evidence/networks/configs/*.yaml
networks: $(NETWORKS)/installed
	cd evidence/networks && \
	export PYTHONPATH=$(CURDIR)/scripts XLA_FLAGS=--xla_cpu_multi_thread_eigen=false && \
	$(CURDIR)/$(NETWORKS)/bin/python -m trained.make --build $(CURDIR)/build/networks $(NETWORK_CONFIGURATIONS) && \
	$(CURDIR)/$(NETWORKS)/bin/python -m trained.ship --build $(CURDIR)/build/networks --output $(CURDIR)/resources/networks $(NETWORK_CONFIGURATIONS)

benchmark: $(RUNTIME)/installed
	$(RUNTIME)/bin/python scripts/benchmark.py

# Warnings are errors. Pictures and verdicts are those of results/ where a run has been made;
# `make test` runs the examples.
docs: $(RUNTIME)/docs
	$(RUNTIME)/bin/python -m sphinx -q -E -W --keep-going docs build/docs
	[ ! -d evidence ] || $(RUNTIME)/bin/python -m sphinx -q -E -W --keep-going evidence/docs build/docs/evidence
	@echo open build/docs/index.html

test: $(DEVELOP)/installed
	PATH="$(CURDIR)/$(DEVELOP)/bin:$$PATH" sh tests/run.sh

# Is each small fault in the lines that differ from a branch noticed by the fast tests? MUTANTS=
# gives other options of tests/mutants.py.
MUTANTS ?= --since main
mutants: $(DEVELOP)/mutants
	$(DEVELOP)/bin/python tests/mutants.py $(MUTANTS)

# Exactly the lock, whatever was uploaded since: pip resolves nothing (--no-deps), the two packages
# without a wheel are built by the locked setuptools, and pip check names what a lock lacks.
EXACTLY := -m pip install --quiet --no-compile --no-deps --no-build-isolation --require-hashes
define LOCKED
	$(1)/bin/python $(EXACTLY) --only-binary :all: -r envs/requirements-build.lock
	$(1)/bin/python $(EXACTLY) -r $(2)
	$(1)/bin/python -m pip check
endef

# Bytecode is made here, on all cores and without the packages' tests. Where
# PYTHONDONTWRITEBYTECODE is set, each of the 200 jobs would otherwise make its own.
define INSTALL
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "error: %s is Python %d.%d: install Python 3.11 or newer, or name one with make PYTHON=..." % (sys.executable, *sys.version_info[:2]))'
	$(PYTHON) -m venv $(@D)
	$(call LOCKED,$(@D),$<)
	-$(@D)/bin/python -m compileall -q -j 0 -x '/tests?/' $(@D)/lib scripts
	touch $@
endef

$(RUNTIME)/installed: envs/requirements.lock envs/requirements-build.lock
	$(INSTALL)

$(RUNTIME)/docs: envs/requirements-docs.lock $(RUNTIME)/installed
	$(call LOCKED,$(RUNTIME),$<)
	touch $@

$(DEVELOP)/installed: envs/requirements-dev.lock envs/requirements-build.lock
	$(INSTALL)

$(NETWORKS)/installed: evidence/networks/requirements.lock envs/requirements-build.lock
	$(INSTALL)

$(DEVELOP)/mutants: envs/requirements-mutants.lock $(DEVELOP)/installed
	$(call LOCKED,$(DEVELOP),$<)
	touch $@

RESOLVE := uv pip compile --universal --python-version 3.11 --no-annotate --no-header
COMPILE := $(RESOLVE) --generate-hashes

# Those of the peers have no hashes: with them they would be ten thousand lines.
lock:
	$(COMPILE) --group build -o envs/requirements-build.lock
	$(COMPILE) --all-extras pyproject.toml -o envs/requirements.lock
	$(COMPILE) --all-extras --group dev pyproject.toml -c envs/requirements.lock -c envs/requirements-build.lock -o envs/requirements-dev.lock
	$(COMPILE) --group docs -c envs/requirements.lock -o envs/requirements-docs.lock
	$(COMPILE) --group mutants -c envs/requirements-dev.lock -o envs/requirements-mutants.lock
	test ! -d evidence/networks || $(COMPILE) evidence/networks/requirements.in -o evidence/networks/requirements.lock
	for peer in evidence/envs/peers/*.txt; do $(RESOLVE) $$peer -o $${peer%.txt}.lock; done

clean-environments:
	rm -rf $(RUNTIME) $(DEVELOP) $(NETWORKS)
