"""Which fault the verdict names, against the same rules on rows: matrices, and all intervals."""

import math
from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.optimize import fsolve
from scipy.special import expit, logit
from verdicts import judge

from calbias.auditing.verdict.finding import (
    _is_of_line,
    finding_of,
    fitted_rates,
    kinds_of,
)
from calbias.auditing.verdict.groups import groups_of_rows
from calbias.auditing.verdict.statistics import statistics_of
from calbias.auditing.verdict.verdict_result import _notes, in_words, p_text
from calbias.auditing.verdict.words import SURENESS

CLEAR = 2.8
EIGHT = np.array([0.1123, 0.2345, 0.2871, 0.4412, 0.6034, 0.7123, 0.7391, 0.9217])  # no steps


def fit(x, y):
    """The likeliest line, and the standard error of its slope."""
    at = fsolve(lambda at: [np.sum(w * (y - expit(at[0] + at[1] * x))) for w in (1, x)], (0, 1))
    rate = expit(at[0] + at[1] * x)
    design = np.stack([np.ones_like(x), x])
    return at, rate, np.sqrt(np.linalg.inv(design * (rate * (1 - rate)) @ design.T)[1, 1])


class Study:
    """Rows by score with the residuals, an orthonormal basis and the cells of the scan."""

    def __init__(self, scores, hits):
        order = np.argsort(scores, kind="stable")
        self.s, self.y = scores[order], hits[order] * 1.0
        self.x, self.r, self.v = logit(self.s), self.y - self.s, self.s * (1 - self.s)
        self.groups = [np.flatnonzero(self.s == value) for value in np.unique(self.s)]
        total, time = self.v.sum(), np.zeros(self.s.size)
        for g in self.groups:
            time[g] = (self.v[: g[0]].sum() + self.v[g].sum() / 2) / total
        k = min(int(np.clip(total / 2, 2, 16)), len(self.groups))
        powers = [np.ones_like(time), self.x, *(time**j for j in range(1, k))]
        q, _ = np.linalg.qr(np.column_stack(powers)[:, :k] * np.sqrt(self.v)[:, None])
        self.phi = q / np.sqrt(self.v)[:, None]
        self.z = self.phi.T @ self.r
        cells = int(np.clip(total / 2, 1, 64))
        self.place, self.total = np.minimum((time * cells).astype(int), cells - 1), total
        self.line, self.rate, self.error = fit(self.x, self.y)

    def worst(self, part):
        """The rows of the worst atom, or of the scan's largest interval."""
        if part == "atoms":
            atoms = [g for g in self.groups if g.size >= max(5, self.s.size / 200)]
            return max(atoms, key=lambda g: self.r[g].sum() ** 2 / self.v[g].sum())
        r, v = (np.append(0, np.cumsum(np.bincount(self.place, x))) for x in (self.r, self.v))
        best, ends = -math.inf, None
        for i, j in combinations_with_replacement(np.unique(self.place), 2):
            inside = v[j + 1] - v[i]
            value = abs(r[j + 1] - r[i]) / math.sqrt(inside)
            value -= 0.5 * math.sqrt(2 * max(math.log(self.total / inside), 0))
            best, ends = (value, (i, j)) if value > best + 1e-12 else (best, ends)
        return np.flatnonzero((self.place >= ends[0]) & (self.place <= ends[1]))

    def is_of_line(self, rows):
        """Whether the residuals of the fitted line in some rows are noise, or a small part."""
        if rows.size == self.s.size:
            return True  # no residual is left
        v = self.rate * (1 - self.rate)
        design, one = np.stack([np.ones_like(self.x), self.x]), np.zeros(self.x.size)
        one[rows] = 1.0
        taken = design @ (v * one)
        variance = v @ one - taken @ np.linalg.inv(design * v @ design.T) @ taken
        left = abs(np.sum((self.y - self.rate)[rows])) / math.sqrt(variance)
        found = abs(self.r[rows].sum()) / math.sqrt(self.v[rows].sum())
        return left < max(CLEAR, 0.4 * found)

    def is_likelier_than_line(self, rows):
        """Whether a gap in some rows alone has a log likelihood 2.8²/2 above the line's."""
        gap = np.zeros(self.s.size)
        gap[rows] = (self.y - self.s)[rows].mean()
        logs = [
            sum(math.log(p if y else 1 - p) for p, y in zip(rate, self.y, strict=True))
            for rate in (np.clip(self.s + gap, 1e-12, 1 - 1e-12), self.rate)
        ]
        return rows.size < self.s.size and logs[0] > logs[1] + CLEAR**2 / 2

    def kinds(self, part):
        kind, other = self.whatever_the_slope(part)
        if "line" not in (kind, other) or abs(self.line[1] - 1) > 2 * self.error:
            return kind, other
        return (other, None) if kind == "line" and other else (kind, None)

    def whatever_the_slope(self, part):
        z = np.abs(self.z)
        if part == "shape":
            orders = range(1, z.size + 1)
            best = max(orders, key=lambda k: (np.sum(z[:k] ** 2) - k) / math.sqrt(2 * k))
            v = self.rate * (1 - self.rate)
            beside = self.phi.T @ (self.y - self.rate) / np.sqrt(self.phi.T**2 @ v)
            rest = np.sum(beside[2:best] ** 2)
            if rest > max(CLEAR**2 + best - 1, 0.16 * np.sum(z[:best] ** 2)):
                return "shape", "level" if z[0] > CLEAR else "line" if z[1] > CLEAR else None
        named = []
        if part in ("local", "atoms") and not self.is_of_line(self.worst(part)):
            named.append((part, self.worst(part)))
        if not named and part in ("local", "shape"):
            rows = self.worst("local")
            if self.is_likelier_than_line(rows):
                one_score = np.unique(self.s[rows]).size == 1 and rows.size > 1
                return "atoms" if one_score else "local", None
        for searched, rows in named:
            one_score = np.unique(self.s[rows]).size == 1 and rows.size > 1
            elsewhere = np.ones(self.s.size)
            elsewhere[rows] = 0
            z = np.abs(self.phi[:, :2].T @ (self.r * elsewhere))
            name = ("level", "line")[int(z[1] > z[0])] if z.max() > CLEAR else None
            return "atoms" if searched == "atoms" or one_score else "local", name
        if part == "level":
            return "level", "line" if z[1] > CLEAR else None
        main = int(z[1] > z[0])
        return ("level", "line")[main], ("line", "level")[main] if z[1 - main] > CLEAR else None


def studies():
    """Faults of every kind in 60 to 500 rows of as many scores, and in up to 2000 of eight."""
    generator = np.random.default_rng(11)
    for k in range(48):
        n = int(generator.choice([60, 200, 500]))
        s = generator.beta(2, 1.5, n)
        if k % 3 == 0:
            n *= 4
            s = generator.choice(EIGHT, n)
        a, b, c, d = generator.normal(0, [0.3, 0.3, 0.1, 0.1])
        rates = expit(a + (1 + b) * logit(s)) + c * np.sin(9 * s) * (k % 2)
        rates += 3 * d * (abs(s - 0.7123456) < 0.05) * (k % 4 > 1)
        yield s, (generator.random(n) < rates).astype(int)


def test_the_kinds_of_faults_by_rules_on_rows():
    seen = set()
    for scores, hits in studies():
        study, (groups, _) = Study(scores, hits), groups_of_rows(scores, hits)
        statistics = statistics_of(groups)
        parts = ["level", "line", "spread", "shape", "local"]
        if any(g.size >= max(5, scores.size / 200) for g in study.groups):
            parts.append("atoms")
        for part in parts:
            expected = study.kinds(part)
            assert kinds_of(part, groups, statistics) == expected, part
            seen.add((part, *expected))
            if expected[0] in ("local", "atoms", "shape"):
                found = finding_of(expected[0], groups, statistics)
                rows = study.worst("atoms" if expected[0] == "atoms" else "local")
                assert (found.rows, found.hits) == (rows.size, study.y[rows].sum())
                assert (found.low, found.high) == (study.s[rows[0]], study.s[rows[-1]])
    assert len(seen) > 20


def test_a_gap_next_to_1_alone_is_not_named_a_slope():
    """It was in 40 of 40: a line follows a gap where all but a hundredth of the variance is not."""
    for seed in range(3):
        generator = np.random.default_rng(seed)
        scores = expit(generator.normal(5, 2, 1500))
        hits = generator.random(1500) < scores - 0.06 * (scores > 0.99)
        verdict = judge(scores, hits, replicates=199)
        finding = verdict.finding
        assert (finding.kind, verdict.second) == ("local", None)
        assert 0.98 < finding.low < 0.995 < finding.high


def test_a_line_of_rate_1_explains_rows_that_all_hit():
    """Their residual and its variance are 0."""
    groups, _ = groups_of_rows(np.array([0.3, 0.6, 0.8, 0.8]), np.ones(4))
    with np.errstate(all="raise"):
        assert _is_of_line(2, 3, groups, np.array([0.5, 0.5, 1.0]))


def test_faults_of_all_hits_and_of_a_threshold():
    """One kind of outcome tells no slope; a threshold has the slope ±∞, by the side of the hits."""
    s = np.linspace(0.1, 0.9, 41)
    groups, _ = groups_of_rows(s, np.ones(41))
    for part in ("line", "spread", "level"):
        assert kinds_of(part, groups, statistics_of(groups)) == ("level", None)
    assert fitted_rates(groups) == pytest.approx(s)  # no line: a calibrated model's
    assert finding_of("level", groups, statistics_of(groups)).slope is None
    for hits, slope in ((s > 0.2, math.inf), (s < 0.7, -math.inf)):
        groups, _ = groups_of_rows(s, hits * 1)
        found = finding_of("line", groups, statistics_of(groups))
        assert (found.intercept, found.slope, found.is_reversed) == (None, slope, slope < 0)
    classes = np.arange(100) % 2  # nine of ten are right
    groups, _ = groups_of_rows(classes * 1.0, classes ^ (np.arange(100) % 20 < 2))
    slope = finding_of("line", groups, statistics_of(groups)).slope
    assert slope == pytest.approx(logit(0.9) / groups.x.max())


def test_twenty_rows_show_a_slope_next_to_a_shift():
    """Two statistics, of which the second is clear: eight of the nine lowest hit."""
    s = np.linspace(0.2, 0.8, 20) + 0.001 * np.sin(np.arange(20))
    hits = np.isin(np.arange(20), [0, 1, 2, 4, 5, 6, 7, 8, 15]) * 1
    groups, _ = groups_of_rows(s, hits)
    statistics = statistics_of(groups)
    assert len(statistics.weights) == 2 + 1
    assert kinds_of("level", groups, statistics) == ("level", "line")


def test_the_finding_at_a_score_of_1_and_0():
    """The score with more of the outcome that it excludes; a shift of other rows is named too."""
    s = np.r_[np.full(30, 0.0), np.linspace(0.2, 0.8, 60) + 0.000123, np.full(40, 1.0)]
    hits = np.r_[np.arange(30) < 4, np.zeros(60), np.ones(40)].astype(int)
    groups, _ = groups_of_rows(s, hits)
    assert kinds_of("certain", groups, statistics_of(groups)) == ("certain", "level")
    hits[-3:] = 0
    for more, end in ((0, (0.0, 30, 4)), (2, (1.0, 40, 35))):
        hits[-3 - more : -3] = 0
        groups, _ = groups_of_rows(s, hits)
        found = finding_of("certain", groups, statistics_of(groups))
        assert (found.high, found.rows, found.hits) == end


def test_the_words_of_two_findings_are_in_order():
    """The whole first, then the place; without a fault there is no second."""
    generator = np.random.default_rng(0)
    s = generator.uniform(0.1, 0.9, 500)
    rates = np.where(abs(s - 0.3) < 0.06, 0.9, s - 0.15)
    groups, _ = groups_of_rows(s, (generator.random(500) < rates).astype(int))
    rest = groups, statistics_of(groups), 0.05, (), "local", "hits", 99
    verdict = in_words(*rest)
    assert (verdict.finding.kind, verdict.second.kind) == ("local", "level")
    assert verdict.sentence.startswith(f"{SURENESS[0]} by ")
    assert "; scores .2" in verdict.sentence
    assert verdict.stated_gap == abs(verdict.second.gap) > 0
    assert replace(verdict, second=None).stated_gap == 0
    level = replace(verdict.second, gap=-0.5)
    assert replace(verdict, finding=level).stated_gap == 0.5
    assert replace(verdict, miscalibrated=False).stated_gap == 0
    right = in_words(*rest[:2], 0.0501, *rest[3:])
    assert (right.second, right.miscalibrated, verdict.miscalibrated) == (None, False, True)


def test_a_p_value_stays_on_its_side_of_5_percent():
    for p, text in ((0.0504, "0.0504"), (0.050001, "0.050001"), (0.05, "0.05"), (0.0498, "0.05"),
                    (0.31416, "0.31"), (2 / 4001, "0.0005")):  # fmt: skip
        assert p_text(p, 4000) == f"p = {text}"
    assert (p_text(1 / 4001, 4000), p_text(1 / 100, 99)) == ("p < 0.0003", "p < 0.01")


def test_what_rounding_may_explain():
    """Of scores with a hundredth of the rows, from 0.05 points on; ends each by themselves."""
    s = np.repeat([0.0, 0.3012345, 0.6, 0.7, 1.0], [50, 20, 100, 9, 821])
    groups, _ = groups_of_rows(s, np.zeros(s.size))

    def told(reach):
        words = _notes(groups._replace(reach=np.array(reach)), "hits")
        return [float(x.split()[0]) for x in " ".join(words).split("up to ")[1:]], words

    assert told([0.01, 0.02, 0.03, 0.5, 0.0123])[0] == [1.0, 1.2, 3.0]
    assert told([0.00049, 0.0005, 0.0, 0.5, 0.0004])[0] == [0.1]
    assert told([0.00049, 0.00049, 0.0, 0.5, 0.0004])[1] == ()
    assert told([0, 0.02, 0.01, 0, 0])[0] == [2.0]
    assert told([0, 0, 0, 0, 0.01])[1][0].endswith("up to 1.0 points at scores of exactly 1")
    assert told([0, 0.01, 0, 0, 0])[1][0].endswith("up to 1.0 points at some scores")
    all_places = _notes(groups._replace(reach=np.full(5, 0.01)), "events")[0]
    assert all_places.endswith("of exactly 1, up to 1.0 points at other risks")
