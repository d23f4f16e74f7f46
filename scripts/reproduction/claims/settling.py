"""Claims near a threshold: more replicates of the cells that decide, until the verdict is settled.

A verdict is settled if it is the same wherever its numbers lie within three Monte Carlo errors of
the measured ones. Until then the cells behind the numbers are simulated with twice as many
replicates, up to ``MOST_SCORES`` scores a claim; what is still open there is a tie. Replicates
extend the set: the first ones are the default run's.
"""

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from calbias.engine.sampler import Sampler
from calbias.estimation.loading import load_estimator
from calbias.simulation.simulate import simulate_cells
from calbias.truth.curves import Curve
from calbias.truth.scenarios import Scenario
from pipeline.claims.verdicts import CLEAR, NotJudged, Verdict
from pipeline.scenarios.paper import N_BINS, NORM
from reproduction.replicates.store import Cell, Estimates

MOST_SCORES = 2_500_000_000  # ten CPU seconds


class Numbers(NamedTuple):
    """Numbers that a verdict rests on, (k,), with their errors and the replicates behind them."""

    values: np.ndarray
    errors: np.ndarray
    n_replicates: int


class Settling(NamedTuple):
    """How a claim near a threshold is settled.

    ``cases`` names its k numbers, ``measure(evidence)`` returns the Numbers of the tables,
    ``decide(values)`` the verdict, and ``draw(evidence, n_replicates, simulate)`` new values and
    errors by ``simulate(scenario, n_samples, names, n_replicates)``, a dict of Estimates.
    """

    cases: tuple
    measure: Callable
    decide: Callable
    draw: Callable


def settled(evidence, id, settling):
    """Yield how well a claim is settled, and return (values, errors, verdict).

    By table ``settled`` if the claim is there.
    """
    table = evidence.tables.get("settled")
    rows = () if table is None else table[table["id"] == id]
    if len(rows):
        rows = rows.set_index("case").loc[list(settling.cases)]
        values, errors = rows[["value", "error"]].to_numpy(float).T
        numbers = Numbers(values, errors, int(rows["n_replicates"].iloc[0]))
    else:
        numbers = settling.measure(evidence)
    verdict, note = settled_verdict(numbers, settling.decide)
    yield note
    return *numbers[:2], verdict


def settled_verdict(numbers, decide):
    """Return the verdict and a note: ``tie`` where numbers within three errors have another one."""
    verdicts = {
        decide(numbers.values + CLEAR * np.array(signs) * numbers.errors)
        for signs in itertools.product((-1, 0, 1), repeat=numbers.values.size)
    }
    if len(verdicts) == 1:
        return verdicts.pop(), f"decided with {numbers.n_replicates} replicates a cell"
    return Verdict.TIE, (
        f"with {numbers.n_replicates} replicates a cell a threshold of the rule is still within "
        f"{CLEAR:g} Monte Carlo errors"
    )


def settled_rows(claims, evidence, seed):
    """Return the rows of table ``settled``, dicts: the numbers of each claim that was open.

    Claims whose verdict is clear at once, and those that this run cannot judge, have no rows.
    """
    rows = []
    for id, settling in ((claim.id, claim.settling) for claim in claims if claim.settling):
        try:
            numbers = settling.measure(evidence)
        except NotJudged:
            continue
        drawn, n = _Drawn(seed), None
        while (
            settled_verdict(numbers, settling.decide)[0] == Verdict.TIE
            and 2 * drawn.n_scores <= MOST_SCORES
        ):
            n = 2 * numbers.n_replicates
            numbers = Numbers(*settling.draw(evidence, n, drawn.simulate), n)
        if n:
            rows += [
                {"id": id, "case": case, "value": value, "error": error, "n_replicates": n}
                for case, value, error in zip(settling.cases, *numbers[:2], strict=True)
            ]
    return rows


class _Drawn:
    """Estimates of cells that grow by new replicates, and how many scores they took."""

    def __init__(self, seed):
        self.seed, self.cells, self.n_scores = seed, {}, 0

    def simulate(self, scenario, n_samples, names, n_replicates):
        """Return {name: Estimates} of the first n_replicates data sets of a cell."""
        known = self.cells.setdefault((scenario, n_samples), {})
        done = next(iter(known.values())).estimate.size if known else 0
        new = np.arange(done, n_replicates)
        results = simulate_cells(
            Sampler(scenario, n_samples, self.seed), new, {x: load_estimator(x) for x in names},
            [(name, N_BINS) for name in names], NORM,
        )  # fmt: skip
        for name, result in zip(names, results, strict=True):
            found = Estimates(new, *result)
            known[name] = known[name].extended(found) if name in known else found
        self.n_scores += new.size * n_samples
        return known


def scenarios_of(evidence, experiment, prefix=""):
    """Return {name: Scenario} of an experiment whose names begin with ``prefix``."""
    table = evidence.table("scenarios")
    table = table[(table["experiment"] == experiment) & table["scenario"].str.startswith(prefix)]
    return {
        row.scenario: Scenario(row.scenario, row.alpha, row.beta, Curve(row.curve, row.b0, row.b1))
        for row in table.itertuples()
    }


def cells_of(scenarios, n_samples, names, n_replicates, simulate):
    """Return {estimator: {Cell: Estimates}} of simulated scenarios, as summaries take them."""
    cells = {name: {} for name in names}
    for scenario in scenarios:
        for name, found in simulate(scenario, n_samples, names, n_replicates).items():
            cells[name][Cell(scenario.name, n_samples, N_BINS)] = found
    return cells
