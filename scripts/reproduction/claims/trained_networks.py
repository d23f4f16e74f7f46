"""N09 to N22: the paper's statements on bias, on trained networks of known calibration error.

The unit is a network: its mean over the seven sample sizes. Standard errors and p-values are over
networks; cells of one network depend on each other.
"""

import itertools
from typing import NamedTuple

import numpy as np
import pandas as pd

from pipeline.claims.grounds import Grounds
from pipeline.claims.verdicts import POINTS, Measurement, NotJudged, Ruling, Verdict, by_case, claim
from pipeline.paper import BINNED, MODEL_SIZES
from reproduction.bias import PAIR
from reproduction.claims.appendix_c import FALLING
from reproduction.claims.section_7_1 import FAMILIES
from reproduction.claims.section_7_3 import COMMON, GOOD
from reproduction.claims.t_test import SIGNIFICANT

MISCALIBRATED = 4.0  # percent: the ten models of the paper have more
SATURATED = 0.4  # share of scores above 0.99, from which a network counts as the paper's do
MOST = 0.75  # share of networks
FEWEST_NETWORKS, FEWEST_DATA_SETS = 20, 100
SOURCE = "trained_networks"
ERRORS = "± one standard error over networks"
ON_TRUTH = f"Networks of known truth above {MISCALIBRATED:g} %, each its mean over seven n"
TESTED = f"a t-test over networks with p < {SIGNIFICANT:g}"


class OverNetworks(NamedTuple):
    """A mean over networks with its standard error, its p-value, and how many are above 0."""

    mean: float
    error: float
    p_value: float
    above: int
    n: int

    @classmethod
    def of(cls, values: pd.Series) -> "OverNetworks":
        """Return the mean of a Series, a value a network, tested against 0."""
        from scipy.stats import ttest_1samp  # other claims read no table of networks

        return cls(
            float(values.mean()),
            float(values.sem()),
            float(ttest_1samp(values, 0.0).pvalue),
            int((values > 0).sum()),
            len(values),
        )

    @property
    def positive(self) -> bool:
        """Whether the mean is above 0 beyond chance."""
        return self.mean > 0 and self.p_value < SIGNIFICANT

    @property
    def negative(self) -> bool:
        """Whether the mean is below 0 beyond chance."""
        return self.mean < 0 and self.p_value < SIGNIFICANT

    def measured(self, name: str, case: str = "") -> list[Measurement]:
        """Return the Measurement of the mean, in a list."""
        return [Measurement(name, self.mean, POINTS, case, self.error)]

    def __str__(self) -> str:
        return f"{self.mean:+.3f} ± {self.error:.3f} points, p = {self.p_value:.2g}"


def network_rows(
    grounds: Grounds, law: str = "population", least: float = MISCALIBRATED
) -> pd.DataFrame:
    """Return the rows of trained networks with a true error above ``least`` under a law."""
    table = grounds.table("network_bias")
    rows = table[(table["role"] != "control") & (table["l2_percent"] > least)]
    rows = rows[rows["law"] == law]
    if rows["scenario"].nunique() < FEWEST_NETWORKS or {*rows["n_samples"]} != {*MODEL_SIZES}:
        raise NotJudged(f"table network_bias has fewer than {FEWEST_NETWORKS} networks")
    if rows["n_replicates"].min() < FEWEST_DATA_SETS:
        raise NotJudged(f"table network_bias has fewer than {FEWEST_DATA_SETS} data sets a cell")
    return rows


def sizes_of_bias(rows: pd.DataFrame) -> pd.DataFrame:
    """Return mean |bias| over n, percent, a row a network and a column an estimator."""
    rows = rows.assign(size=rows["bias_percent"].abs())
    return rows.pivot_table("size", "scenario", "estimator")


def advantage(sizes: pd.DataFrame, a: str, b: str) -> OverNetworks:
    """Return by how much estimator a is less biased than b."""
    return OverNetworks.of(sizes[b] - sizes[a])


def means(sizes: pd.DataFrame, name: str = "mean |bias|") -> list[Measurement]:
    """Return the mean |bias| of each estimator with its error over networks, least first."""
    order = sizes.mean().sort_values().index
    return [
        Measurement(name, float(sizes[x].mean()), "percent", x, float(sizes[x].sem()))
        for x in order
    ]


def ruling(
    verdict: Verdict, measurements: list[Measurement], rows: pd.DataFrame, reason: str, *notes: str
) -> Ruling:
    """Return a Ruling on N trained networks; the notes say how many were drawn at random."""
    roles = rows.drop_duplicates("scenario")["role"].value_counts()
    n, judging = int(roles.sum()), int(roles.get("judging", 0))
    words = f"on {n} trained networks of known truth, {judging} of them drawn at random"
    return Ruling(verdict, measurements, SOURCE, [words, *notes], reason=reason)


@claim("N09", "§7.1", "network_bias", "trained_networks")
def equal_mass_on_networks(grounds: Grounds) -> Ruling:
    """On trained networks of known truth bins of equal mass have less absolute bias than bins of
    equal width.

    published: consistently; no number
    rule: {ON_TRUTH}: |bias| of ew minus that of em for bin, debias and sweep. Reproduced if all
    three means are above 0 by {TESTED}, approximate if none is below 0 so.
    errors: {ERRORS}
    """
    rows = network_rows(grounds)
    sizes = sizes_of_bias(rows)
    gains = {f: advantage(sizes, f"ece_{f}_em", f"ece_{f}_ew") for f in FAMILIES}
    verdict = Verdict.of(
        all(x.positive for x in gains.values()), not any(x.negative for x in gains.values())
    )
    measurements = [m for f, x in gains.items() for m in x.measured("gain of equal mass", f)]
    reason = ", ".join(f"{f} {x.mean:+.2f} ± {x.error:.2f}" for f, x in gains.items())
    return ruling(verdict, [*means(sizes), *measurements], rows, f"gain of equal mass: {reason}")


@claim("N10", "§7.1", "network_bias", "trained_networks")
def sweep_then_debias_on_networks(grounds: Grounds) -> Ruling:
    """On trained networks of known truth the equal-mass sweep has the least absolute bias and
    equal-mass debias the next.

    published: sweep best, debias not as good at small n
    rule: {ON_TRUTH}, seven estimators: reproduced if ece_sweep_em has the least mean |bias| and is
    below each other one by {TESTED}, and ece_debias_em is second; approximate if ece_sweep_em has
    the least mean.
    errors: {ERRORS}
    """
    rows = network_rows(grounds)
    sizes = sizes_of_bias(rows)
    order = [*sizes.mean().sort_values().index]
    first = order[0] == PAIR[1]
    clear = all(advantage(sizes, PAIR[1], x).positive for x in order if x != PAIR[1])
    verdict = Verdict.of(first and clear and order[1] == PAIR[0], first)
    reason = f"least biased are {order[0]} and {order[1]}"
    return ruling(verdict, means(sizes), rows, reason)


@claim("N11", "§7.1", "network_bias", "trained_networks")
def sweep_against_debias_on_networks(grounds: Grounds) -> Ruling:
    """On trained networks of known truth the equal-mass sweep is less biased than equal-mass
    debias.

    published: 0.504 vs 0.347 on ten fitted models, t = 5.10
    rule: |bias| of ece_debias_em minus that of ece_sweep_em, a network's mean over seven n, for
    networks of known truth above {MISCALIBRATED:g} %, and for those of them with over
    {SATURATED:.0%} of the scores above 0.99, as the paper's: reproduced if both means are above 0
    by {TESTED}, approximate if one is and the other not below 0 so. What the paper's method (Beta
    and GLM of the test fold) says of the same networks is shown too.
    errors: {ERRORS}
    """
    rows, fits = network_rows(grounds), network_rows(grounds, "beta_glm")
    differences = {
        law: sizes[PAIR[0]] - sizes[PAIR[1]]
        for law, sizes in (("truth", sizes_of_bias(rows)), ("fits", sizes_of_bias(fits)))
    }
    about = rows.drop_duplicates("scenario").set_index("scenario")
    groups = {
        "all": about.index,
        "saturated": about.index[about["share_above_99"] > SATURATED],
        "drawn at random": about.index[about["role"] == "judging"],
    }
    truth, fitted = (
        {g: OverNetworks.of(x[i]) for g, i in groups.items()} for x in differences.values()
    )
    shift = differences["fits"] - differences["truth"]
    excess = {g: OverNetworks.of(shift[i]) for g, i in groups.items()}
    measurements = means(sizes_of_bias(rows)[[*PAIR]])
    for law, results in (
        ("on the truth", truth),
        ("on the fits", fitted),
        ("on the fits less on the truth", excess),
    ):
        name = f"|debias_em| − |sweep_em| {law}"
        measurements += [m for g, x in results.items() for m in x.measured(name, f"{g} ({x.n}):")]
    measurements.append(
        Measurement(
            "networks whose fit moves the comparison to the sweep",
            excess["all"].above,
            f"of {excess['all'].n}",
        )
    )
    for n, rows_at_n in rows.groupby("n_samples"):
        sizes = sizes_of_bias(rows_at_n)
        measurements += advantage(sizes, PAIR[1], PAIR[0]).measured(
            "by sample size, truth", f"n = {n}:"
        )
    tests = truth["all"], truth["saturated"]
    verdict = Verdict.of(
        all(x.positive for x in tests),
        any(x.positive for x in tests) and not any(x.negative for x in tests),
    )
    reason = f"|debias_em| − |sweep_em| is {truth['all']}"
    return ruling(
        verdict, measurements, rows, reason, f"on the fits of the same networks {fitted['all']}"
    )


@claim("N14", "App B", "network_bias")
def debias_varies_more_on_networks(grounds: Grounds) -> Ruling:
    """On trained networks of known truth equal-mass debias varies more than the equal-mass sweep.

    published: higher variance; no number
    rule: {ON_TRUTH}: logarithm of the ratio of the standard deviations over data sets of
    ece_debias_em and ece_sweep_em. Reproduced if above 0 by {TESTED} at each n, approximate if over
    all n.
    errors: {ERRORS}
    """
    rows = network_rows(grounds)
    wide = np.log(rows.pivot_table("sd_percent", ["scenario", "n_samples"], "estimator"))
    ratios = (wide[PAIR[0]] - wide[PAIR[1]]).unstack("n_samples")
    overall = OverNetworks.of(ratios.mean(axis=1))
    by_n = {n: OverNetworks.of(ratios[n]) for n in ratios}
    measurements = [
        Measurement(
            "ratio of standard deviations", np.exp(x.mean), "", case, np.exp(x.mean) * x.error
        )
        for case, x in (("all n:", overall), *((f"n = {n}:", x) for n, x in by_n.items()))
    ]
    clear = sum(x.positive for x in by_n.values())
    verdict = Verdict.of(clear == len(by_n), overall.positive)
    reason = f"the ratio is {np.exp(overall.mean):.3f}, clearly above 1 at {clear} of {len(by_n)} n"
    return ruling(verdict, measurements, rows, reason)


@claim("N20", "§7.3", "network_bias")
def debias_on_calibrated_networks(grounds: Grounds) -> Ruling:
    """With the scores of trained networks, if calibrated, equal-mass debias is the least biased but
    for the KDE, significantly less than the equal-mass sweep.

    published: significantly lower; no number
    rule: Scores of the trained networks, each a true probability: reproduced if ece_debias_em has
    the least mean |bias| of the six binned estimators and is below ece_sweep_em by {TESTED},
    approximate if only the latter.
    errors: {ERRORS}
    """
    rows = network_rows(grounds, "calibrated", least=0.0)
    sizes = sizes_of_bias(rows)
    gain = advantage(sizes, *PAIR)
    first = sizes[[*BINNED]].mean().idxmin()
    verdict = Verdict.of(gain.positive and first == PAIR[0], gain.positive)
    measurements = [*means(sizes), *gain.measured("|sweep_em| − |debias_em|")]
    return ruling(
        verdict,
        measurements,
        rows,
        f"least biased is {first}; debias gains {gain}".replace(";", ","),
    )


@claim("N21", "§7.3", "network_bias", "trained_networks")
def both_beat_common_practice_on_networks(grounds: Grounds) -> Ruling:
    """On trained networks of known truth, and calibrated, the equal-mass sweep and debias are less
    biased than ECE_bin and debias with equal widths.

    published: consistently superior; no number
    rule: |bias| of ece_bin_ew and ece_debias_ew minus that of ece_sweep_em and ece_debias_em, on
    networks of known truth above {MISCALIBRATED:g} % and on the scores of all networks if
    calibrated: reproduced if all eight means are above 0 by {TESTED}, not reproduced if one is
    below 0 so, else approximate.
    errors: {ERRORS}
    """
    rows = network_rows(grounds)
    settings = {"truth": rows, "calibrated": network_rows(grounds, "calibrated", least=0.0)}
    gains = {
        f"{setting}, {good} over {common}": advantage(sizes_of_bias(table), good, common)
        for (setting, table), good, common in itertools.product(settings.items(), GOOD, COMMON)
    }
    measurements = [
        m for case, x in gains.items() for m in x.measured("gain in |bias|", f"{case}:")
    ]
    reversed_ = [case for case, x in gains.items() if x.negative]
    verdict = Verdict.of(all(x.positive for x in gains.values()), not reversed_)
    clear = sum(x.positive for x in gains.values())
    reason = f"{clear} of {len(gains)} clear, {len(reversed_)} reversed"
    if reversed_:
        reason += f": {reversed_[0]}"
    return ruling(verdict, measurements, rows, reason)


@claim("N22", "§7.3, App C", "network_bias")
def bias_falls_on_networks(grounds: Grounds) -> Ruling:
    """Over trained networks the bias falls as the known true error grows, and is greatest where
    scores are calibrated.

    published: highest at 0; no number
    rule: For each of seven estimators: the rank correlation (Spearman) over all networks of the
    signed bias with the true error, mean over seven n, is at most {FALLING:g}; and the bias with
    the same scores, if calibrated, is larger than on the truth in at least {MOST:.0%} of the
    networks above {MISCALIBRATED:g} %. Reproduced if both hold for all seven, approximate if for
    most.
    errors: none: correlations and counts over networks
    """
    rows, calibrated = network_rows(grounds, least=0.0), network_rows(grounds, "calibrated")
    keys = ["estimator", "n_samples"]
    falls = {
        name: float(
            np.mean([x["bias_percent"].corr(x["l2_percent"], "spearman") for _, x in groups])
        )
        for name, groups in ((e, g.groupby("n_samples")) for e, g in rows.groupby("estimator"))
    }
    both = rows.set_index(["scenario", *keys])["bias_percent"].to_frame("truth")
    both = both.join(calibrated.set_index(["scenario", *keys])["bias_percent"], how="inner")
    signed = both.groupby(level=["scenario", "estimator"]).mean()
    larger = (signed["bias_percent"] > signed["truth"]).groupby(level="estimator").mean()
    holds = [name for name in falls if falls[name] <= FALLING and larger[name] >= MOST]
    measurements = [
        *by_case("networks with more bias if calibrated", 100 * larger, "percent"),
        *by_case("rank correlation of bias with the true error", falls),
    ]
    verdict = Verdict.of(len(holds) == len(falls), len(holds) > len(falls) / 2)
    others = [name for name in falls if name not in holds]
    reason = f"both hold for {len(holds)} of {len(falls)} estimators"
    return ruling(
        verdict,
        measurements,
        rows,
        reason,
        f"not for {', '.join(others)}" if others else "for all seven",
    )
