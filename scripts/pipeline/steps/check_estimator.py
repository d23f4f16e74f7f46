from pathlib import Path

from calbias.errors import InputError
from calbias.estimation.checking import failures
from pipeline.write_results import write_text


def check_estimator(*, estimator_file: Path, output: Path) -> None:
    """Check an estimator's file as ``calbias check`` does, before anything is simulated with it.

    estimator_file: file that defines the estimator
    output: text to write, a line
    """
    lines = failures(estimator_file)
    if lines:
        print(*(f"error: {line}" for line in lines[:-1]), sep="\n")
        raise InputError(lines[-1])
    write_text(output, f"{estimator_file}: all checks passed\n")
