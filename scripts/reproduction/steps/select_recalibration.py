from pathlib import Path

from pipeline.tables.files import read_table, write_table
from reproduction.selection.summary import gathered, selection_table, sensitivity_table


def select_recalibration(
    *,
    selections: list[Path],
    published: Path,
    output_selection: Path,
    output_sensitivity: Path,
) -> None:
    """Gather the models' recalibration selections into Table 1 and its sensitivity.

    selections: of the models, by recalibrate_model.py --selection-output
    published: published Table 1
    output_selection: Table 1 to write
    output_sensitivity: agreement under each open choice, to write
    """
    of_models = gathered(selections)
    table = selection_table(of_models, read_table(published), published)
    write_table(output_selection, "recalibration_selection", table)
    sensitivity = sensitivity_table(of_models)
    write_table(output_sensitivity, "recalibration_sensitivity", sensitivity)
