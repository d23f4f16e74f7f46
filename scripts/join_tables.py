"""Join the parts of a table, one below the other, in the order given."""

from pipeline.script import OUTPUT, option, script
from pipeline.tables.files import joined_tables, write_table


@script(
    option("--inputs", "the table's parts", many=True),
    option("--table", "its name, such as bias"),
    OUTPUT,
)
def main(options):
    table = joined_tables(options.inputs, options.table)
    write_table(options.output, options.table, table)


if __name__ == "__main__":
    main()
