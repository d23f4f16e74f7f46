"""G08 to G12, S08 to S12: the printed tables with cells changed, so that sentences turn."""

import pandas as pd
import pytest
from checkout import PUBLISHED
from claims_data import NAMES, judged, verdicts_of

from pipeline.claims.verdicts import NotJudged
from reproduction.steps.tabulate_measures import printed_tables

RECORDED = "claims_measured.yaml"
CELLS = pd.read_csv(PUBLISHED / "guo2017_gupta2021.csv")
PRINTED = printed_tables(CELLS.assign(value_percent=None, source=None))
PRINTED.loc[PRINTED["row"] == "computed", "temperature_scaling_percent"] = 0.0  # is not read
LOWER_SPLINE = {"spline": lambda t: t.min(axis=1) - 0.001}


def in_table(place):
    """A function that returns the tables with changes {method: value, or function of the rows}.

    ``models`` are those whose rows change, by default all of this place.
    """

    def make(changes, models=None, measure=None):
        table = PRINTED.copy()
        there = (table["published_source"] == place) & (table["row"] == "printed")
        there &= table["model"].isin(models or table["model"])
        there &= table["measure"].isin([measure] if measure else table["measure"])
        values = table.loc[there].filter(like="_percent").astype(float)
        for method, value in changes.items():
            table.loc[there, f"{method}_percent"] = value(values) if callable(value) else value
        return {"printed_tables": table}

    return make


GUO, ONE, FOUR, SIX, SEVEN = (
    in_table(f"{paper}, Table {k}")
    for paper, k in (
        ("Guo et al. 2017", 1), *(("Gupta et al. 2021", k) for k in (1, 4, 6, 7)),
    )
)  # fmt: skip
NLP = ["dan3_20news", "dan3_reuters", "treelstm_sst2", "treelstm_sst5"]
LENET = ["lenet5_c100"]

test_g08_lenet = verdicts_of(
    "G08", GUO,
    reproduced=[({"uncalibrated": 3.99}, LENET)],
    approximate=[
        *({}, ({"uncalibrated": 4.0}, LENET)),
        ({"uncalibrated": 3.0}, ["resnet110_c100", *LENET]),
    ],
    not_reproduced=[({"uncalibrated": 16.6}, LENET)],
)  # fmt: skip
test_g09_typical = verdicts_of(
    "G09", GUO,
    reproduced=[{}],
    approximate=[
        ({"uncalibrated": 1.0}, ["dan3_reuters"]), ({"uncalibrated": 0.9}, LENET),
        ({"uncalibrated": 10.1}, ["resnet50_birds", "resnet50_cars"]),  # nine of 19 are left
    ],
    not_reproduced=[({"uncalibrated": 0.9}, ["resnet50_birds", "resnet50_cars"])],
)  # fmt: skip
test_g10_comparable = verdicts_of(
    "G10", GUO,
    reproduced=[{}, ({"temperature_scaling": 2.69}, NLP[3:])],  # 0.3 above the median of 2.39
    approximate=[({"temperature_scaling": 2.70}, NLP[3:])],
    not_reproduced=[({"temperature_scaling": 9.0}, NLP[:2])],
)  # fmt: skip
REUTERS = ["dan3_reuters"]
test_g11_reuters = verdicts_of(
    "G11", GUO,
    reproduced=[{}],
    approximate=[
        ({"temperature_scaling": 0.9}, ["resnet152_SD_svhn"]),
        ({"bbq": 0.84}, REUTERS), ({"vector_scaling": 0.85}, REUTERS),
    ],
    not_reproduced=[({"temperature_scaling": 0.8}, REUTERS)],
)  # fmt: skip
BINNED = dict.fromkeys(("histogram_binning", "isotonic_regression", "bbq"), 5.0)
BEATEN = ["resnet50_cars", "resnet110_c10", "resnet152_SD_svhn", NLP[0], *NLP[2:]]
test_g12_binning = verdicts_of(
    "G12", GUO,
    reproduced=[(BINNED, BEATEN)],
    approximate=[{}, ({"histogram_binning": 0.1},)],  # two of three are in at most a quarter
    not_reproduced=[({"histogram_binning": 0.1, "bbq": 0.1},), dict.fromkeys(BINNED, 20.0)],
)  # fmt: skip
LOWEST = {"temperature_scaling": lambda t: t.min(axis=1) - 0.001}
VISION = [name for name in PRINTED.loc[PRINTED["published_source"] == "Guo et al. 2017, Table 1",
                                       "model"].unique() if name not in NLP]  # fmt: skip
test_g02_temperature_scaling_is_the_lowest = verdicts_of(
    "G02", GUO,
    reproduced=[(LOWEST, VISION)],
    approximate=[{}],  # ten of 15
    not_reproduced=[({"temperature_scaling": 30.0}, VISION[:10])],
)  # fmt: skip
test_g04_matrix_scaling = verdicts_of(
    "G04", GUO,
    reproduced=[{}, ({"matrix_scaling": 0.0}, ["resnet110_c10"])],  # ten classes
    approximate=[({"matrix_scaling": 0.0}, ["resnet110_c100"])],
    not_reproduced=[{"matrix_scaling": 0.0}],
)  # fmt: skip
test_g05_histogram_binning = verdicts_of(
    "G05", GUO,
    reproduced=[{}],
    approximate=[{"isotonic_regression": 0.0}],
    not_reproduced=[{"histogram_binning": 30.0}],
)  # fmt: skip
test_s02_lowest_and_low = verdicts_of(
    "S02", ONE,
    reproduced=[{"spline": 0.1}],
    approximate=[{}],  # 12 of 13 are below 1 %, nine the lowest
    not_reproduced=[({"spline": 1.2}, ["resnet110_c10", "densenet40_c10"])],
)  # fmt: skip


def test_what_a_run_computes_of_a_printed_table_is_shown_and_does_not_count():
    table = ONE({"spline": 0.1})["printed_tables"]
    rows = table[table["published_source"] == "Gupta et al. 2021, Table 1"][:2]
    computed = rows.assign(row="computed", spline_percent=[9.0, 0.0],
                           temperature_scaling_percent=1.0)  # fmt: skip
    ruling = judged("S02", printed_tables=pd.concat([table[table["row"] == "printed"], computed]))
    shown = [m for m in ruling.measurements if m.name.startswith("computed")]
    assert (ruling.verdict, shown[0].value, shown[0].unit) == ("reproduced", 1, "of 2 rows")


test_s08_lowest_ece = verdicts_of(
    "S08", SIX,
    reproduced=[LOWER_SPLINE],
    approximate=[(LOWER_SPLINE, ["resnet110_SD_c10", "densenet40_c10"])],  # seven of 13
    not_reproduced=[{}, (LOWER_SPLINE, ["resnet110_SD_c10"])],
)  # fmt: skip
test_s09_lowest_other_measures = verdicts_of(
    "S09", SEVEN,
    reproduced=[LOWER_SPLINE],
    approximate=[{}],
    not_reproduced=[({"spline": 50.0}, ["densenet161_imgnet"])],
)  # fmt: skip
test_s10_below_both_matrices = verdicts_of(
    "S10", ONE,
    reproduced=[({"spline": 0.29}, ["resnet_wide32_c10"])],
    approximate=[{}, ({"spline": 0.291}, ["resnet_wide32_c10"])],
    not_reproduced=[{"spline": 9.0}],
)  # fmt: skip
OTHERS = ("vector_scaling", "ms_odir", "dir_odir")
test_s11_second = verdicts_of(
    "S11", ONE,
    reproduced=[({"spline": 0.1}, ["resnet_wide32_c10"])],  # three rows are left
    approximate=[{}, ({"spline": 0.7, **dict.fromkeys(OTHERS, 1.0)}, ["resnet_wide32_c10"])],
    not_reproduced=[({"spline": 5.0}, ["resnet_wide32_c10"])],
)  # fmt: skip
FOUR_OTHERS = [f"{name}_percent" for name in ("temperature_scaling", *OTHERS)]
FIRST = ["resnet_wide32_c10", *(name for name in NAMES if name != "resnet_wide32_c10")]


def median_and(points):
    return lambda t: t[FOUR_OTHERS].median(axis=1) + points


test_s12_comparable = verdicts_of(
    "S12", FOUR,
    reproduced=[{"spline": median_and(0.3)}],
    approximate=[{}, ({"spline": median_and(0.301)}, FIRST[:6])],
    not_reproduced=[({"spline": median_and(0.301)}, FIRST[:7])],  # of 13
)  # fmt: skip


def test_without_the_printed_table_nothing_is_judged():
    table = PRINTED[~PRINTED["published_source"].str.startswith("Guo")]
    with pytest.raises(NotJudged, match=r"lacks ece of Guo et al\. 2017, Table 1"):
        judged("G09", printed_tables=table)
