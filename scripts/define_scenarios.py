"""Write the scenario table of one experiment: score distributions with calibration curves."""

import argparse

from calbias.errors import InputError
from calbias.io.command_line import command
from calbias.io.tables import write_table
from calbias.pipeline.models import read_models
from calbias.truth.curves import Curve
from calbias.truth.fitted_scenarios import fitted_scenario
from calbias.truth.scenario_tables import model_row, synthetic_rows


@command
def main(argv=None):
    """Write the scenarios of models with one curve, or of scores × (curves, powers and GLMs)."""
    options = _parse(argv)
    pairs = [_pair(text) for text in options.scores]
    rows = synthetic_rows(
        options.experiment, pairs, options.curves, options.powers, map(_glm, options.glms)
    )
    models = read_models(options.models_table) if options.models else {}
    for model in options.models:
        fit = fitted_scenario(model, options.curve, options.beta_fits, options.glm_fits)
        group = models[model]["group"]
        rows.append(model_row(options.experiment, model, group, fit.source, fit.scores, fit.curve))
    write_table(options.output, "scenarios", rows)


def _pair(text):
    try:
        alpha, beta = map(float, text.split(","))
    except ValueError:
        raise InputError(f"--scores: {text!r} is not a pair alpha,beta such as 1.1,0.1") from None
    return alpha, beta


def _glm(text):
    try:
        name, b0, b1 = text.split(",")
        return Curve(name, float(b0), float(b1))
    except ValueError:
        raise InputError(
            f"--glms: {text!r} is not name,b0,b1 such as logit_logit_b0_b1,-0.88,0.49"
        ) from None


def _parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--experiment", required=True, help="the experiment's name")
    parser.add_argument("--models", nargs="*", default=[], help="models, by name")
    parser.add_argument("--models-table", help="models table (CSV): gives the groups")
    parser.add_argument("--curve", choices=["fitted", "identity"], help="curve of the models")
    parser.add_argument("--beta-fits", nargs="*", default=[], help="beta_fits tables or Table 2")
    parser.add_argument("--glm-fits", nargs="*", default=[], help="glm_fits tables or Table 3")
    parser.add_argument("--scores", nargs="*", default=[], help="Beta parameters, as alpha,beta")
    parser.add_argument(
        "--curves", choices=["identity", "logistic"], nargs="*", default=[], help="curves by name"
    )
    parser.add_argument("--powers", type=float, nargs="*", default=[], help="exponents d of c^d")
    parser.add_argument("--glms", nargs="*", default=[], help="fitted curves, as name,b0,b1")
    parser.add_argument("--output", required=True, help="scenario table to write (CSV)")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
