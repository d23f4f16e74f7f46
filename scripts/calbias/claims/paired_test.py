"""The paired t-test of debias against sweep, which sections 7.1 and 7.3 rest on."""

from typing import NamedTuple

import numpy as np

from calbias.claims.evidence import by_estimator
from calbias.claims.measurements import NAN, Measurement
from calbias.summaries.bias_by_group import error_of_mean
from calbias.summaries.paired_t_test import ROUNDING, SAME_MEANS, paired_t_test
from calbias.truth.paper import DEBIAS_PERCENT, P_VALUE, SWEEP_PERCENT, T_STATISTIC

PAIR = ("ece_debias_em", "ece_sweep_em")
SIGNIFICANT = 0.05
COLUMNS = ("mean_abs_bias_a_percent", "mean_abs_bias_b_percent", "t_statistic")
NAMES = (*(f"mean |bias| of {name}" for name in PAIR), "t of the paired test")
PUBLISHED = (DEBIAS_PERCENT, SWEEP_PERCENT, T_STATISTIC)
UNITS = ("percent", "percent", "")


class PairedTest(NamedTuple):
    """The test over the paper's 70 pairs: the mean |bias| of both with their Monte Carlo errors
    (2,), in percent, t with its own, p and the number of pairs."""

    means: np.ndarray
    errors: np.ndarray
    t: float
    t_error: float
    p_value: float
    n_pairs: int

    def measurements(self, evidence=None):
        """Return the test as Measurements, with §7.1's numbers where an Evidence is given."""
        errors = (*self.errors, self.t_error)
        published, paper_errors = [NAN] * 3, [NAN] * 3
        if evidence is not None:
            published = PUBLISHED
            paper_errors = [evidence.paper_error("realistic", error) for error in errors]
        numbers = zip(
            NAMES, (*self.means, self.t), UNITS, errors, published, paper_errors, strict=True
        )
        found = [
            Measurement(name, value, unit, "", error, NAN, NAN, *paper)
            for name, value, unit, error, *paper in numbers
        ]
        p = "p of the paired test"
        if evidence is not None:
            found.append(
                Measurement(f"{p}, published as < {P_VALUE:g}", self.p_value, published=P_VALUE)
            )
        else:
            found.append(Measurement(p, self.p_value))
        return [*found, Measurement("pairs", self.n_pairs)]

    @staticmethod
    def rounding_measurements(evidence):
        """Return how far the rounding of the printed parameters moves the test."""
        table = evidence.tables.get("t_test_sensitivity")
        draws = [] if table is None else table[table["choice"].str.startswith(ROUNDING)]
        if not len(draws):
            return []
        return [
            Measurement(f"{name}, range of {len(draws)} draws within rounding", NAN, unit,
                        low=draws[column].min(), high=draws[column].max())
            for name, column, unit in zip(NAMES, COLUMNS, UNITS, strict=True)
        ]  # fmt: skip

    @staticmethod
    def sensitivity_notes(evidence):
        """Return under which open choices the sign is as published, and which comes nearest.

        Choices that change t or p alone, and draws of the printed parameters, are not counted.
        Nearest by the relative differences of both means and t.
        """
        table = evidence.tables.get("t_test_sensitivity")
        if table is None or table.empty:
            return ()
        table = table[~table["choice"].str.startswith(ROUNDING)]
        others = table[~table["choice"].isin(SAME_MEANS)]
        keeps = others["t_statistic"] > 0
        apart = ((table[list(COLUMNS)] / np.array(PUBLISHED) - 1) ** 2).sum(axis=1)
        best = table.loc[apart.idxmin()]
        notes = []
        if len(others):
            notes.append(
                f"{len(others)} other choices open to the authors have means of their own: "
                f"{keeps.sum()} keep the published sign ({', '.join(others.loc[keeps, 'choice'])})"
            )
            if not keeps.all():
                notes.append(f"the others reverse it ({', '.join(others.loc[~keeps, 'choice'])})")
        a, b, t = best[list(COLUMNS)]
        notes.append(
            f"nearest to the published numbers is {best['choice']} ({best['description']}): "
            f"{a:.3f} vs {b:.3f}, t = {t:.2f}, p = {best['p_value']:.1g} (table t_test_sensitivity)"
        )
        return tuple(notes)


def paired_test(evidence, experiment):
    """Return the PairedTest of an experiment, as in table ``paired_t_test``."""
    rows = evidence.bias(experiment, PAIR)
    bias, se = (by_estimator(rows, column) for column in ("bias_percent", "bias_se_percent"))
    row = paired_t_test(bias.abs(), *PAIR)
    a, b = PAIR
    return PairedTest(
        np.array([row[column] for column in COLUMNS[:2]]),
        error_of_mean(se[list(PAIR)]).to_numpy(),
        row["t_statistic"],
        t_error(bias[a].abs() - bias[b].abs(), np.hypot(se[a], se[b])),
        row["p_value"],
        row["n_pairs"],
    )


def t_error(differences, errors):
    """Return the standard error of the t of ``differences`` (k,) whose own are ``errors`` (k,).

    To first order. The errors of a pair are taken as independent; they come from the same data sets
    and agree in sign more often than not, so that the error is rather too large.
    """
    k, mean, sd = len(differences), differences.mean(), differences.std(ddof=1)
    slopes = np.sqrt(k) * (1 / (k * sd) - mean * (differences - mean) / ((k - 1) * sd**3))
    return float(np.sqrt(np.sum((slopes * errors) ** 2)))
