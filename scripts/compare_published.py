"""Put the published numbers next to the recomputed ones: the table ``comparison``."""

from calbias.claims.comparison import comparison
from calbias.claims.evidence import EVIDENCE, load_evidence
from calbias.io.command_line import OUTPUT, option, script
from calbias.io.tables import read_table, write_table
from calbias.truth.published_fits import printed_fits


@script(*EVIDENCE, option("--measurements", "table measurements"), OUTPUT)
def main(options):
    evidence = load_evidence(options)
    fits = printed_fits(
        evidence.published["roelofs2022_table2_beta_fits"],
        evidence.published["roelofs2022_table3_glm_fits"],
    )
    measurements = read_table(options.measurements)
    write_table(options.output, "comparison", comparison(evidence, measurements, fits))


if __name__ == "__main__":
    main()
