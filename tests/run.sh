#!/bin/sh
# What `make test` runs: linters, then every test. Tools come from PATH: make puts its own first.
set -eu
ruff check .
ruff format --check .
snakefmt --check Snakefile workflow
mypy
snakemake --lint
PYTHONPATH=scripts lint-imports --no-cache
pytest -n 2 --dist loadgroup --durations 15
