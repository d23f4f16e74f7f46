#!/bin/sh
# What `make test` runs: linters, then every test. Tools come from PATH: make puts its own first.
set -eu
ruff check .
ruff format --check .
PYTHONPATH=scripts lint-imports --no-cache
snakefmt --check Snakefile workflow
# The slow linters run beside the tests, which mostly wait for Slurm at first; told at the end.
said=$(mktemp)
trap 'rm -f "$said"' EXIT
{ mypy && snakemake --lint; } > "$said" 2>&1 &
linters=$!
status=0
# three on two cores: the tests of Slurm mostly wait
pytest -n 3 --no-loadscope-reorder --durations 30 || status=$?
wait "$linters" || { status=$?; echo "mypy or snakemake --lint failed:" >&2; }
cat "$said" >&2
exit "$status"
