"""What the paper's verdicts say together: a few sentences that follow from a run's tables."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import pandas as pd

from pipeline.claims.verdicts import Verdict
from pipeline.paper import DEBIAS_PERCENT, SWEEP_PERCENT, T_STATISTIC
from pipeline.report import PAPERS, stated_by


class Topic(NamedTuple):
    """A statement in few words, the claims that it rests on, and numbers behind it.

    ``numbers`` is a format of the values of ``measured``, (id, name) or (id, name, case) of table
    measurements; without a case, the sum over all.
    """

    words: str
    ids: tuple[str, ...]
    numbers: str = ""
    measured: tuple[tuple[str, ...], ...] = ()


MEAN = "mean |bias|"
CORE = (
    Topic(
        "the ECE of 15 equal-width bins is far off for a calibrated model", ("R01",),
        "{:.1f} % at 200 samples", (("R01", "mean ECE_bin at TCE 0, n = 200"),),
    ),
    Topic(
        "equal mass is nearly always less biased than equal width", ("R09",),
        "{:.0f} of 63 cells, {:.0f} the other way", (
            ("R09", "em less biased, cells of 21 clearly so"),
            ("R09", "em less biased, cells of 21 the other way round"),
        ),
    ),
    Topic(
        "of the binned estimators equal-mass debias is the least biased where models are "
        "calibrated", ("R20",), "{:.2f} % against the sweep's {:.2f} %", (
            ("R20", f"{MEAN} of ece_debias_em"), ("R20", f"{MEAN} of ece_sweep_em"),
        ),
    ),
    Topic(
        "the equal-mass sweep is the least biased where they are not, mainly below 1000 samples",
        ("R10",), "{:.2f} % against debias's {:.2f} %", (
            ("R10", MEAN, "ece_sweep_em"), ("R10", MEAN, "ece_debias_em"),
        ),
    ),
    Topic(
        "the sweep detects miscalibration with fewer samples than the ECE", ("R16",),
        "{:.2f} points of error less below 10 000 samples",
        (("R16", "mean gap between the curves of miss rate over TCE", "below 10000 samples:"),),
    ),
    Topic(
        "the printed t-test comes out on the authors' own random numbers", ("R11",),
        f"{{:.3f}}, {{:.3f}}, t = {{:.2f}}; printed {DEBIAS_PERCENT}, {SWEEP_PERCENT}, "
        f"{T_STATISTIC:.2f}", (
            ("R11", f"{MEAN} of ece_debias_em, authors' draws"),
            ("R11", f"{MEAN} of ece_sweep_em, authors' draws"),
            ("R11", "t of the paired test, authors' draws"),
        ),
    ),
)  # fmt: skip
FAILING = (
    Topic(
        "that both good estimators are better in both settings: on calibrated models the sweep is "
        "more biased than debias with equal width", ("R21",),
        "{:.0f} of 21 cells; the other 7 of 8 comparisons hold", (
            ("R21", "less biased, cells of 21 the other way round",
             "perfect: ece_sweep_em over ece_debias_ew"),
        ),
    ),
    Topic(
        "that Table 4's simulated ECEs are close to the real ones: not on CIFAR-10, partly because "
        "they are of fewer rows", ("R08",), "{:.0f} of 10 printed pairs within 10 %", (
            ("R08", "printed pairs within 10%"),
        ),
    ),
    Topic(
        "what is said of the KDE: true only without its root, as its authors' public code leaves "
        "it", ("R12", "R19"),
    ),
    Topic("the selected GLMs", ("R38",)),
)  # fmt: skip
OPEN = (
    Topic(
        "whether the sweep selects better recalibration; so far the evidence is {lean}",
        ("R26", "R30"),
        "of the networks that could be run it picks the best method for {:.0f}, ECE_bin for {:.0f}",
        (("R26", "selects as the TCE, all networks", "ece_sweep_em"),
         ("R26", "selects as the TCE, all networks", "ece_bin_ew")),
    ),
)  # fmt: skip
HEADS = {  # of what is not among the core
    Verdict.NOT_REPRODUCED: "Not borne out",
    Verdict.NEEDS_REAL_LOGITS: "Open",
}


class Point(NamedTuple):
    """A statement with its numbers in words, and the ids of its claims."""

    words: str
    ids: tuple[str, ...]
    numbers: str = ""


class Sentence(NamedTuple):
    """A head, such as "The core holds", and the Points that follow it."""

    head: str
    points: list[Point]

    @property
    def text(self) -> str:
        """The sentence with its claims and numbers in brackets, without its head."""
        return "; ".join(
            f"{words} ({', '.join(ids)}{': ' * bool(numbers)}{numbers})"
            for words, ids, numbers in self.points
        )


def sentences(claims: pd.DataFrame, measurements: pd.DataFrame) -> list[Sentence]:
    """Return the Sentences on the first paper; claims that were not judged are left out.

    A topic has the worst verdict of its claims; what fails or is open outside the topics has the
    claim's own words. Numbers are those of table ``measurements``.
    """
    claims = stated_by(claims, PAPERS[0]).set_index("id")
    verdicts = {name: Verdict(verdict) for name, verdict in claims["verdict"].items()}
    values = measurements.fillna({"case": ""})
    core = _by_verdict(CORE, verdicts, values)
    lacking = [v for v in HEADS if v in core]
    heads = ("Of the core holds", "Of the core holds approximately")
    if not lacking:
        heads = ("The core holds", "Approximately")
    result = [
        Sentence(head, core[verdict])
        for head, verdict in zip(heads, (Verdict.REPRODUCED, Verdict.APPROXIMATE), strict=True)
        if verdict in core
    ]
    named = {name for topic in (*CORE, *FAILING, *OPEN) for name in topic.ids}
    words = claims["claim"] if "claim" in claims else claims.index.to_series()
    others = [Topic(words[x], (x,)) for x in verdicts if x not in named]
    others_by_verdict = _by_verdict([*FAILING, *OPEN, *others], verdicts, values)
    for verdict, head in HEADS.items():
        if points := core.get(verdict, []) + others_by_verdict.get(verdict, []):
            result.append(Sentence(head, points))
    return result


def _by_verdict(
    topics: Iterable[Topic], verdicts: Mapping[str, Verdict], measurements: pd.DataFrame
) -> dict[Verdict, list[Point]]:
    """Return {verdict: the topics whose worst claim has it}, of claims that were judged."""
    by_verdict: dict[Verdict, list[Point]] = {}
    for topic in topics:
        judged = [
            verdicts[x] for x in topic.ids if verdicts.get(x) not in (None, Verdict.NOT_JUDGED)
        ]
        if judged:
            by_verdict.setdefault(Verdict.worst(judged), []).append(_point(topic, measurements))
    return by_verdict


def _point(topic: Topic, measurements: pd.DataFrame) -> Point:
    """Return a topic with its numbers; without them where a run has not measured all."""
    values = [x for names in topic.measured if (x := _value(measurements, *names)) is not None]
    if len(values) < len(topic.measured):
        return Point(topic.words.partition("; so far")[0], topic.ids)
    lean = ""
    if "{lean}" in topic.words:
        first, second = values
        lean = "against it" if first < second else "for it" if first > second else "level"
    return Point(topic.words.format(lean=lean), topic.ids, topic.numbers.format(*values))


def _value(measurements: pd.DataFrame, id: str, name: str, case: str = "") -> float | None:
    rows = measurements[(measurements["id"] == id) & (measurements["name"] == name)]
    rows = rows[rows["case"] == case] if case else rows
    return None if rows.empty else float(rows["value"].sum())
