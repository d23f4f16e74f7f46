"""C04: which differences of a printed table of class-wise errors are more than noise."""

from evidence.steps.judge_printed_classwise import BEST, UNDECIDED, UNKNOWN
from pipeline.claims.evidence import Evidence
from pipeline.claims.verdicts import Measurement, NotJudged, Ruling, Verdict, claim
from pipeline.logits import REAL_LOGITS

FEWEST_NETWORKS = 6
MOST, PARTLY = 1 / 2, 2 / 3


@claim(
    "C04",
    "calbias",
    "kull2019_table3",
    says=(
        "In a printed table of class-wise errors the best method of a network can be told from "
        "every other method in at most half of the networks: Kull et al. (2019), Table 3"
    ),
    published="a best method of each of 14 networks, in bold",
    rule=(
        "Table kull2019_table3, networks whose spread of a difference is known: a method is told "
        "from the best one if their printed numbers differ by more than 1.96 standard deviations "
        "of the difference on common labels and of their rounding. The share of networks in which "
        f"all methods are: reproduced up to {MOST:.0%}, approximate up to {PARTLY:.0%}; at least "
        f"{FEWEST_NETWORKS} networks."
    ),
    errors="none: a count",
)
def printed_best_is_told_from_the_rest(evidence: Evidence) -> Ruling:
    table = evidence.table("kull2019_table3")
    known = table[~table.groupby("model")["verdict"].transform(lambda x: (x == UNKNOWN).any())]
    n_networks = known["model"].nunique()
    if n_networks < FEWEST_NETWORKS:
        raise NotJudged(
            f"the run has the outputs of networks like {n_networks} of the table; the rule wants "
            f"{FEWEST_NETWORKS}"
        )
    undecided = (known["verdict"] == UNDECIDED).groupby(known["model"]).sum()
    distinct = (undecided == 0).sum()
    others = known[known["verdict"] != BEST]
    measurements = [
        Measurement("networks whose best method is distinguishable", distinct, "networks"),
        Measurement("networks judged", n_networks, "networks"),
        Measurement("methods undecided against the best", undecided.sum(), "numbers"),
        Measurement("methods next to the best", len(others), "numbers"),
    ]
    own = known.loc[known["floor_from"] == "its own outputs", "model"].unique()
    note = (
        f"spreads are from the network's own outputs for {', '.join(own) or 'none'}, from "
        "networks of as many classes and rows for the rest"
    )
    share = distinct / n_networks
    verdict = Verdict.of(share <= MOST, share <= PARTLY)
    reason = f"the best method is told from all others in {distinct} of {n_networks} networks"
    return Ruling(verdict, measurements, REAL_LOGITS, [note], reason=reason)
