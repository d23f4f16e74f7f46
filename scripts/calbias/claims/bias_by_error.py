"""R22: bias as the true calibration error grows (§7.3, appendix C, Figure 13)."""

import numpy as np
from scipy.stats import spearmanr

from calbias.claims.error_sweep import sweep_curves
from calbias.claims.judgement import CLEAR, Judgement, Rule, verdict_of

FALLING = -0.5
MOST = 0.75


def greatest_when_calibrated(evidence):
    """R22: |bias| at TCE = 0 against all others, and the rank correlation of bias with TCE."""
    greatest, ranks, abs_ranks, words, notes = [], [], [], [], []
    curves = sweep_curves(evidence)
    for (scores, n, estimator), curve in curves.items():
        tce, bias, se = (
            curve[c].to_numpy() for c in ("tce_percent", "bias_percent", "bias_se_percent")
        )
        excess = np.abs(bias[1:]) - np.abs(bias[0]) - CLEAR * np.hypot(se[1:], se[0])
        greatest.append(excess.max() <= 0)
        ranks.append(float(spearmanr(tce, bias).statistic))
        abs_ranks.append(float(spearmanr(tce, np.abs(bias)).statistic))
        name = f"{estimator} {scores} n = {n}"
        words.append(
            f"{name}: {bias[0]:+.2f} ± {se[0]:.2f} at TCE 0, rank correlation with TCE "
            f"{ranks[-1]:+.2f}, of |bias| {abs_ranks[-1]:+.2f}"
        )
        if abs_ranks[-1] > 0:
            least = int(np.abs(bias).argmin())
            after = least + int(np.abs(bias[least:]).argmax())
            notes.append(
                f"{name}: |bias| falls from {abs(bias[0]):.2f} at TCE 0 to {abs(bias[least]):.2f} "
                f"at TCE {tce[least]:.1f} and rises to {abs(bias[after]):.2f} at {tce[after]:.1f}"
            )
    largest = max(curve["bias_se_percent"].max() for curve in curves.values())
    falls, abs_falls = (np.array(r) <= FALLING for r in (ranks, abs_ranks))
    both = np.logical_and(greatest, falls)
    failing = [w.partition(":")[0] for w, ok in zip(words, both, strict=True) if not ok]
    return Judgement(
        verdict_of_curves(greatest, falls),
        f"greatest at TCE 0 in {sum(greatest)}, falling in {sum(falls)} of {len(words)} curves; "
        f"by |bias| falling in {sum(abs_falls)}; " + "; ".join(words),
        f"± one Monte Carlo standard error, at most {largest:.3f} at any TCE",
        evidence.source("tce_sweep"),
        "; ".join(
            [
                *([f"fails on: {', '.join(failing)}"] if failing else []),
                *abs_words(verdict_of_curves(greatest, abs_falls), abs_ranks),
                *notes,
            ]
        ),
    )


def verdict_of_curves(greatest, falls):
    """Return the verdict on two conditions, a list of bools each, over curves."""
    return verdict_of(
        np.logical_and(greatest, falls).all(), np.mean(greatest) >= MOST and np.mean(falls) >= MOST
    )


def abs_words(verdict, ranks):
    """Return, as a list of at most one text, what |bias| does where it does not fall throughout."""
    if all(rank <= FALLING for rank in ranks):
        return []
    return [
        f"the fall is that of bias with its sign: by |bias| in both conditions the verdict would "
        f"be {verdict.replace('_', ' ')}, its rank correlation with TCE being positive in "
        f"{sum(rank > 0 for rank in ranks)} of {len(ranks)} curves"
    ]


RULES = {
    "R22": Rule(
        "Eight curves of bias over TCE (ece_bin_ew and ece_sweep_em, two score distributions, "
        "n = 200 and 5000). Two conditions on each: no |bias| exceeds that at TCE = 0 by "
        f"{CLEAR:g} standard errors; the rank correlation (Spearman) of bias with TCE is at most "
        f"{FALLING:g}. Bias has its sign in the second, as the paper defines it there: the "
        "difference of the curve to y = x in Fig 13; what |bias| does is shown beside it. "
        "Reproduced if all curves fulfil both, approximate if each is fulfilled by at least "
        f"{MOST:.0%}.",
        greatest_when_calibrated,
    ),
}
