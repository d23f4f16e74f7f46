"""Say in words what the league of estimators for all classes shows."""

from evidence.studies.multiclass_reading import reading_rows
from pipeline.script import OUTPUT, option, script
from pipeline.tables.files import read_table, write_table


@script(option("--league", "table multiclass_league"), OUTPUT)
def main(options):
    write_table(options.output, "multiclass_reading", reading_rows(read_table(options.league)))


if __name__ == "__main__":
    main()
