"""Run a step of the workflow: ``run.py STEP --option …``; ``run.py --help`` lists the steps."""

import os

from pipeline.step_command import main

if __name__ == "__main__":
    # As in a job of Snakemake, which names its threads: sums of more have other last digits.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
