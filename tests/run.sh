#!/bin/sh
# What `make test` runs: linters, then every test. Tools come from PATH: make puts its own first.
set -eu
ruff check .
ruff format --check .
snakefmt --check Snakefile workflow
mypy
snakemake --lint
PYTHONPATH=scripts lint-imports --no-cache
# three on two cores: the tests of Slurm mostly wait
pytest -n 3 --no-loadscope-reorder --durations 30
