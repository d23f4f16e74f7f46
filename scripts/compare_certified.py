"""Put what other packages print on the certified data sets next to the certified values.

A printed number agrees with a convention where it is that certified value to 2e-6: room for float32
inside a package. Where it agrees with none, the peer's own definition is the cause, as in
``compare_peers.py``, whose environments it uses.
"""

from pathlib import Path

import numpy as np

from compare_peers import SAME, cause_of, values_of_peers
from evidence.certified import data_sets
from pipeline.script import option, script
from pipeline.tables.files import write_table

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


def _row(data, quantity, peer, version, printed):
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


def _arrays(data):
    return np.array(data.scores, float), np.array(data.hits)


@script(
    option("--environments", "folder of environments", Path, default=Path(".venv-peers")),
    option("--peers", "names of peers; none means all", many=True, default=[]),
    option("--output", "table to write", default="resources/peers/certified.csv"),
)
def main(options):
    data = {data.name: data for data in data_sets()}
    pairs = {name: _arrays(of) for name, of in data.items()}
    rows = [
        _row(data[name], quantity, peer, version, value)
        for peer, version, values in values_of_peers(options.environments, pairs, options.peers)
        for name, of_quantity in values.items()
        for quantity, value in of_quantity.items()
        if quantity in CONVENTIONS
    ]
    write_table(options.output, COLUMNS, rows)


if __name__ == "__main__":
    main()
