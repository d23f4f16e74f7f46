#!/bin/sh
# What `make test` runs: linters, the basics (fast tests of parts), then what takes longer. Each
# runs only if what is before it passed. Tools come from PATH: make puts its own first.
set -eu
unset PYTHONDONTWRITEBYTECODE  # or each worker compiles all modules and tests again: 6 s of CPU
ruff check .
ruff format --check .
snakefmt --check Snakefile workflow
mypy
snakemake --lint
PYTHONPATH=scripts lint-imports --no-cache
if [ -d evidence ]; then
  snakefmt --check evidence/Snakefile evidence/rules
  mypy evidence/scripts/evidence evidence/networks/measured evidence/networks/trained
  PYTHONPATH=scripts:evidence/scripts lint-imports --no-cache --config evidence/.importlinter
fi
pytest -n 2 -m "not slow" --durations 10
[ ! -d evidence ] || pytest -n 2 -m "not slow" --durations 10 evidence/tests
echo "The basics hold. What follows takes minutes: slow tests of parts, scripts, workflow, Slurm."
# three on two cores: the tests of Slurm mostly wait
pytest -n 3 -m slow --no-loadscope-reorder --durations 30
[ ! -d evidence ] || pytest -n 3 -m slow --no-loadscope-reorder --durations 30 evidence/tests
