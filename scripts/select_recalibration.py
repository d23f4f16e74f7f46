"""Gather the models' recalibration selections into Table 1 and its sensitivity."""

from pipeline.script import option, script
from pipeline.tables.files import read_table, write_table
from reproduction.selection.summary import gathered, selection_table, sensitivity_table


@script(
    option("--selections", "of the models, by recalibrate_model.py --selection-output", many=True),
    option("--published", "published Table 1"),
    option("--output-selection", "Table 1 to write"),
    option("--output-sensitivity", "agreement under each open choice, to write"),
)
def main(options):
    selections = gathered(options.selections)
    published = read_table(options.published)
    table = selection_table(selections, published, options.published)
    write_table(options.output_selection, "recalibration_selection", table)
    sensitivity = sensitivity_table(selections)
    write_table(options.output_sensitivity, "recalibration_sensitivity", sensitivity)


if __name__ == "__main__":
    main()
