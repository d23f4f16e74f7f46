"""The names of an experiment's scenarios without models; two of one name are refused."""

from collections.abc import Sequence

from calbias.errors import InputError

Glm = tuple[str, float, float]  # its name, b0, b1


def scenario_name(alpha: float, beta: float, curve: str) -> str:
    """Return a name like ``beta_1.1_0.1_power_2``; ``curve`` is the name of the curve in it."""
    return f"beta_{alpha:g}_{beta:g}_{curve}"


def curve_names(
    curves: Sequence[str], powers: Sequence[float] = (), glms: Sequence[Glm] = ()
) -> list[str]:
    """Return the names in scenarios of named curves, of c^d, and of GLMs (name, b0, b1)."""
    fitted = [f"{name}_{b0:g}_{b1:g}" for name, b0, b1 in glms]
    return [*curves, *(f"power_{d:g}" for d in powers), *fitted]


def validate_scenarios(
    experiment: str,
    scores: Sequence[tuple[float, float]],
    curves: Sequence[str],
    powers: Sequence[float] = (),
    glms: Sequence[Glm] = (),
) -> None:
    """Raise InputError where two scenarios have one name, and for a coefficient a GLM lacks."""
    for name, *coefficients in glms:
        for term, value in zip(("b0", "b1"), coefficients, strict=True):
            if term not in name.split("_") and value != 0:
                raise InputError(
                    f"config: experiments.{experiment}.glms: {name} has no {term}: write 0 for it"
                )
    names, all_curves = set(), curve_names(curves, powers, glms)
    for alpha, beta in scores:
        for curve in all_curves:
            name = scenario_name(alpha, beta, curve)
            if name in names:
                raise InputError(
                    f"config: experiments.{experiment}: {name} is there twice: scores, curves, "
                    f"powers and glms must differ in their first six digits"
                )
            names.add(name)
