"""What claims on the KDE say of its value without the p-th root.

The paper's code for the KDE is not public, and nobody here has seen more of its curves than the
text says. The public code of its authors, Zhang et al. (2020), takes no root.
"""

from collections.abc import Mapping

from pipeline.claims.verdicts import Verdict


def unrooted_notes(verdicts: Mapping[str, Verdict]) -> list[str]:
    """Return a note where the KDE without its root has another verdict; of {estimator: verdict}."""
    if verdicts["kde"] == verdicts["kde_unrooted"]:
        return []
    return [
        f"on kde_unrooted, the integral without the p-th root, the verdict is "
        f"{verdicts['kde_unrooted'].words}",
        "the public code of Zhang et al. (2020) takes no root; that the paper took none is inferred"
        " from its text, its own code for the KDE being not public",
    ]


def without_root(verdicts: Mapping[str, Verdict], rooted: str) -> str:
    """Return a reason, ``rooted``, with where the claim holds better: the KDE without its root."""
    is_better = Verdict.worst(verdicts.values()) == verdicts["kde"] != verdicts["kde_unrooted"]
    if not is_better:
        return f"the KDE has {rooted}"
    true = "true" if verdicts["kde_unrooted"] == Verdict.REPRODUCED else "nearly true"
    return f"{true} only without the p-th root, as its authors' code leaves it (with it {rooted})"
