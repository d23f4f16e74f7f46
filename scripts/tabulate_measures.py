"""Put the measures of all models next to what two papers print, also in the papers' layout."""

from pipeline.script import option, script
from pipeline.tables.files import read_table, write_table
from pipeline.tables.rows import read_rows
from reproduction.measured.printed import printed_values
from reproduction.measured.tables import measures_table, printed_tables


@script(
    option("--measures", "rows of the models, from measure_model.py", many=True, default=[]),
    option("--models-table", "models table (CSV): model, file"),
    option("--replication", "table replication, of other networks", default=None),
    option("--published-dir", "folder of the printed tables"),
    option("--output-measures", "every measure of every model, to write (CSV)"),
    option("--output-printed", "method × model as printed, to write (CSV)"),
)
def main(options):
    models = read_rows(options.models_table, ("model", "file"))
    files = {row["model"]: row["file"] for _, row in models}
    parts = [read_table(path) for path in options.measures]
    table = measures_table(parts, printed_values(options.published_dir), files)
    write_table(options.output_measures, "measures", table)
    others = read_table(options.replication) if options.replication else None
    write_table(options.output_printed, "printed_tables", printed_tables(table, others))


if __name__ == "__main__":
    main()
