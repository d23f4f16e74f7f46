"""What the authors' own files of fits and results say of the printed numbers, where they are."""

import numpy as np

from pipeline.claims.grounds import TABLE_3, Grounds
from pipeline.claims.verdicts import POINTS, Measurement, by_case
from pipeline.scenarios import HALF_LAST_DIGIT

_ROUNDS_TO = HALF_LAST_DIGIT * (1 + 1e-6)


def of_fits(grounds: Grounds) -> list[Measurement]:
    """Return how many numbers of the authors' file of fits round to those of Table 3."""
    file = grounds.tables.get("authors_recorded")
    if file is None or file.empty:
        return []
    keys = ["model", "glm", "quantity"]
    printed = grounds.tables[TABLE_3].melt(keys[:2], ["aic", "b0", "b1"], keys[2], "printed")
    both = printed.merge(file.rename(columns={"case": "glm"}), on=keys)
    off = (both["value"] - both["printed"]).dropna()
    close = 100 * float(np.mean(off.abs() <= _ROUNDS_TO))
    name = f"numbers of {off.size} in the authors' file that round to the printed ones"
    return [Measurement(name, close, "percent")]


def of_ece_bin(grounds: Grounds) -> list[Measurement]:
    """Return how far the authors' file is from the two columns of Table 4."""
    file = grounds.tables.get("authors_recorded")
    if file is None or file.empty:
        return []
    printed = grounds.table("ece_bin_real_and_simulated").set_index("model")
    columns = {
        "real": ("ece_bin_percent", "published_ece_bin_percent"),
        "simulated": ("mean_simulated_ece_bin_percent", "published_simulated_percent"),
    }
    cases = {}
    for name, (quantity, column) in columns.items():
        values = file[file["quantity"] == quantity].set_index("model")["value"]
        cases[name] = (values - printed[column]).abs().max()
    return by_case("the authors' file, largest difference to Table 4", cases, POINTS)


def of_biases(grounds: Grounds) -> list[Measurement]:
    """Return how far the biases of the authors' file are from those of the data sets drawn here."""
    numbers = grounds.table("authors_numbers")
    values = numbers.set_index("quantity")["value"]
    if "recorded_bias_cells" not in values:
        return []
    name = (
        f"the authors' file, largest difference of bias, {values['recorded_bias_cells']:.0f} cells"
    )
    return [Measurement(name, values["recorded_bias_difference_percent"], POINTS)]
