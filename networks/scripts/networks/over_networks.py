"""What claims on trained networks of known calibration error share.

``on_networks`` makes claim N09 of claim R09, and so on. The unit is a network: its mean over the
sample sizes, or the verdict of the paper's rule on it alone. Standard errors and p-values are over
networks. Each rule judges all networks, and then those of each set alone.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, Self

import numpy as np
import pandas as pd

from pipeline.claims.claim import Claim, claim, words_of
from pipeline.claims.run_tables import RunTables
from pipeline.claims.verdicts import POINTS, Measurement, NotJudged, Ruling, Verdict, by_case
from pipeline.paper import MODEL_SIZES, N_BINS
from reproduction.claims.t_test import SIGNIFICANT

MISCALIBRATED = 4.0  # percent: the ten models of the paper have more
MOST = 0.75  # share of networks
FEWEST_NETWORKS, FEWEST_DATA_SETS = 10, 100
SOURCE = "trained_networks"
SETS = {"design": "chosen by hand", "first": "drawn first", "second": "drawn second"}
ERRORS = "± one standard error over networks"
ON_TRUTH = f"Networks of known truth above {MISCALIBRATED:g} %, each its mean over seven n"
TESTED = f"a t-test over networks with p < {SIGNIFICANT:g}"
BY_NETWORK = (
    f"The paper's rule judges each network of known truth above {MISCALIBRATED:g} % alone: "
    f"reproduced if it says so of at least {MOST:.0%} of them, approximate if it says so, or "
    "approximate, of more than half"
)


class Sample(NamedTuple):
    """Some trained networks, by name, and the tables on them."""

    networks: pd.DataFrame
    run: RunTables

    @classmethod
    def of(cls, run: RunTables, *sets: str) -> Self:
        """Return the networks of some of SETS; NotJudged where there are few."""
        about = run.table("networks").set_index("scenario")
        return cls(about[about["drawn"].isin(sets)], run)._checked()

    @property
    def with_partners(self) -> pd.DataFrame:
        """The networks, and those that differ from one of the second set in one setting."""
        about = self.run.table("networks").set_index("scenario")
        sets = {*self.networks["drawn"]}
        return about[about["drawn"].isin(sets | {"partner"} if "second" in sets else sets)]

    def above(self, least: float = MISCALIBRATED) -> Self:
        """Return the networks with a true error above ``least`` percent."""
        kept = self.networks[self.networks["l2_percent"] > least]
        return self._replace(networks=kept)._checked()

    def _checked(self) -> Self:
        if len(self.networks) < FEWEST_NETWORKS:
            raise NotJudged(f"table networks has fewer than {FEWEST_NETWORKS} of such networks")
        return self

    def table(self, name: str) -> pd.DataFrame:
        """Return the rows of a table on these networks."""
        table = self.run.table(name)
        return table[table["scenario"].isin(self.networks.index)]

    def grid(self, law: str = "population") -> pd.DataFrame:
        """Return the rows of table ``network_bias`` under a law, of all numbers of bins."""
        table = self.table("network_bias")
        rows = table[(table["law"] == law) & table["n_samples"].isin(MODEL_SIZES)]
        if {*rows["n_samples"]} != {*MODEL_SIZES}:
            raise NotJudged(f"table network_bias lacks sample sizes of law {law}")
        if rows["n_replicates"].min() < FEWEST_DATA_SETS:
            raise NotJudged(
                f"table network_bias has fewer than {FEWEST_DATA_SETS} data sets a cell"
            )
        return rows

    def bias(self, law: str = "population") -> pd.DataFrame:
        """Return those with the usual number of bins, or with none."""
        rows = self.grid(law)
        return rows[~(rows["n_bins"] > 0) | (rows["n_bins"] == N_BINS)]

    def sizes(self, law: str = "population") -> pd.DataFrame:
        """Return mean |bias| over n, percent, a row a network and a column an estimator."""
        rows = self.bias(law)
        return rows.assign(size=rows["bias_percent"].abs()).pivot_table(
            "size", "scenario", "estimator"
        )


class OverNetworks(NamedTuple):
    """A mean over networks with its standard error, its p-value, and how many are above 0."""

    mean: float
    error: float
    p_value: float
    above: int
    n: int

    @classmethod
    def of(cls, values: pd.Series) -> Self:
        """Return the mean of a Series, a value a network, tested against 0."""
        from scipy.stats import ttest_1samp  # other claims read no table of networks

        values = values.dropna()
        if len(values) < 2:
            raise NotJudged("fewer than two networks have what the rule compares")
        p = (
            float(ttest_1samp(values, 0.0).pvalue)
            if values.std() > 0
            else float(values.iloc[0] == 0)
        )
        above = int((values > 0).sum())
        return cls(float(values.mean()), float(values.sem()), p, above, len(values))

    @property
    def positive(self) -> bool:
        """Whether the mean is above 0 beyond chance."""
        return self.mean > 0 and self.p_value < SIGNIFICANT

    @property
    def negative(self) -> bool:
        """Whether the mean is below 0 beyond chance."""
        return self.mean < 0 and self.p_value < SIGNIFICANT

    def __str__(self) -> str:
        return f"{self.mean:+.3f} ± {self.error:.3f}"


def measured(name: str, means: Mapping[str, OverNetworks], unit: str = POINTS) -> list[Measurement]:
    """Return a Measurement of each {case: OverNetworks}."""
    return by_case(name, {case: (x.mean, x.error) for case, x in means.items()}, unit)


def advantage(sizes: pd.DataFrame, a: str, b: str) -> OverNetworks:
    """Return by how much estimator a is less biased than b."""
    return OverNetworks.of(sizes[b] - sizes[a])


def means(sizes: pd.DataFrame, name: str = "mean |bias|") -> list[Measurement]:
    """Return the mean of each column with its error over networks, least first."""
    order = sizes.mean().sort_values().index
    return [
        Measurement(name, float(sizes[x].mean()), "percent", x, float(sizes[x].sem()))
        for x in order
    ]


def share(holds: pd.Series, name: str) -> Measurement:
    """Return the Measurement of the share of networks for which something holds, in percent."""
    rate = float(holds.mean())
    error = 100 * (rate * (1 - rate) / len(holds)) ** 0.5
    return Measurement(name, 100 * rate, "percent", f"of {len(holds)} networks", error)


def by_network(
    verdicts: Mapping[str, Verdict], measurements: list[Measurement] | None = None
) -> Ruling:
    """Return the Ruling on {network: the verdict of the paper's rule on it}, as BY_NETWORK says."""
    series = pd.Series({name: str(verdict) for name, verdict in verdicts.items()})
    holds = series == Verdict.REPRODUCED
    in_part = holds | (series == Verdict.APPROXIMATE)
    verdict = Verdict.of(holds.mean() >= MOST, in_part.mean() > 0.5)
    shown = [share(in_part, "at least approximate"), share(holds, "reproduced")]
    reason = f"so on {holds.sum()} of {len(holds)} networks, in part on {(in_part & ~holds).sum()}"
    return Ruling(verdict, [*(measurements or []), *shown], reason=reason)


Judge = Callable[[Sample], Ruling]


def on_networks(
    paper: Claim | None, tables: str, figures: str = "", *, id: str = "", where: str = ""
) -> Callable[[Judge], Claim]:
    """Make the Claim that a claim of a paper holds on trained networks; copy N09 for another.

    The docstring of the function below is that of a claim. It may lack what the claim says and what
    is published, which are then those of ``paper``, and ``errors``. The function judges any Sample.
    """

    def make(judge: Judge) -> Claim:
        def judged(run: RunTables) -> Ruling:
            everyone = Sample.of(run, *SETS)
            ruling = judge(everyone)
            about = everyone.networks
            drawn_at_random = int((about["drawn"] != "design").sum())
            above = int((about["l2_percent"] > MISCALIBRATED).sum())
            notes = [
                f"on {len(about)} trained networks of known truth, {drawn_at_random} of them drawn "
                f"at random, {above} with an error above {MISCALIBRATED:g} %",
                *ruling.notes,
            ]
            for drawn, words in SETS.items():
                try:
                    part = judge(Sample.of(run, drawn))
                except NotJudged:
                    continue
                holds = part.verdict != Verdict.NOT_REPRODUCED
                verdict = part.verdict.words if holds else "it does not carry over"
                notes.append(f"on those {words} {verdict}: {part.reason}")
            return ruling._replace(source=SOURCE, notes=notes)

        words = {"errors": ERRORS} | words_of(judge, name, globals())
        if paper is not None:
            words = {"says": paper.says, "published": paper.published} | words
        words["says"] = f"On trained networks: {_continued(words['says'])}"
        needed = f"networks {tables}".strip()
        return claim(name, location, needed, figures, real=False, theorem=False, **words)(judged)

    name, location = id, where
    if paper is not None:
        name, location = id or f"N{paper.id.removeprefix('R')}", where or paper.where
    return make


def _continued(sentence: str) -> str:
    """Return a sentence that goes on after a colon: a name such as ECE_bin keeps its capitals."""
    return sentence if sentence[:2].isupper() else sentence[0].lower() + sentence[1:]


def mean_by_network(rows: pd.DataFrame, values: "pd.Series | np.ndarray") -> pd.Series:
    """Return means by network of values of ``rows``."""
    return pd.Series(np.asarray(values), rows["scenario"].to_numpy()).groupby(level=0).mean()
