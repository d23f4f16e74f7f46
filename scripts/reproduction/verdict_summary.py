"""What the paper's verdicts say together: a few sentences that follow from table ``claims``."""

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from pipeline.claims.verdicts import Verdict


class Topic(NamedTuple):
    """A statement of the paper in few words, and the claims that it rests on."""

    words: str
    ids: tuple[str, ...]


CORE = (
    Topic("the ECE of a calibrated model is large", ("R01",)),
    Topic("equal mass is less biased than equal width", ("R09",)),
    Topic("the sweep is the least biased where models are miscalibrated", ("R10",)),
    Topic("debias is the least biased where they are calibrated", ("R20",)),
    Topic("the sweep misses miscalibration less often than the ECE", ("R16",)),
)
OTHERS = (
    Topic("what is said of the KDE, whose published curves lack a root", ("R12", "R19")),
    Topic("that the variance depends on neither bins nor technique", ("R15", "R27")),
    Topic("that both good estimators are better in both settings", ("R21",)),
    Topic("that simulated and real data match closely and are well fitted", ("R08", "R32")),
    Topic("whether the sweep selects better recalibration methods", ("R26", "R30")),
)
HEADS = {  # of what is not among the core
    Verdict.NOT_REPRODUCED: "What fails",
    Verdict.NEEDS_REAL_LOGITS: "What is open",
}


class Sentence(NamedTuple):
    """A head, such as "The core holds", and the Topics that follow it."""

    head: str
    topics: list[Topic]

    @property
    def text(self) -> str:
        """The sentence with its claims in brackets, without its head."""
        return "; ".join(f"{topic.words} ({', '.join(topic.ids)})" for topic in self.topics)


def sentences(claims: pd.DataFrame) -> list[Sentence]:
    """Return the Sentences on the first paper; claims that were not judged are left out.

    A topic has the worst verdict of its claims; what fails or is open outside the topics has the
    claim's own words.
    """
    claims = claims[claims["id"].str.startswith("R")].set_index("id")
    verdicts = {name: Verdict(verdict) for name, verdict in claims["verdict"].items()}
    core = _by_verdict(CORE, verdicts)
    failing = core.get(Verdict.NOT_REPRODUCED, []) + core.get(Verdict.NEEDS_REAL_LOGITS, [])
    heads = ("Of the core holds", "Of the core holds approximately")
    if not failing:
        heads = ("The core holds", "Approximately")
    result = [
        Sentence(head, core[verdict])
        for head, verdict in zip(heads, (Verdict.REPRODUCED, Verdict.APPROXIMATE), strict=True)
        if verdict in core
    ]
    named = {name for topic in (*CORE, *OTHERS) for name in topic.ids}
    words = claims["claim"] if "claim" in claims else claims.index.to_series()
    topics = [*OTHERS, *(Topic(words[x], (x,)) for x in verdicts if x not in named)]
    others = _by_verdict(topics, verdicts)
    for verdict, head in HEADS.items():
        if lacking := core.get(verdict, []) + others.get(verdict, []):
            result.append(Sentence(head, lacking))
    return result


def _by_verdict(
    topics: list[Topic] | tuple[Topic, ...], verdicts: Mapping[str, Verdict]
) -> dict[Verdict, list[Topic]]:
    """Return {verdict: the topics whose worst claim has it}, of claims that were judged."""
    by_verdict: dict[Verdict, list[Topic]] = {}
    for topic in topics:
        judged = [
            verdicts[x] for x in topic.ids if verdicts.get(x) not in (None, Verdict.NOT_JUDGED)
        ]
        if judged:
            by_verdict.setdefault(Verdict.worst(judged), []).append(topic)
    return by_verdict
