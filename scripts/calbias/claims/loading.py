"""Reading the Evidence of the ledger from the command line's files."""

from pathlib import Path

from calbias.claims.evidence import Evidence
from calbias.errors import InputError
from calbias.io.tables import groups_of, read_table

PUBLISHED = (
    "roelofs2022_table1_recalibration_selection",
    "roelofs2022_table2_beta_fits",
    "roelofs2022_table3_glm_fits",
)


def add_evidence_options(parser):
    """Add the options --table, --models and --published-dir to an argument parser."""
    parser.add_argument(
        "--table",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="a result table, such as bias=results/tables/bias.csv; give it once per table",
    )
    parser.add_argument(
        "--models-table", required=True, help="models table (CSV): model, group (its data set)"
    )
    parser.add_argument("--published-dir", required=True, help="folder of the published tables")


def load_evidence(options):
    """Return the Evidence of parsed options; InputError for a file that cannot be read."""
    models = read_table(options.models_table)
    groups_of(models, options.models_table)
    folder = Path(options.published_dir)
    published = {stem: read_table(folder / f"{stem}.csv") for stem in PUBLISHED}
    return Evidence(named_tables(options.table), models, published)


def named_tables(assignments):
    """Return {name: DataFrame} of texts NAME=PATH; raises InputError for another form."""
    tables = {}
    for text in assignments:
        name, equals, path = text.partition("=")
        if not (name and equals and path):
            raise InputError(f"--table {text}: write it as NAME=PATH")
        tables[name] = read_table(path)
    return tables
