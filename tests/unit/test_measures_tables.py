"""Measures of a model by method, and their tables next to the printed ones."""

import numpy as np
import pandas as pd
import pytest
from checkout import PUBLISHED
from recalibration_data import drawn

from calbias.errors import InputError
from calbias.io.table_schema import columns_of
from calbias.logits.ranked import ranked_hits
from calbias.logits.store import Logits
from calbias.logits.top_label import top_label
from calbias.measures import outputs as outputs_file
from calbias.measures.of_model import bin_rows, graph_rows, measure_rows
from calbias.measures.outputs import outputs_of_logits, outputs_of_scores
from calbias.measures.printed import printed_values
from calbias.measures.registry import measure, measures
from calbias.measures.tables import METHODS, measures_table, printed_tables
from calbias.truth.paper import MODELS

FILES = {model: f"{model}.p" for model in MODELS}


@pytest.fixture(scope="module")
def by_method():
    found = outputs_of_logits(
        Logits(drawn(400, seed=1, temperature=2), drawn(600, seed=2, temperature=2), "real_logits")
    )
    return {outputs.method: outputs for outputs in found}


def counts(n, b=20):
    generator = np.random.default_rng(0)
    return np.stack([np.bincount(generator.integers(0, n, n), minlength=n) for _ in range(b)])


def test_every_method_has_the_measures_that_its_outputs_allow(by_method):
    assert list(by_method) == [*METHODS, "platt_scaling", "platt_scaling_top_label"]
    for method, outputs in by_method.items():
        rows = list(measure_rows(outputs, counts(600)))
        names = {row["measure"] for row in rows}
        one_score = {name for name, m in measures().items() if m.reads == "top_label"}
        of_rank = {"ks_top2", "ks_within_top2"} if "spline" in method else set()
        is_score = "spline" in method or "top_label" in method
        assert names == (one_score | of_rank if is_score else set(measures())), method
        assert all(row["low_percent"] <= row["high_percent"] for row in rows)
        assert {r["measure"] for r in rows if r["low_percent"] < 0} <= {"overconfidence"}
    ece = {method: measure("ece", o.scores, o.hits) for method, o in by_method.items()}
    assert min(ece, key=ece.get) != "uncalibrated" == max(ece, key=ece.get)


def test_the_spline_is_fitted_anew_for_other_ranks_and_numbers_of_knots(by_method):
    outputs, fold = by_method["spline"], drawn(600, seed=2, temperature=2)
    chosen, scores, hits = outputs.given("ks_top2")
    assert chosen.name == "ks_top1"
    assert (hits == ranked_hits(*fold, rank=2)).all()
    assert scores.mean() == pytest.approx(hits.mean(), abs=0.05)
    assert (outputs.given("ece25")[1] != outputs.scores).any()
    assert outputs.given("nll") is None


def test_what_a_method_refuses_is_said_in_its_place(monkeypatch):
    few = Logits(drawn(10, seed=1, temperature=2), drawn(50, seed=2, temperature=2), "real_logits")
    by_method = {outputs.method: outputs for outputs in outputs_of_logits(few)}
    assert "10 samples are too few for a spline" in by_method["spline"].needs
    monkeypatch.setattr(outputs_file, "MOST_CLASSES", 3)
    [refused] = outputs_of_logits(few, methods=["ms_odir"])
    assert refused.needs == "ms_odir with 4 classes takes days: fit it by load_method"
    assert list(measure_rows(refused, None)) == [
        {"method": "ms_odir", "measure": "", "needs": refused.needs}
    ]


def test_a_measure_that_refuses_the_rows_leaves_the_others(monkeypatch):
    top = top_label(*drawn(30, temperature=2))
    [outputs] = outputs_of_scores(top, None)  # too few rows for halves

    def refuse(scores, hits):
        raise InputError("no density")

    monkeypatch.setattr(measures()["kde_ece"].file, "measure", refuse)
    rows = {row["measure"]: row for row in measure_rows(outputs, counts(30))}
    assert rows.pop("kde_ece")["needs"] == "no density"
    assert all("value" in row for row in rows.values())


def test_a_spline_on_half_is_judged_on_the_other_half():
    top = top_label(*drawn(2000, temperature=2))
    as_it_is, halved = outputs_of_scores(top, np.random.default_rng(0))
    assert len(as_it_is.hits) == 2 * len(halved.hits) == 2000
    assert measure("ks_top1", halved.scores, halved.hits) < 0.05
    assert measure("ks_top1", top.score, top.hit) > 0.15


def test_bins_and_graphs_by_hand():
    given = outputs_file.Outputs("m", np.array([0.5, 0.9, 0.95, 1.0]), np.array([1, 0, 1, 1]))
    bins = bin_rows(given)
    assert bins["n_in_bin"].tolist() == [0] * 7 + [1] + [0] * 5 + [1, 2]
    assert bins.loc[14, ["mean_score", "mean_hit"]].tolist() == pytest.approx([0.975, 1.0])
    assert bins["mean_hit"].isna().sum() == 12
    assert graph_rows(given)["hit_probability"].isna().all()  # fewer rows than knots
    many = outputs_file.Outputs("m", np.linspace(0.3, 1, 8), np.array([0, 1] * 4))
    graph = graph_rows(many)
    assert graph["cumulative_hit"].tolist() == [0, 0.125, 0.125, 0.25, 0.25, 0.375, 0.375, 0.5]
    assert graph["cumulative_score"].iloc[-1] == pytest.approx(0.65)
    assert graph["null_sd"].iloc[0] == pytest.approx(
        np.sqrt(np.sum(many.scores * (1 - many.scores))) / 8
    )


def test_a_printed_cell_without_a_value_says_what_it_needs():
    computed = pd.DataFrame(
        [
            ("resnet110_c10", "real_logits", "uncalibrated", "ks_top1", 0.0475, 4.75, 4, 5, ""),
            ("resnet110_c10", "real_logits", "matrix_scaling", "", *[np.nan] * 4, "a penalty"),
            ("mine", "real_scores", "spline_on_half", "ece", 0.02, 2, 1, 3, np.nan),
        ],
        columns=[c for c in columns_of("measures") if not c.startswith("published")],
    ).assign(published_percent=np.nan, published_source=np.nan)
    files = {**FILES, "mine": "mine.npz"}
    table = measures_table([computed], printed_values(PUBLISHED), files)
    cells = table.set_index(["model", "method", "measure"])
    assert cells.index.is_unique
    found = cells.loc["resnet110_c10", "uncalibrated", "ks_top1"]
    assert (found["value_percent"], found["published_percent"], found["needs"]) == (4.75, 4.75, "")
    assert cells.loc["resnet110_c10", "matrix_scaling", "ece"]["needs"] == "a penalty"
    needs = cells.loc["densenet40_c10", "spline", "ks_top1"]["needs"]
    assert needs == "densenet40_c10.p in logits_dir"
    assert "models table" in cells.loc["dan3_reuters", "bbq", "ece"]["needs"]
    assert cells.loc["mine", "spline_on_half", "ece"]["value_percent"] == 2
    assert (table["value_percent"].isna() == (table["needs"] != "")).all()
    models = list(dict.fromkeys(table["model"]))
    assert models[: len(files)] == list(files)

    papers = printed_tables(table)
    assert len(papers) % 2 == 0
    place = papers["published_source"] == "Gupta et al. 2021, Table 1"
    rows = papers[place & (papers["model"] == "resnet110_c10")].set_index("row")
    assert rows.loc["computed", "uncalibrated_percent"] == 4.75
    assert rows.loc["printed", ["uncalibrated_percent", "spline_percent"]].tolist() == [4.75, 0.643]
    assert (rows.loc["computed", "source"], rows.loc["printed", "source"]) == ("real_logits", "")
