"""The authors' draws: against NumPy's legacy generator, and the numbers that their code gives."""

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from claims_data import GROUP, TABLES
from nightly import daily

from calbias import Curve, Scenario
from calbias.estimators import ece_bin
from pipeline.scenarios import printed_fits
from pipeline.tables import read_table
from reproduction.authors_draws import batches, draw, seed_cycle, seeds
from reproduction.bias import PAIR, abs_pairs, average_pairs, paired_t_test
from reproduction.steps.draw_as_authors import figure_1, measure_draws, t_tests

KEPT = ROOT / "resources/evidence/draws"
FITS = printed_fits(TABLES["roelofs2022_table2_beta_fits"], TABLES["roelofs2022_table3_glm_fits"])
FLAT = Scenario("flat", 2.0, 0.04, Curve("logit_logit_b1", b1=0.05))  # many ties, of both labels


def by_numpy(seed, alpha, beta, n):
    """Return the scores and uniforms of a data set, row by row from NumPy's legacy generator."""
    generator = np.random.RandomState(seed)
    generator.random_sample()
    rows = []
    for _ in range(n):
        generator.random_sample()
        rows.append((generator.beta(alpha, beta), generator.random_sample()))
    return np.array(rows).T


@pytest.mark.parametrize(("alpha", "beta"), [(2.7752, 0.0478), (0.7, 2.5), (0.5, 0.3), (1.0, 0.2)])
def test_data_sets_are_those_of_the_legacy_generator(alpha, beta):
    chain = seeds(3)
    scores, hits = draw(Scenario("x", alpha, beta, Curve("power", b1=1.5)), 500, chain)
    for row, seed in enumerate(chain):
        expected, uniforms = by_numpy(seed, alpha, beta, 500)
        np.testing.assert_allclose(scores[row], expected, rtol=1e-14)
        np.testing.assert_array_equal(hits[row], uniforms < scores[row] ** 1.5)


def test_seeds_are_a_chain_that_recurs():
    first, second = seeds(2)
    assert first == 47
    assert second == int(1e7 * np.random.RandomState(47).random_sample())
    chain, recurring = seed_cycle()
    assert (len(chain), recurring) == (4744, 1302)
    assert seeds(len(chain) + 1)[-1] == chain[-recurring]


@pytest.mark.parametrize(("curve", "moved"), [("logit_logit_b1", True), ("log_log_b1", False),
                                          ("logflip_logflip_b1", False)])  # fmt: skip
def test_scores_of_one_move_where_the_curve_takes_a_logit(curve, moved):
    scores, _ = draw(Scenario("x", 2.0, 0.04, Curve(curve, b1=0.9)), 2000, seeds(1))
    assert (scores == 1).any() != moved
    assert (scores == 1 - 1e-16).any()


def test_a_small_data_set_is_the_beginning_of_a_larger_one_and_ties_keep_their_order():
    scores, hits = draw(FLAT, 2000, seeds(2))
    for n, batch in batches(FLAT, [2000, 500], seeds(2)):
        order = np.argsort(scores[1, :n], kind="stable")
        np.testing.assert_array_equal(batch.scores[1], scores[1, :n][order])
        np.testing.assert_array_equal(batch.hits()[1], hits[1, :n][order])
        gaps = np.cumsum(scores[1, :n][order] - hits[1, :n][order])
        np.testing.assert_allclose(batch.cum_gap[1], np.append(0, gaps), atol=1e-12)


def test_bias_is_what_the_authors_code_gives():
    """Values of the authors' code on these models, in points, to three decimals."""
    rows = read_table(KEPT / "authors_draws.csv")
    bias = rows.pivot(index=["scenario", "n_samples"], columns="estimator", values="bias_percent")
    expected = {
        ("resnet110_c10", "ece_debias_em"): "-.931 -.606 -.390 -.245 -.196 -.207 -.189",
        ("resnet110_c10", "ece_sweep_em"): ".035 -.173 -.181 -.143 -.149 -.187 -.184",
        ("densenet161_imgnet", "ece_debias_em"): "-1.076 -.987 -.421 -.219 -.105 -.076 -.070",
        ("densenet161_imgnet", "ece_sweep_em"): ".900 .424 .198 .044 .012 -.032 -.063",
    }
    for (model, estimator), values in expected.items():
        np.testing.assert_allclose(
            bias.loc[model, estimator], [*map(float, values.split())], atol=6e-4
        )


def test_the_kept_tables_agree_with_each_other():
    """The t-test of the kept numbers is that of the kept rows."""
    numbers = read_table(KEPT / "authors_numbers.csv").set_index(["quantity", "case"])["value"]
    pairs = abs_pairs(read_table(KEPT / "authors_draws.csv"), *PAIR)
    for pairing, n_pairs in (("cell", 70), ("model", 10), ("data set and n", 21)):
        test = paired_t_test(average_pairs(pairs, pairing, GROUP), *PAIR)
        assert numbers["n_pairs", f"by {pairing}"] == test["n_pairs"] == n_pairs
        for name in ("t_statistic", "p_value"):
            assert numbers[name, f"by {pairing}"] == pytest.approx(test[name], rel=1e-9)
    assert [round(numbers["mean_abs_bias_percent", name], 3) for name in PAIR] == [0.505, 0.348]
    assert round(numbers["t_statistic", "by cell"], 2) == 5.03


@pytest.mark.parametrize("model", daily(list(FITS), 1))
def test_the_kept_draws_are_those_of_this_code(model):
    kept = read_table(KEPT / "authors_draws.csv").query("scenario == @model").reset_index(drop=True)
    sizes = sorted({*kept["n_samples"]}) if model != "resnet110_c10" else [200, 400]
    kept = kept[kept["n_samples"].isin(sizes)].reset_index(drop=True)
    rows, _ = measure_draws([FITS[model].scenario()], sizes, 1000, GROUP, seed=2022)
    numbers = kept.select_dtypes("number").columns
    np.testing.assert_allclose(rows[numbers].astype(float), kept[numbers].astype(float), rtol=1e-7)


def test_errors_of_the_test_are_over_data_sets_that_all_cells_share():
    """Two models that see the same noise in each data set keep the difference of their biases."""
    noise = np.random.default_rng(3).normal(0, 1, 400)
    rows = pd.DataFrame(
        [(model, estimator, 200, 10.0) for estimator in ("ece_debias_em", "ece_sweep_em")
         for model in list(GROUP)[:3]],
        columns=["scenario", "estimator", "n_samples", "tce_percent"],
    )  # fmt: skip
    percent = {
        "ece_debias_em": 12.0 + np.arange(3)[:, None] + noise,
        "ece_sweep_em": 11.0 + 2 * np.arange(3)[:, None] / 3 + noise,
    }
    means = [values.mean(axis=1) - 10.0 for values in percent.values()]
    rows["bias_percent"] = np.concatenate(means)
    numbers = {(x["quantity"], x["case"]): x for x in t_tests(rows, percent, GROUP, seed=1)}
    debias = numbers["mean_abs_bias_percent", "ece_debias_em"]
    assert debias["value"] == pytest.approx(3 + noise.mean())
    assert debias["error"] == pytest.approx(noise.std() / 20, rel=0.1)  # not less by averaging
    t = numbers["t_statistic", "by cell"]
    gains = 1 + np.arange(3) / 3
    assert t["value"] == pytest.approx(gains.mean() / gains.std(ddof=1) * 3**0.5)
    assert t["error"] < 1e-9  # the noise cancels in every cell
    assert numbers["gain_percent", "n = 200"]["value"] == pytest.approx(gains.mean())


def test_figure_1_has_the_authors_data_sets():
    rows = {(x["quantity"], x["case"]): x for x in figure_1()}
    numbers = {key: row["value"] for key, row in rows.items()}
    once, million = (
        rows["figure_1_percent", case]["error"]
        for case in ("mean, each data set once", "mean of a million")
    )
    assert million * 1302**0.5 == pytest.approx(once * 4744**0.5, rel=0.05)
    first, second = (numbers["figure_1_percent", f"data set {k}"] for k in (1, 2))
    assert (round(first, 2), round(second, 4)) == (7.49, 5.0838)
    assert round(numbers["figure_1_percent", "mean of a million"], 3) == 6.653
    _, data = next(batches(Scenario("x", 2.8, 0.05, Curve("identity")), [200], seeds(1)))
    assert first == 100 * ece_bin.estimate_data_sets(data, 15, 2.0, "equal_width")[0][0]
