from pathlib import Path
from typing import Any

import numpy as np

from evidence.certified.values import data_sets
from evidence.steps.compare_peers import SAME, cause_of, values_of_peers
from pipeline.tables import write_table

COLUMNS = [
    "data_set", "quantity", "peer", "version", "printed", "certified", "agrees_with", "cause",
    "cause_established",
]  # fmt: skip
MASS = ("", "quantile_edge=lower", "quantile_edge=upper", "ties=cut", "ties=input_order")
# quantity: the measure that means the same, its norm, and the conventions that are looked at
CONVENTIONS = {
    "ece_width": ("ece_bin_ew", 1, ("", "edge=upper")),
    "ece_width_l2": ("ece_bin_ew", 2, ("", "edge=upper")),
    "ece_mass": ("ece_bin_em", 1, MASS),
    "ece_mass_l2": ("ece_bin_em", 2, MASS),
    "debiased_mass_l2": ("ece_debias_em", 1, MASS),
    "sweep_mass_l2": ("ece_sweep_em", 2, ("",)),
    "mce_width": ("mce_ew", 1, ("",)),
    "range": ("ecce_r", 1, ("",)),
    "corp_mcb": ("corp_mcb", 1, ("",)),
    "mmce": ("mmce", 1, ("",)),
}


def _row(data: Any, quantity: str, peer: str, version: str, printed: Any) -> list[Any]:
    measure, norm, conventions = CONVENTIONS[quantity]
    head = f"{measure} norm={norm}" if norm != 1 else measure
    keys = {convention: f"{head} {convention}".strip() for convention in conventions}
    certified = data.values[keys[""]]["value"]
    row = [data.name, quantity, peer, version]
    if isinstance(printed, str) or np.isnan(printed):
        refused = f"refused: {printed}".replace("refused: nan", "not a number")
        return [*row, refused, certified, "", "", ""]
    agrees = [
        key for key in keys.values() if abs(float(data.values[key]["value"]) - printed) <= SAME
    ]
    cause = ("", "") if agrees else cause_of(peer, quantity, *_arrays(data), printed)
    return [*row, printed, certified, "; ".join(agrees), *cause]


def _arrays(data: Any) -> tuple[np.ndarray, np.ndarray]:
    return np.array(data.scores, float), np.array(data.hits)


def compare_certified(
    *,
    environments: Path = Path(".venv-peers"),
    peers: list[str],
    output: Path = Path("evidence/resources/peers/certified.csv"),
) -> None:
    """Put what other packages print on the certified data sets next to the certified values.

    A printed number agrees with a convention where it is that certified value to 2e-6: room for
    float32 inside a package. Where it agrees with none, the peer's own definition is the cause, as
    in ``compare_peers``, whose environments it uses.

    environments: folder of environments
    peers: names of peers; none means all
    output: table to write
    """
    data = {data.name: data for data in data_sets()}
    pairs = {name: _arrays(data_set) for name, data_set in data.items()}
    rows = [
        _row(data[name], quantity, peer, version, value)
        for peer, version, values in values_of_peers(environments, pairs, peers)
        for name, quantities in values.items()
        for quantity, value in quantities.items()
        if quantity in CONVENTIONS
    ]
    write_table(output, COLUMNS, rows)
