"""Claims by their source: the paper, two others and calbias, each with its count of verdicts."""

import re
from typing import Any, NamedTuple

import pandas as pd

from pipeline.claims.verdicts import Verdict
from pipeline.report.page import badge

DECIDED = (Verdict.REPRODUCED, Verdict.APPROXIMATE, Verdict.NOT_REPRODUCED)


class Paper(NamedTuple):
    """A source of claims: the letter of its ids, its name, and its title or its role."""

    letter: str
    name: str
    title: str


PAPERS = (
    Paper("R", "Roelofs et al. 2022", "Mitigating Bias in Calibration Error Estimation"),
    Paper("G", "Guo et al. 2017", "On Calibration of Modern Neural Networks"),
    Paper("S", "Gupta et al. 2021", "Calibration of Neural Networks using Splines"),
    Paper("C", "calbias", "claims of this project, by the same rules"),
)


def papers_with_claims(claims: pd.DataFrame) -> list[dict[str, Any]]:
    """Return [{paper, ids, bar, counts, sentence}] of the papers with rows in table ``claims``.

    ``bar`` is [{verdict, models, count}] of the verdicts that occur; ``models`` is "2 of 10" where
    the evidence is partial. ``counts`` is [{verdict, whole, part}]: claims with all their evidence,
    and with a part of it.
    """
    shown = []
    for paper in PAPERS:
        rows = claims[claims["id"].str.startswith(paper.letter)]
        if rows.empty:
            continue
        bar = [
            {"verdict": badge(name), "models": models, "count": count}
            for (name, models), count in _counts(rows).items()
        ]
        shown.append(
            {
                "paper": paper,
                "ids": list(rows["id"]),
                "bar": bar,
                "counts": _by_evidence(bar),
                "sentence": f"{len(rows)} claims: {counted(rows)}.",
            }
        )
    return shown


def _by_evidence(bar: list[dict[str, Any]]) -> list[dict[str, Any]]:
    counts: dict[str, dict[str, Any]] = {}
    for part in bar:
        verdict = part["verdict"]
        count = counts.setdefault(verdict["name"], {"verdict": verdict, "whole": 0, "part": 0})
        count["part" if part["models"] else "whole"] += part["count"]
    return [*counts.values()]


def counted(rows: pd.DataFrame) -> str:
    """Return how many claims have each verdict; those judged on some of the models count apart."""
    parts = [
        f"{count} {name.words}" + f" on {models} models" * bool(models)
        for (name, models), count in _counts(rows).items()
    ]
    return re.sub(r"(?<!\b1 )needs", "need", ", ".join(parts))


def _counts(rows: pd.DataFrame) -> dict[tuple[Verdict, str], int]:
    """Return {(verdict, "2 of 10" where it rests on some of the models): how many claims}."""
    models = rows["models"] if "models" in rows else pd.Series("", rows.index)
    models = models.fillna("").astype(str).where(rows["verdict"].isin(DECIDED), "")
    counts = pd.Series(1, rows.index).groupby([rows["verdict"], models]).sum()
    keys = sorted(counts.index, key=lambda key: ([*Verdict].index(key[0]), key[1]))
    return {(Verdict(name), models): int(counts[name, models]) for name, models in keys}
