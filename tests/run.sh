#!/bin/sh
# What `make test` runs: linters, the basics (fast tests of parts), then what takes longer. Each
# runs only if what is before it passed. Tools come from PATH: make puts its own first.
set -eu
unset PYTHONDONTWRITEBYTECODE  # or each worker compiles all modules and tests again: 6 s of CPU
ruff check .
ruff format --check .
snakefmt --check Snakefile workflow
mypy
# jobs run in the environment of Snakemake itself, so that no rule names one
lints=$(snakemake --lint 2>&1 || true)
if ! echo "$lints" | grep -q '^Lints for' || echo "$lints" | grep '^    \* ' | grep -v 'conda'; then
  echo "$lints" | tail -n 20
  exit 1
fi
PYTHONPATH=scripts lint-imports --no-cache
guests=$(for file in */guest.mk; do [ ! -e "$file" ] || dirname "$file"; done)
for guest in $guests; do
  snakefmt --check "$guest/Snakefile" "$guest/rules"
  mypy "$guest/scripts/$guest"
  PYTHONPATH=scripts:$guest/scripts lint-imports --no-cache --config "$guest/.importlinter"
done
[ ! -d networks ] || mypy networks/trained
pytest -n 2 -m "not slow" --durations 10
for guest in $guests; do pytest -n 2 -m "not slow" --durations 10 "$guest/tests"; done
echo "The basics hold. What follows takes minutes: slow tests of parts, scripts, workflow, Slurm."
# three on two cores: the tests of Slurm mostly wait
pytest -n 3 -m slow --no-loadscope-reorder --durations 30
for guest in $guests; do
  pytest -n 3 -m slow --no-loadscope-reorder --durations 30 "$guest/tests"
done
