"""Every figure of the evidence, drawn from the smoke run's tables with gaps, few or strange."""

import pandas as pd
import pytest
import test_figures as papers

from pipeline import catalogue, guests

small = papers.small
FIGURES = catalogue.figures(guests.workflows()[1])


@pytest.fixture(scope="session")
def tables(evidence):
    """{name: table} of the run; what runs on their own make has the smaller run's rows."""
    made = {p.stem: pd.read_csv(p) for p in (evidence / "results/tables").glob("[!R]*.csv")}
    made["models"] = pd.read_csv(evidence / "config/smoke_models.csv")
    made["league_full_ranking"] = made["league_ranking"]
    return {**made, "multiclass_league_full": made["multiclass_league"]}


@pytest.mark.nightly
@pytest.mark.parametrize("figure", FIGURES)
def test_draws_one_model_with_an_unknown_estimator_and_numbers_missing(figure, small):
    papers.test_draws_one_model_with_an_unknown_estimator_and_numbers_missing(figure, small)
