"""How the scenarios of an experiment without models are called, and which cannot be."""

from calbias.errors import InputError


def scenario_name(alpha, beta, curve):
    """Return a name like ``beta_1.1_0.1_power_2``; ``curve`` is the name of the curve in it."""
    return f"beta_{alpha:g}_{beta:g}_{curve}"


def power_name(d):
    """Return the name of the curve c^d."""
    return f"power_{d:g}"


def glm_name(name, b0, b1):
    """Return the name of a fitted curve with its coefficients."""
    return f"{name}_{b0:g}_{b1:g}"


def refuse_scenarios(experiment, scores, curves, powers=(), glms=()):
    """Raise InputError where two scenarios have one name, and for a coefficient a GLM lacks.

    ``scores`` are pairs (alpha, beta), ``curves`` names, ``powers`` exponents and ``glms`` (name,
    b0, b1).
    """
    for name, *coefficients in glms:
        for term, value in zip(("b0", "b1"), coefficients, strict=True):
            if term not in name.split("_") and value != 0:
                raise InputError(
                    f"config: experiments.{experiment}.glms: {name} has no {term}: write 0 for it"
                )
    names = set()
    for alpha, beta in scores:
        of_curves = [*curves, *map(power_name, powers), *(glm_name(*glm) for glm in glms)]
        for curve in of_curves:
            name = scenario_name(alpha, beta, curve)
            if name in names:
                raise InputError(
                    f"config: experiments.{experiment}: {name} is there twice: scores, curves, "
                    f"powers and glms must differ in their first six digits"
                )
            names.add(name)
