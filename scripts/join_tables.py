"""Join the parts of a table, one below the other, in the order given."""

from reproduction.pipeline.script import OUTPUT, option, script
from reproduction.tables.files import joined_rows, write_rows


@script(
    option("--inputs", "the table's parts", many=True),
    option("--table", "its name, such as bias"),
    OUTPUT,
)
def main(options):
    write_rows(options.output, options.table, joined_rows(options.inputs, options.table))
