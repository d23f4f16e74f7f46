from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from calbias.errors import InputError
from calbias.truth.curves import Curve
from pipeline.models import read_models
from pipeline.populations import read_own_scores
from pipeline.scenarios import fitted_scenario, own_scores_row, scenario_row, synthetic_rows
from pipeline.tables import write_table


def _parts(flag: str, text: str, form: str, *types: Callable[[str], Any]) -> Any:
    try:
        return tuple(kind(part) for kind, part in zip(types, text.split(","), strict=True))
    except ValueError:
        raise InputError(f"{flag}: {text!r} is not {form}") from None


def define_scenarios(
    *,
    models_table: Path | None,
    beta_fits: list[Path],
    glm_fits: list[Path],
    own_scores: list[Path],
    experiment: str,
    models: list[str],
    curve: Literal["fitted", "identity"],
    scores: list[str],
    curves: list[Literal["identity", "logistic"]],
    powers: list[float],
    glms: list[str],
    output: Path,
) -> None:
    """Write the scenario table of one experiment: models with one curve, or scores × curves.

    models_table: models table (CSV): gives the groups
    beta_fits: beta_fits tables or Table 2
    glm_fits: glm_fits tables or Table 3
    own_scores: models' own scores, which come before fits
    experiment: the experiment's name
    models: models, by name
    curve: curve of the models
    scores: Beta parameters, as alpha,beta
    curves: by name
    powers: exponents d of c^d
    glms: fitted curves, as name,b0,b1
    output: scenario table to write
    """
    form = "a pair alpha,beta such as 1.1,0.1"
    pairs = [_parts("--scores", text, form, float, float) for text in scores]
    form = "name,b0,b1 such as logit_logit_b0_b1,-0.88,0.49"
    fitted = [Curve(*_parts("--glms", text, form, str, float, float)) for text in glms]
    rows = synthetic_rows(experiment, pairs, curves, powers, fitted)
    groups = read_models(models_table) if models_table else {}
    populations = read_own_scores(own_scores)
    for model in models:
        group = groups[model]["group"]
        if model in populations:
            _, source = populations[model]
            rows.append(own_scores_row(experiment, model, curve, source, group))
        else:
            scenario, source = fitted_scenario(model, curve, beta_fits, glm_fits)
            rows.append(scenario_row(experiment, scenario, source, group))
    write_table(output, "scenarios", rows)
