"""Table ``measures`` as models × methods, for the claims about recalibration."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import pandas as pd

from pipeline.claims.run_tables import RunTables, on_genuine
from pipeline.claims.verdicts import NAN, POINTS, Measurement, NotJudged, Ruling, Verdict
from pipeline.paper import MODELS

MOST = 0.9  # of the models

ByMeasure = Mapping[str, pd.DataFrame]  # percent, models × methods


def genuine(
    run: RunTables,
    measure: str,
    methods: Collection[str],
    required: bool = True,
    column: str = "value_percent",
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return (values, rows): percent, models × methods, of the ten models that have all of them.

    ``rows`` are the table's, ``column`` is the one of the values. NotJudged if there is no such
    model and one is ``required``.
    """
    table = run.table("measures")
    table = table[table["measure"] == measure]
    there = table["method"].isin(methods) & table["model"].isin(MODELS)
    table = table[there & table["value_percent"].notna()]
    values = table.pivot(index="model", columns="method", values=column)
    values = values.reindex(index=MODELS, columns=list(methods)).dropna()
    if values.empty and required:
        method = [*methods][-1]
        raise NotJudged(f"{measure} of {method} on genuine outputs: they need the real logits")
    return values, table[table["model"].isin(values.index)]


def on_other_networks(
    run: RunTables,
    condition: Callable[[ByMeasure], pd.Series],
    needed: Mapping[str, Collection[str]],
    what: str = "as claimed",
) -> tuple[list[Measurement], list[str]]:
    """Return how a claim's condition does on other networks, as a Measurement and a note.

    ``what`` says what the condition is. ``needed`` are {measure: methods}; ``condition`` takes
    {measure: percent, models × methods} and returns a Series of booleans, whose index has the
    models. Nothing where a run has no other network with all of the methods.
    """
    table = run.tables.get("replication")
    if table is None:
        return [], []
    table = table[table["value_percent"].notna()]
    wide = {
        name: table[table["measure"] == name]
        .pivot(index="model", columns="method", values="value_percent")
        .reindex(columns=list(methods))
        .dropna()
        for name, methods in needed.items()
    }
    shared = set.intersection(*(set(values.index) for values in wide.values()))
    models = [name for name in table["model"].unique() if name in shared]
    if not models:
        return [], []
    holds = condition({name: values.loc[models] for name, values in wide.items()})
    n, total = int(holds.sum()), len(holds)
    failing = [index if isinstance(index, str) else index[0] for index in holds.index[~holds]]
    but = f", not for {', '.join(dict.fromkeys(failing))}" if failing else ""
    where = "replication on other networks"
    note = f"{where} ({len(models)} models): {what} {n} of {total} times{but}"
    return [Measurement(f"{where}: {what}", n, f"of {total}")], [note]


class Networks:
    """The paper's networks with all that a claim needs, {measure: methods}, and others like them.

    ``of`` are the values, {measure: percent, models × methods}, and ``rows`` those of the table.
    """

    def __init__(self, run: RunTables, needed: Mapping[str, Collection[str]]) -> None:
        self._evidence, self._needed = run, needed
        parts = {measure: genuine(run, measure, needed[measure]) for measure in needed}
        self.of = {measure: values for measure, (values, _) in parts.items()}
        self.rows = {measure: rows for measure, (_, rows) in parts.items()}
        self._replicated: list[Measurement] = []
        self._notes: list[str] = []

    def holds(
        self, condition: Callable[[ByMeasure], pd.Series], what: str = "as claimed"
    ) -> pd.Series:
        """Return for which of the paper's networks a condition holds; others go to the notes."""
        replicated, notes = on_other_networks(self._evidence, condition, self._needed, what)
        self._replicated += replicated
        self._notes += notes
        return condition(self.of)

    def measured(
        self, name: str, measure: str, method: str, unit: str = "percent", **shown: str
    ) -> list[Measurement]:
        """Return a Measurement per model, as function `measured`."""
        return measured(name, self.of[measure], self.rows[measure], method, unit, **shown)

    def ruling(
        self, verdict: Verdict, measurements: Iterable[Measurement], reason: str, **options: Any
    ) -> Ruling:
        """Return the Ruling on these networks, with what the others show first."""
        rows = [*self.rows.values()][-1]
        shown = [*self._replicated, *measurements]
        return on_genuine(rows, verdict, shown, self._notes, reason, **options)


def measured(
    name: str,
    values: pd.DataFrame,
    rows: pd.DataFrame,
    method: str,
    unit: str = "percent",
    **shown: str,
) -> list[Measurement]:
    """Return a Measurement per model: the value of a method with its interval.

    ``shown`` are {field: column} to be shown instead, such as the printed value.
    """
    shown = shown or {"low": "low_percent", "high": "high_percent"}
    by_model = rows[rows["method"] == method].set_index("model")
    return [
        Measurement(
            name, value, unit, model,
            **{field: by_model.loc[model, column] for field, column in shown.items()},
        )
        for model, value in values[method].items()
    ]  # fmt: skip


def paired(run: RunTables, measure: str, methods: Collection[str]) -> list[Measurement]:
    """Return a measure minus that after temperature scaling, with its paired-bootstrap interval."""
    table = run.table("measures")
    name = f"{measure}_minus_temperature_scaling"
    rows = table[(table["measure"] == name) & table["model"].isin(MODELS)]
    return [
        Measurement(
            f"{measure} minus that after temperature scaling", row.value_percent, POINTS,
            f"{row.method}, {row.model}", NAN, row.low_percent, row.high_percent,
        )
        for row in rows[rows["method"].isin(methods)].itertuples()
    ]  # fmt: skip


def share(name: str, holds: pd.Series) -> Measurement:
    """Return the Measurement of how many models a condition holds for, a boolean Series."""
    return Measurement(name, holds.sum(), f"of {len(holds)} models")


def by_share(*conditions: pd.Series, strict: float = MOST) -> Verdict:
    """Return the verdict on boolean Series: each holds for this share of models, or for most."""
    least = min(holds.mean() for holds in conditions)
    return Verdict.of(least >= strict, least > 0.5)
