"""The result tables as the ledger's rules read them: cut to the paper's grid, gaps reported."""

import itertools
from typing import NamedTuple

import pandas as pd

from calbias.claims.judgement import NotJudged, OtherNorm
from calbias.claims.tallies import error_of_mean
from calbias.io.tables import groups_of

SIZES = tuple(200 * 2**k for k in range(7))
HEATMAP_SIZES = SIZES[:-1]
BINS = (2, 4, 8, 16, 32, 64)
PAPER_BINS = 15
BINNED = tuple(f"ece_{f}_{s}" for f in ("bin", "debias", "sweep") for s in ("ew", "em"))
HEATMAP_MODELS = ("resnet110_c10", "resnet_wide32_c100", "resnet152_imgnet")
REAL = "real_logits"
FEWEST_REPLICATES = 500
PAPER_NORM = 2.0
WHATEVER_NORM = (
    *("scenarios", "beta_fits", "glm_fits"),  # fits, no errors
    *("recalibration_selection", "recalibration_sensitivity"),  # have a norm of their own, 2
)
"""Tables that config key ``norm`` does not change."""
_UNBINNED = -9  # stands for an empty n_bins, which no comparison would find


class Evidence(NamedTuple):
    """What a verdict may rest on: ``tables`` {stem: DataFrame} of results/tables, the ``models``
    table with columns model and group, and ``published`` {file stem: DataFrame}."""

    tables: dict
    models: pd.DataFrame
    published: dict

    def table(self, stem):
        """Return a result table; NotJudged if this run made none, or made it for another norm."""
        if self.tables.get(stem) is None or self.tables[stem].empty:
            raise NotJudged(f"table {stem} is absent")
        if stem not in WHATEVER_NORM:
            self.require_norm()
        return self.tables[stem]

    def require_norm(self):
        """Raise OtherNorm if table ``true_calibration_error`` has another norm than the paper."""
        table = self.tables.get("true_calibration_error")
        norms = [] if table is None else [x for x in table["norm"].unique() if x != PAPER_NORM]
        if norms:
            raise OtherNorm(f"norm is {norms[0]:g}; the paper's is {PAPER_NORM:g}")

    def published_models(self):
        """Return the names of the paper's ten models, whatever models the user has added."""
        return list(self.published["roelofs2022_table2_beta_fits"]["model"])

    def groups(self):
        """Return {model: data set} of the paper's models."""
        known = groups_of(self.models, "models table")
        absent = [model for model in self.published_models() if model not in known]
        if absent:
            raise NotJudged(f"the models table lacks {', '.join(absent)}")
        return {model: known[model] for model in self.published_models()}

    def bias(self, experiment, estimators, sizes=SIZES, scenarios=None, n_bins=(PAPER_BINS,)):
        """Return the rows of table ``bias`` on this grid.

        NotJudged if a row of it is absent, or has fewer than 500 replicates.

        ``n_bins`` holds for estimators with a fixed number; the sweep and the KDE have one row.
        """
        scenarios = self.published_models() if scenarios is None else scenarios
        table = self.table("bias")
        bins = table["n_bins"].astype(float).fillna(_UNBINNED)
        table = table.assign(n_bins=bins.astype(int))
        wanted = [
            (scenario, estimator, b, n)
            for scenario, estimator, n in itertools.product(scenarios, estimators, sizes)
            for b in bins_of(estimator, n_bins)
        ]
        keys = ["scenario", "estimator", "n_bins", "n_samples"]
        found = table[table["experiment"] == experiment].set_index(keys)
        found = found[~found.index.duplicated()]
        present = [key for key in wanted if key in found.index]
        if len(present) < len(wanted):
            first = next(key for key in wanted if key not in found.index)
            raise NotJudged(
                f"experiment {experiment} lacks {len(wanted) - len(present)} of the "
                f"{len(wanted)} rows of table bias that the rule compares, the first at "
                f"{first[0]}, {first[1]}, n = {first[3]}"
            )
        return enough_replicates(found.loc[wanted].reset_index(), experiment)

    def source(self, experiment, scenarios=None):
        """Return where the scenarios of an experiment come from, several joined by ' + '.

        Scores and curves printed in the paper's text count as published fits.
        """
        table = self.tables.get("scenarios")
        if table is None:
            return "published_fits"
        rows = table[table["experiment"] == experiment]
        if scenarios is not None:
            rows = rows[rows["scenario"].isin(scenarios)]
        return joined_sources(rows["source"])


def enough_replicates(rows, experiment):
    """Return ``rows``; NotJudged if some have too few replicates: ties would look like failures."""
    fewest = rows["n_replicates"].min()
    if fewest < FEWEST_REPLICATES:
        raise NotJudged(
            f"experiment {experiment} has {fewest:.0f} replicates; the rules want at least "
            f"{FEWEST_REPLICATES} (the paper: 1000)"
        )
    return rows


def bins_of(estimator, n_bins):
    """Return the ``n_bins`` values that an estimator's rows have, given those of fixed bins."""
    if "sweep" in estimator:
        return (-1,)
    return (_UNBINNED,) if estimator.startswith("kde") else tuple(n_bins)


def joined_sources(sources):
    """Return the distinct sources joined by ' + '; scenarios without a model are published."""
    known = sources.fillna("published_fits").replace({"synthetic": "published_fits"})
    return " + ".join(dict.fromkeys(known)) or "published_fits"


def by_estimator(rows, value, index=("scenario", "n_samples")):
    """Return ``rows`` with a column for each estimator, holding ``value``, sorted by ``index``."""
    return rows.pivot(index=list(index), columns="estimator", values=value)


def group_curves(rows, groups):
    """Return bias and its standard error averaged over the models of a data set, as in Fig 4.

    Columns group, estimator, n_samples, bias, se, in percent: models are simulated independently.
    """
    rows = rows.assign(group=rows["scenario"].map(groups))
    grouped = rows.groupby(["group", "estimator", "n_samples"], sort=False)
    curves = grouped["bias_percent"].mean().rename("bias").to_frame()
    curves["se"] = grouped["bias_se_percent"].agg(error_of_mean)
    return curves.reset_index()
