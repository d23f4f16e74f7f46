"""What the authors' own files of fits and results say of the printed numbers, where they are."""

import numpy as np

from pipeline.claims.grounds import TABLE_3, Grounds
from pipeline.claims.verdicts import POINTS, Measurement, by_case
from pipeline.scenarios import HALF_LAST_DIGIT

_ROUNDS_TO = HALF_LAST_DIGIT * (1 + 1e-6)


def of_fits(grounds: Grounds) -> list[Measurement]:
    """Return how many numbers of the authors' file of fits round to those of Table 3."""
    fits = grounds.tables.get("authors_fits")
    if fits is None or fits.empty:
        return []
    both = grounds.tables[TABLE_3].merge(fits, on=["model", "glm"], suffixes=("_printed", ""))
    off = np.concatenate([(both[x] - both[f"{x}_printed"]).dropna() for x in ("aic", "b0", "b1")])
    close = 100 * float(np.mean(np.abs(off) <= _ROUNDS_TO))
    name = f"numbers of {off.size} in the authors' file that round to the printed ones"
    return [Measurement(name, close, "percent")]


def of_ece_bin(grounds: Grounds) -> list[Measurement]:
    """Return how far the authors' file is from the two columns of Table 4."""
    file = grounds.tables.get("authors_ece_bin")
    if file is None or file.empty:
        return []
    printed = grounds.table("ece_bin_real_and_simulated")
    both = printed.merge(file, on="model", suffixes=("_ours", ""))
    columns = {
        "real": ("ece_bin_percent", "published_ece_bin_percent"),
        "simulated": ("mean_simulated_ece_bin_percent", "published_simulated_percent"),
    }
    cases = {name: (both[a] - both[b]).abs().max() for name, (a, b) in columns.items()}
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
