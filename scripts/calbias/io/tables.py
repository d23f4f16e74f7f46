"""Result tables: reading and writing CSV by the contracts of ``workflow/schemas/tables.yaml``."""

from pathlib import Path

import pandas as pd

from calbias.errors import InputError


def read_table(path, as_text=False):
    """Return a CSV table as a DataFrame; an empty file of a header alone has no rows.

    ``as_text`` keeps every cell as it stands. InputError if there is no such file, or no table.
    """
    if not Path(path).is_file():
        raise InputError(
            f"{path}: there is no such table; make it with snakemake, or mend its name"
        )
    try:
        options = {"dtype": str, "keep_default_na": False} if as_text else {}
        return pd.read_csv(path, **options)
    except (pd.errors.EmptyDataError, pd.errors.ParserError) as error:
        raise InputError(f"{path}: not a CSV table ({error}); delete it and run again") from error


def write_table(path, table, columns=None):
    """Write a DataFrame as CSV: UTF-8, \\n, floats as their shortest exact form."""
    pd.DataFrame(table, columns=None if columns is None else list(columns)).to_csv(
        path, index=False, lineterminator="\n"
    )


def true_errors_of(table, scenarios):
    """Return {scenario: TCE}, a fraction, for [(Scenario, row)] from ``true_calibration_error``.

    Raises InputError for a scenario that the table lacks.
    """
    known = table.set_index(["scenario", "curve"])["tce_percent"].to_dict()
    missing = [s.name for s, _ in scenarios if (s.name, s.curve.name) not in known]
    if missing:
        raise InputError(f"true_calibration_error has no scenario {missing[0]}: make it anew")
    return {s.name: known[s.name, s.curve.name] / 100 for s, _ in scenarios}


def groups_of(models, path):
    """Return {model: group}, its data set, of the models table read from ``path``.

    Raises InputError for a table without these columns.
    """
    for column in ("model", "group"):
        if column not in models:
            raise InputError(f"{path}: no column {column}; give the models table")
    return dict(zip(models["model"], models["group"], strict=True))


def is_true(column):
    """Return a boolean Series of a CSV column of True and False, whatever pandas made of it."""
    return column.astype(str).str.lower() == "true"
