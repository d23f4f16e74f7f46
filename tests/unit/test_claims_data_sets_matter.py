"""R05: the rule on data set against architecture."""

import numpy as np
import pandas as pd
import pytest
from claims_data import GROUP, NAMES, judged

from calbias.claims.judgement import NotJudged


def scenarios(alpha, beta, b1):
    """Scenarios of experiment realistic; each argument is a function of the model's name."""
    rows = [
        ("realistic", name, "published_fits", alpha(name), beta(name), "power", np.nan, b1(name))
        for name in NAMES
    ]
    columns = "experiment scenario source alpha beta curve b0 b1"
    return pd.DataFrame(rows, columns=columns.split())


def by_group(name):
    return 1.0 + list(dict.fromkeys(GROUP.values())).index(GROUP[name])


def by_place(name):
    return 1.0 + (NAMES.index(name) * 7 % 10) / 3


def mixed(share):
    """Models of a data set are alike but for a share of what the place adds."""
    return lambda name: by_group(name) + share * by_place(name)


@pytest.mark.parametrize(
    ("table", "verdict"),
    [
        (scenarios(by_group, lambda n: 0.1, by_group), "reproduced"),
        (scenarios(by_group, lambda n: 0.1, by_place), "approximate"),
        (scenarios(by_place, lambda n: 0.1, by_place), "not_reproduced"),
        (scenarios(mixed(0.6), lambda n: 0.1, mixed(0.6)), "reproduced"),  # p = 0.04
        (scenarios(mixed(0.8), lambda n: 0.1, mixed(0.8)), "not_reproduced"),  # p = 0.06
    ],
)
def test_r05_data_set_before_architecture(table, verdict):
    assert judged("R05", scenarios=table).verdict == verdict


def test_r05_wants_all_ten_models():
    table = scenarios(by_group, lambda n: 0.1, by_group)
    with pytest.raises(NotJudged, match="lacks the scenario of resnet110_c10"):
        judged("R05", scenarios=table[1:])
