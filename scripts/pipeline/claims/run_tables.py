"""What a verdict may rest on: the result tables, cut to the paper's grid, with gaps reported."""

import itertools
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import pandas as pd

from calbias.estimation.registry import CHOSEN, NO_BINS
from pipeline.claims.verdicts import Measurement, NotJudged, OtherNorm, Ruling, Verdict
from pipeline.logits import REAL_LOGITS
from pipeline.paper import MODEL_SIZES, MODELS, N_BINS, N_REPLICATES, NORM
from pipeline.scenarios import PrintedFits, printed_fits
from pipeline.table_schema import tables
from pipeline.tables import groups_of

FEWEST_REPLICATES = 500  # with fewer, ties would look like failures
TABLE_1, TABLE_2, TABLE_3 = PUBLISHED = (
    "roelofs2022_table1_recalibration_selection",
    "roelofs2022_table2_beta_fits",
    "roelofs2022_table3_glm_fits",
)
NO_OUTPUTS = "no model has genuine outputs in this run"


class RunTables(NamedTuple):
    """What claims are judged on.

    ``tables`` {stem: DataFrame}: of results/tables, the ``models`` table, and PUBLISHED ones.
    ``fewest_replicates`` is how many data sets a mean must be of.
    """

    tables: dict[str, pd.DataFrame]
    fewest_replicates: int = FEWEST_REPLICATES

    def table(self, stem: str) -> pd.DataFrame:
        """Return a result table; NotJudged if this run made none, or made it for another norm."""
        if self.tables.get(stem) is None or self.tables[stem].empty:
            raise NotJudged(f"table {stem} is absent")
        true_errors = self.tables.get("true_calibration_error")
        norms = (
            [] if true_errors is None else [x for x in true_errors["norm"].unique() if x != NORM]
        )
        if norms and not tables().get(stem, {}).get("any_norm"):
            raise OtherNorm(f"norm is {norms[0]:g}; the paper's is {NORM:g}")
        return self.tables[stem]

    def as_published(self, stem: str) -> pd.DataFrame:
        """Return a table's fits of real logits, under the softmax of the paper if there are any."""
        paper_stem = f"{stem}_float32_2020"
        table = self.tables.get(paper_stem)
        there = table is not None and not table.empty
        return self.of_published_models(paper_stem if there else stem)[1]

    def of_published_models(self, stem: str) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the rows of a table about the paper's models, and those with real logits."""
        table = self.table(stem)
        table = table[table["model"].isin(MODELS)]
        return table, table[table["source"] == REAL_LOGITS]

    def printed_fits(self) -> dict[str, PrintedFits]:
        """Return {model: PrintedFits} of Tables 2 and 3."""
        return printed_fits(self.tables[TABLE_2], self.tables[TABLE_3])

    def groups(self) -> dict[str, str]:
        """Return {model: data set} of the paper's models."""
        group_of = groups_of(self.tables["models"], "models table")
        absent = [model for model in MODELS if model not in group_of]
        if absent:
            raise NotJudged(f"the models table lacks {', '.join(absent)}")
        return {model: group_of[model] for model in MODELS}

    def bias(
        self,
        experiment: str,
        estimators: Collection[str],
        sizes: Collection[int] = MODEL_SIZES,
        scenarios: Collection[str] = MODELS,
        n_bins: Collection[int] = (N_BINS,),
    ) -> pd.DataFrame:
        """Return the rows of table ``bias`` on this grid; NotJudged unless all are there.

        ``n_bins`` holds for estimators with a fixed number; the sweep and the KDE have one row.
        """
        keys = ["scenario", "estimator", "n_bins", "n_samples"]
        table = self.table("bias")
        table = table[table["experiment"] == experiment]
        table = table.assign(n_bins=table["n_bins"].fillna(NO_BINS).astype(int))
        table = table.drop_duplicates(keys).set_index(keys)
        cells = [
            (scenario, estimator, b, n)
            for scenario, estimator, n in itertools.product(scenarios, estimators, sizes)
            for b in bins_of(estimator, n_bins)
        ]
        grid = pd.MultiIndex.from_tuples(cells, names=keys)
        absent = grid.difference(table.index, sort=False)
        if len(absent):
            scenario, estimator, _, n = absent[0]
            raise NotJudged(
                f"experiment {experiment} lacks {len(absent)} of the {len(grid)} rows of table "
                f"bias that the rule compares, the first at {scenario}, {estimator}, n = {n}"
            )
        return self.enough_replicates(table.loc[grid].reset_index(), experiment)

    def enough_replicates(self, rows: pd.DataFrame, experiment: str) -> pd.DataFrame:
        """Return ``rows``; NotJudged if some are of too few data sets."""
        fewest = rows["n_replicates"].min()
        if fewest < self.fewest_replicates:
            raise NotJudged(
                f"experiment {experiment} has {fewest:.0f} replicates; the rules want at least "
                f"{self.fewest_replicates} (the paper: {N_REPLICATES})"
            )
        return rows

    def source(self, experiment: str) -> str:
        """Return where an experiment's scenarios come from; printed numbers are published fits.

        Of an experiment on the paper's models, those alone count.
        """
        table = self.tables.get("scenarios")
        if table is None:
            return "published_fits"
        rows = table[table["experiment"] == experiment]
        is_paper = rows["scenario"].isin(MODELS)
        rows = rows[is_paper] if is_paper.any() else rows
        sources = rows["source"].replace({"synthetic": "published_fits"}).fillna("published_fits")
        return " + ".join(dict.fromkeys(sources)) or "published_fits"

    def error_ratio(self, experiment: str) -> float:
        """Return the error of the paper's means (1000 data sets) over that of ours."""
        rows = self.table("bias")
        ours = rows.loc[rows["experiment"] == experiment, "n_replicates"].max()
        return float((ours / N_REPLICATES) ** 0.5)


def bins_of(estimator: str, n_bins: Collection[int]) -> tuple[int, ...]:
    """Return the ``n_bins`` values that an estimator's rows have, given the ones of fixed bins."""
    if "sweep" in estimator:
        return (CHOSEN,)
    return (NO_BINS,) if estimator.startswith("kde") else tuple(n_bins)


def on_genuine(
    rows: pd.DataFrame,
    verdict: Verdict,
    measurements: Sequence[Measurement],
    notes: Sequence[str] = (),
    reason: str = "",
    *,
    models: Collection[str] = MODELS,
    holds: Iterable[pd.Series] = (),
    why_open: str = "",
) -> Ruling:
    """Return the Ruling on a claim about ``models`` that was judged on genuine outputs, ``rows``.

    On part of the models the verdict stands, and column ``models`` says "2 of 10", unless their
    number is what the claim is about (``why_open`` says so) or they disagree: ``holds`` are Series
    of booleans by model, or nothing where the rule is about each model. Rows of other networks
    count too, where a claim is about networks in general: "2 of 10 and 7 other".
    """
    names = set(rows["model"])
    judged, others = names & set(models), names - set(MODELS)
    source = " + ".join(dict.fromkeys(rows["source"]))
    if not names:
        return Ruling(Verdict.NEEDS_REAL_LOGITS, measurements, source, notes, reason=NO_OUTPUTS)
    if len(judged) == len(models):
        return Ruling(verdict, measurements, source, notes, reason=reason)
    part = f"{len(judged)} of {len(models)}" + f" and {len(others)} other" * bool(others)
    if any(0 < each.mean() < 1 for each in holds):
        why_open = why_open or "and they disagree"
    if why_open:
        verdict = Verdict.NEEDS_REAL_LOGITS
        reason = f"{part} models have genuine outputs, {why_open}"
    return Ruling(verdict, measurements, source, notes, models=part, reason=reason)
