"""N28, N31, NG13 to NG17: scores and curves of trained networks, and how training made them.

NG13 to NG17 are statements of Guo et al., Figures 2 and 3, that only networks trained for the
purpose can decide: they have no G row.
"""

import numpy as np
import pandas as pd

from networks.over_networks import (
    OverNetworks,
    Sample,
    measured,
    on_networks,
    share,
)
from pipeline.claims.verdicts import (
    CLEAR,
    POINTS,
    SEARCHED,
    Measurement,
    NotJudged,
    Ruling,
    Verdict,
    by_case,
)
from reproduction.bias import error_of_mean
from reproduction.claims import section_4, section_6
from reproduction.claims.compared_biases import cell_measurements, clear_cells
from reproduction.claims.t_test import SIGNIFICANT

CONFIGURATION = (
    *("task", "task_seed", "n_classes", "network", "depth", "width", "batch_norm", "loss"),
    *("weight_decay", "learning_rate", "n_train", "epochs"),
)
FEWEST_STEPS = 4
STEPS = (
    "Networks that differ in nothing else (but in the seed: means over seeds), in ascending order. "
    "A step from one to the next is clear if the true ℓ1 error, the ECE of Guo et al., changes by "
    f"{CLEAR:g} standard errors. Reproduced if more than half of the steps are clearly as claimed "
    "and none clearly the opposite, not reproduced if more are clearly the opposite, else "
    f"approximate. Fewer than {FEWEST_STEPS} steps are too few to judge."
)
SEEDS = "± one standard error from the spread between seeds of one configuration"
FIGURE_2 = "Guo §3, Fig 2"
SHOWN = {
    "l1_percent": "true ℓ1 error",
    "gap_percent": "mean score less accuracy",
    "error_percent": "share of errors",
}


@on_networks(section_6.cifar10_is_most_skewed, "")
def accuracy_goes_with_skewness(sample: Sample) -> Ruling:
    """The more skewed their scores are, the more accurate they are, by task too.

    rule: Two conditions: the rank correlation of accuracy and skewness towards 1 over networks is
    above 0 with p < {SIGNIFICANT:g}; the kinds of tasks are in the same order by mean skewness and
    by mean accuracy. Reproduced if both hold, approximate if one does. Networks drawn second share
    no task, only its kind.
    errors: p of Spearman's correlation over networks
    """
    from scipy.stats import spearmanr  # takes long to import

    accuracy, skew = -sample.networks["error_percent"], -sample.networks["skewness"]
    result = spearmanr(accuracy, skew)
    by_task = [x.groupby(sample.networks["task"]).mean().rank() for x in (accuracy, skew)]
    same_order = bool((by_task[0] == by_task[1]).all())
    clear = result.statistic > 0 and result.pvalue < SIGNIFICANT
    measurements = [
        Measurement("rank correlation of skewness and accuracy", result.statistic),
        Measurement("p", result.pvalue),
    ]
    order = "in the same order" if same_order else "in another order"
    reason = f"rank correlation {result.statistic:.2f}, p = {result.pvalue:.1g}, tasks {order}"
    return Ruling(Verdict.all_or_some([clear, same_order]), measurements, reason=reason)


@on_networks(section_4.curves_are_monotone, "")
def curves_are_monotone(sample: Sample) -> Ruling:
    """rule: 15 bins of equal width of a million and more fresh rows: no bin has an accuracy above
    the accuracy of a bin of higher scores by {SEARCHED:g} standard errors of the difference.
    Reproduced if that holds for every network, approximate if for most.
    errors: ± one standard error of a share of networks
    """
    decrease = sample.networks["largest_decrease"]
    holds = decrease <= SEARCHED
    falling = [*decrease[~holds].index]
    reason = f"no clear decrease on {holds.sum()} of {len(holds)} networks"
    measurements = [
        Measurement("largest decrease", decrease.max(), "standard errors"),
        share(holds, "no clear decrease"),
    ]
    notes = [f"not for {', '.join(falling)}"] if falling else []
    return Ruling(
        Verdict.of(holds.all(), holds.mean() > 0.5), measurements, notes=notes, reason=reason
    )


def steps(
    sample: Sample, factor: str, column: str, free: tuple[str, ...] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """Return changes of a column from one value of a factor to the next, (k,), and their errors.

    ``free`` are settings that may differ too. The spread between seeds is that of all networks.
    """
    everyone = sample.run.table("networks").fillna({"task_seed": 0}).set_index("scenario")
    by_config = everyone.groupby([*CONFIGURATION])[column]
    seeds, variances = by_config.size(), by_config.var()
    n_repeats = (seeds - 1).sum()
    if not n_repeats:
        raise NotJudged("no configuration has two seeds")
    spread = ((seeds - 1) * variances.fillna(0)).sum() / n_repeats
    by_config = everyone.loc[sample.with_partners.index].groupby([*CONFIGURATION])[column]
    means, seeds = by_config.mean(), by_config.size()
    others = [name for name in CONFIGURATION if name not in (factor, *free)]
    table = pd.DataFrame({"mean": means, "variance": spread / seeds}).reset_index()
    changes, errors = [], []
    for _, group in table.sort_values(factor).groupby(others):
        variance = group["variance"].to_numpy()
        changes += [*np.diff(group["mean"])]
        errors += [*np.sqrt(variance[1:] + variance[:-1])]
    return np.array(changes), np.array(errors)


def _by_steps(sample: Sample, factor: str, sign: int = 1, free: tuple[str, ...] = ()) -> Ruling:
    """Return the Ruling that more of a factor raises (sign 1) or lowers the calibration error."""
    changes, errors = steps(sample, factor, "l1_percent", free)
    if len(changes) < FEWEST_STEPS:
        raise NotJudged(f"{len(changes)} pairs of networks differ in {factor} alone")
    cells = clear_cells(sign * changes, errors)
    measurements = cell_measurements("steps as claimed", {"": cells})
    for column, words in SHOWN.items():
        changes, errors = steps(sample, factor, column, free)
        mean = sign * float(changes.mean()), error_of_mean(errors)
        measurements += by_case("mean change a step", {words: mean}, POINTS)
    verdict = Verdict.of(
        cells.agree > cells.total / 2 and not cells.disagree, cells.agree >= cells.disagree
    )
    mixed = "mixed: " if cells.agree and cells.disagree else ""
    reason = (
        f"{mixed}as claimed in {cells.agree} of {cells.total} steps, clearly the opposite in "
        f"{cells.disagree}"
    )
    return Ruling(verdict, measurements, reason=reason)


@on_networks(None, "", id="NG13", where=FIGURE_2)
def depth(sample: Sample) -> Ruling:
    """Depth worsens calibration.

    published: networks of one kind; no number
    rule: {STEPS}
    errors: {SEEDS}
    """
    return _by_steps(sample, "depth")


@on_networks(None, "", id="NG14", where=FIGURE_2)
def width(sample: Sample) -> Ruling:
    """Width worsens calibration.

    published: networks of one kind; no number
    rule: {STEPS}
    errors: {SEEDS}
    """
    return _by_steps(sample, "width")


@on_networks(None, "", id="NG15", where=FIGURE_2)
def batch_norm(sample: Sample) -> Ruling:
    """Batch normalisation worsens calibration.

    published: one network; no number
    rule: {STEPS} The learning rate may differ too, since Guo et al. say so of any.
    errors: {SEEDS}
    """
    return _by_steps(sample, "batch_norm", free=("learning_rate",))


@on_networks(None, "", id="NG16", where=FIGURE_2)
def decay(sample: Sample) -> Ruling:
    """Less weight decay worsens calibration.

    published: one network; no number
    rule: {STEPS}
    errors: {SEEDS}
    """
    return _by_steps(sample, "weight_decay", -1)


@on_networks(None, "", id="NG17", where="Guo §3, Fig 3")
def likelihood_overfits(sample: Sample) -> Ruling:
    """The likelihood overfits while the error falls, in the course of the training.

    published: the error falls from 29 to 27 % while the loss rises, one network on CIFAR-100
    rule: Networks trained with cross-entropy, on fresh rows: rise of the loss, and fall of the
    error, from the epochs next to the least loss to the end of the training. Reproduced if both
    means are above 0 by {TESTED} and both are above 0 on more than half of the networks,
    approximate if only the means are.
    """
    table = sample.networks[sample.networks["loss"] == "cross_entropy"]
    rise, fall = (OverNetworks.of(table[x]) for x in ("nll_rise", "error_fall_percent"))
    both = (table["nll_rise"] > 0) & (table["error_fall_percent"] > 0)
    measurements = [
        *measured("rise of the loss", {"": rise}, unit=""),
        *measured("fall of the error", {"": fall}),
        share(both, "both"),
    ]
    means = rise.positive and fall.positive
    reason = f"the loss rises by {rise}, the error falls by {fall}, both on {both.mean():.0%}"
    return Ruling(Verdict.of(means and both.mean() > 0.5, means), measurements, reason=reason)
