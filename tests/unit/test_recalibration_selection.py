"""Selections: ties between methods, resamples, agreement, and the tables over models."""

import numpy as np
import pandas as pd
import pytest

from calbias import InputError, estimate
from calbias.estimation.registry import known_estimators
from calbias.io.python_files import literal
from calbias.logits.top_label import top_label_of_scores
from reproduction.measures import draw_counts
from reproduction.selection import (
    CHOICES,
    DEFAULT,
    METHODS,
    VARIANTS,
    Selections,
    load_measures,
    measured,
    resampled_values,
    selected,
)
from reproduction.steps.select_recalibration import gathered, selection_table, sensitivity_table

PAPER = {"ece_bin_ew", "ece_sweep_em"}


def tops(n=400):
    """Return {variant: TopLabel}: temperature scaling is perfect, the others are not."""
    rng = np.random.default_rng(0)
    score = rng.beta(3, 1, n)
    hit = (rng.random(n) < score).astype(np.uint8)
    worse = {variant: top_label_of_scores(score**3, hit) for variant in VARIANTS}
    return {**worse, "temperature_scaling": top_label_of_scores(score, hit)}


def test_the_least_value_is_selected_and_of_equals_the_simpler_method():
    assert METHODS == ("temperature_scaling", "histogram_binning", "isotonic_regression")
    temperature, histogram = METHODS[:2]
    for values, method in (
        *(((0.2, 0.1, 0.3), histogram), ((0.0, 0.0, 0.0), temperature)),
        *(((np.nan, 0.1, 0.3), histogram), ((np.nan, np.nan, np.nan), None)),
    ):
        assert selected(dict(zip(METHODS, values, strict=True))) == method


def test_resamples_depend_on_seed_and_model_alone_and_extend():
    counts = draw_counts(50, 4, 7, "a")
    assert (counts.sum(axis=1) == 50).all()
    assert (draw_counts(50, 9, 7, "a")[:4] == counts).all()
    assert (draw_counts(50, 4, 8, "a") != counts).any()
    assert (draw_counts(50, 4, 7, "b") != counts).any()


def test_the_ks_error_by_hand_and_in_input_order():
    def ks_error(score, hit, ties="average"):
        top = top_label_of_scores(np.array(score, float), np.array(hit, np.uint8))
        return measured(load_measures(estimators={}), top, ties)["ks_error"]

    # Hits minus scores, cumulated: -0.5, -0.2, -0.1, all over 3.
    assert ks_error([0.9, 0.5, 0.7], [1, 0, 1]) == pytest.approx(0.5 / 3)
    # Four scores of 1/2 with hits 1, 1, 0, 0 are calibrated; in input order they are not.
    assert ks_error([0.5] * 4, [1, 1, 0, 0]) == 0
    assert ks_error([0.5] * 4, [1, 1, 0, 0], "input_order") == pytest.approx(0.25)


def test_another_norm_leaves_out_the_estimators_that_lack_it():
    norms = {name: literal(file, "NORMS", None) for name, file in known_estimators().items()}
    of_norm_2 = {name for name, usable in norms.items() if usable == (2,)}
    left_out = set(load_measures()) - set(load_measures(1.0))
    assert left_out == of_norm_2 >= {"ece_debias_em"}


@pytest.mark.parametrize("ties", ["average", "input_order"])
def test_values_on_resamples_are_those_of_the_resampled_rows(ties):
    rng = np.random.default_rng(1)
    top = top_label_of_scores(rng.integers(1, 12, 60) / 12, rng.integers(0, 2, 60))
    counts = draw_counts(60, 3, 0, "x")
    values = resampled_values(load_measures(), top, counts, ties)
    for b, count in enumerate(counts):
        rows = np.repeat(np.arange(60), count)
        for name in PAPER:
            expected = estimate(name, top.score[rows], top.hit[rows], norm=2, ties=ties).value
            assert values[name][b] == expected


def test_a_clear_winner_is_selected_by_all_on_every_resample():
    rows = pd.DataFrame(Selections(tops(), draw_counts(400, 8, 0, "x")).rows([DEFAULT]))
    assert rows["measure"].tolist() == [*known_estimators(), "ks_error"]
    assert (rows["reference_method"] == "temperature_scaling").all()
    papers = rows[rows["measure"].isin(PAPER)]
    assert (papers["selected_method"] == "temperature_scaling").all()
    names = ["agrees", "agreement_frequency", "selected_frequency", "n_resamples"]
    assert (papers[names] == [True, 1, 1, 8]).all(axis=None)


def test_agreement_frequency_counts_the_resamples_of_one_selection():
    selections = Selections(tops(), draw_counts(400, 4, 0, "x"))
    selections._resampled_reference = lambda variant, norm, b: {
        "temperature_scaling": np.array([0.1, 0.1, 0.3, 0.3]),
        "histogram_binning": np.array([0.2, 0.2, 0.2, 0.2]),
        "isotonic_regression": np.array([0.4, 0.4, 0.4, 0.1]),
    }[variant]
    row = next(r for r in selections.rows([DEFAULT]) if r["measure"] == "ece_bin_ew")
    assert row["agreement_frequency"] == 0.5


def test_every_choice_has_rows_and_the_beta_reference_no_frequency():
    rows = Selections(tops(100), draw_counts(100, 8, 0, "x")).rows()
    assert list(dict.fromkeys(row["choice"] for row in rows)) == [c.name for c in CHOICES]
    for row in rows:
        assert row["n_resamples"] == (8 if row["choice"] == "default" else 2)
        assert np.isnan(row["agreement_frequency"]) == (row["choice"] == "reference_glm_beta")


def made_selections(model, agrees=(True, False)):
    """Return the selections of a model under two choices."""
    return pd.DataFrame(
        [
            (model, "real_logits", choice, measure, "a", "ba"[tick], tick, 0.5 + 0.5 * c, 0.9, 8)
            for c, choice in enumerate(("default", "norm_1"))
            for measure, tick in zip(("ece_bin_ew", "ks_error"), agrees, strict=True)
        ],
        columns=[
            *("model", "source", "choice", "measure", "selected_method", "reference_method"),
            *("agrees", "agreement_frequency", "selected_frequency", "n_resamples"),
        ],
    )


def test_table_1_and_its_sensitivity_by_hand(tmp_path):
    paths = [tmp_path / "m1.csv", tmp_path / "m2.csv"]
    for path, agrees in zip(paths, ((True, False), (True, True)), strict=True):
        made_selections(path.stem, agrees).to_csv(path, index=False)
    selections = gathered(paths)
    columns = ["model", "ece_bin_selects_as_tce", "ece_sweep_selects_as_tce"]
    published = pd.DataFrame([("m1", False, True)], columns=columns)
    table = selection_table(selections, published, "published.csv")
    assert table["model"].tolist() == ["m1", "m1", "m2", "m2"]
    assert table["published_agrees"].tolist() == [False, None, None, None]
    assert table["selected_frequency"].tolist() == [0.9] * 4
    assert sensitivity_table(selections).to_numpy().tolist() == [
        ["default", "ece_bin_ew", 2, 2, 0.5, np.sqrt(0.5), 8],
        ["default", "ks_error", 2, 1, 0.5, np.sqrt(0.5), 8],
        ["norm_1", "ece_bin_ew", 2, 2, 1.0, 0.0, 8],
        ["norm_1", "ks_error", 2, 1, 1.0, 0.0, 8],
    ]


def test_mistaken_selections_are_named(tmp_path):
    path, table = tmp_path / "m.csv", made_selections("m")
    for rows, n, message in (
        (table, 2, "model m comes twice"),
        (table.drop(columns="agrees"), 1, r"m\.csv: no column agrees"),
    ):
        rows.to_csv(path, index=False)
        with pytest.raises(InputError, match=message):
            gathered([path] * n)
    with pytest.raises(InputError, match=r"t1\.csv: no column ece_bin"):
        selection_table(table, pd.DataFrame({"model": ["m"]}), "t1.csv")
