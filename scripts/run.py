"""Run a step of the workflow: ``run.py STEP --option …``; ``run.py --help`` lists the steps."""

from pipeline.step_command import main

if __name__ == "__main__":
    main()
