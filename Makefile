# `make help` lists the targets. Each makes its own environment first.
PYTHON ?= python3
RUNTIME := .venv
DEVELOP := .venv-dev
CORES ?= all
GUESTS := $(patsubst %/guest.mk,%,$(wildcard */guest.mk))

.PHONY: help reproduce estimator test mutants benchmark docs lock clean-environments
.DEFAULT_GOAL := reproduce

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## make reproduce        recompute the papers
reproduce: $(RUNTIME)/installed
	$(RUNTIME)/bin/python scripts/reproduce.py --cores $(CORES)

## make estimator        write a page on your estimator: FILE=mine/my_estimator.py
FILE ?= mine/my_estimator.py
estimator: $(RUNTIME)/installed
	$(RUNTIME)/bin/snakemake --cores $(CORES) --config estimator=$(FILE)

## make benchmark        time the estimators
benchmark: $(RUNTIME)/installed
	$(RUNTIME)/bin/python scripts/benchmark.py

# Warnings are errors. Pictures and verdicts are those of results/ where a run has been made;
# `make test` runs the examples.
## make docs             build the documentation as a site, with each guest's
docs: $(RUNTIME)/docs
	$(RUNTIME)/bin/python -m sphinx -q -E -W --keep-going docs build/docs
	for guest in $(GUESTS); do \
	$(RUNTIME)/bin/python -m sphinx -q -E -W --keep-going $$guest/docs build/docs/$$guest || exit 1; done
	@echo open build/docs/index.html

## make test             run linters and tests
test: $(DEVELOP)/installed
	PATH="$(CURDIR)/$(DEVELOP)/bin:$$PATH" sh tests/run.sh

# Is each small fault in the lines that differ from a branch noticed by the fast tests? MUTANTS=
# gives other options of tests/mutants.py.
MUTANTS ?= --since main
## make mutants          test the tests with small faults
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

$(DEVELOP)/mutants: envs/requirements-mutants.lock $(DEVELOP)/installed
	$(call LOCKED,$(DEVELOP),$<)
	touch $@

COMPILE := uv pip compile --universal --python-version 3.11 --no-annotate --no-header --generate-hashes

## make lock             pin all requirements again
lock::
	$(COMPILE) --group build -o envs/requirements-build.lock
	$(COMPILE) --all-extras pyproject.toml -o envs/requirements.lock
	$(COMPILE) --all-extras --group dev pyproject.toml -c envs/requirements.lock -c envs/requirements-build.lock -o envs/requirements-dev.lock
	$(COMPILE) --group docs -c envs/requirements.lock -o envs/requirements-docs.lock
	$(COMPILE) --group mutants -c envs/requirements-dev.lock -o envs/requirements-mutants.lock

clean-environments::
	rm -rf $(RUNTIME) $(DEVELOP)

# Targets of the guests that are there: evidence, networks.
include $(wildcard */guest.mk)
