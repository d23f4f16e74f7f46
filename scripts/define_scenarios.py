"""Write the scenario table of one experiment: models with one curve, or scores × curves."""

from calbias.errors import InputError
from calbias.truth.curves import NAMED_CURVES, Curve
from pipeline.models import read_models
from pipeline.scenarios.fits import fitted_scenario
from pipeline.scenarios.tables import scenario_row, synthetic_rows
from pipeline.script import option, script
from pipeline.tables.files import write_table


def _parts(flag, text, form, *types):
    try:
        return tuple(kind(part) for kind, part in zip(types, text.split(","), strict=True))
    except ValueError:
        raise InputError(f"{flag}: {text!r} is not {form}") from None


@script(
    option("--models-table", "models table (CSV): gives the groups", default=None),
    option("--beta-fits", "beta_fits tables or Table 2", many=True, default=[]),
    option("--glm-fits", "glm_fits tables or Table 3", many=True, default=[]),
    option("--experiment", "the experiment's name"),
    option("--models", "models, by name", many=True, default=[]),
    option("--curve", "curve of the models", choices=["fitted", "identity"], default=None),
    option("--scores", "Beta parameters, as alpha,beta", many=True, default=[]),
    option("--curves", "by name", many=True, choices=[*NAMED_CURVES], default=[]),
    option("--powers", "exponents d of c^d", float, many=True, default=[]),
    option("--glms", "fitted curves, as name,b0,b1", many=True, default=[]),
    option("--output", "scenario table to write"),
)
def main(options):
    form = "a pair alpha,beta such as 1.1,0.1"
    pairs = [_parts("--scores", text, form, float, float) for text in options.scores]
    form = "name,b0,b1 such as logit_logit_b0_b1,-0.88,0.49"
    glms = [Curve(*_parts("--glms", text, form, str, float, float)) for text in options.glms]
    rows = synthetic_rows(options.experiment, pairs, options.curves, options.powers, glms)
    models = read_models(options.models_table) if options.models else {}
    for model in options.models:
        fit = fitted_scenario(model, options.curve, options.beta_fits, options.glm_fits)
        rows.append(scenario_row(options.experiment, *fit, models[model]["group"]))
    write_table(options.output, "scenarios", rows)


if __name__ == "__main__":
    main()
