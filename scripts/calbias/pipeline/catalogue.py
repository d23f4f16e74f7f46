"""Which tables and figures a configuration can make: each rests on certain experiments."""

from calbias.io.table_schema import tables
from calbias.pipeline.figure_catalogue import figures

# Table → the experiments it is made from, of the tables that every run makes.
TABLES = {
    name: tuple(entry.get("experiments", ()))
    for name, entry in tables().items()
    if entry.get("by_default", True)
}


def paper_experiments():
    """Return the names of the experiments that tables and figures rest on, a sorted list."""
    of_tables = {name for needs in TABLES.values() for name in needs}
    of_figures = {name for entry in figures().values() for name in entry.experiments}
    return sorted(of_tables | of_figures)


def available_tables(experiments, logits=True, genuine=True):
    """Return the names of a config's tables; ``logits``, ``genuine``: some model has any."""
    lacking = {"needs_logits": not logits, "needs_genuine": not genuine}
    lacking = [need for need, is_lacking in lacking.items() if is_lacking]
    return [
        name
        for name, needs in TABLES.items()
        if set(needs) <= set(experiments) and not any(map(tables()[name].get, lacking))
    ]


def available_figures(experiments, logits=True, genuine=True):
    """Return {figure: Entry} of the figures whose tables, experiments and model a config has."""
    known = {*available_tables(experiments, logits, genuine), "models"}
    return {
        name: entry
        for name, entry in figures().items()
        if set(entry.tables) <= known
        and set(entry.experiments) <= set(experiments)
        and _has_model(entry, experiments)
    }


def _has_model(entry, experiments):
    model = entry.options.get("model")
    wanted = [experiments[name].get("models", []) for name in entry.experiments]
    return model is None or all(model in models for models in wanted)
