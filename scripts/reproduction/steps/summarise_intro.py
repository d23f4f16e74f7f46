from pathlib import Path

from pipeline.scenarios.tables import read_scenarios
from pipeline.steps import Seed
from pipeline.tables.files import write_table
from reproduction.replicates.gather import drawn_with, gather_shards
from reproduction.summaries.intro import estimate_histogram, reliability_diagram


def summarise_intro(
    *,
    scenarios: Path,
    replicates: list[Path],
    n_replicates: int,
    n_samples: int,
    n_bins: int,
    seed: Seed,
    output_histogram: Path,
    output_diagram: Path,
) -> None:
    """Summarise what Figure 1 shows: a reliability diagram and the distribution of ECE_bin.

    scenarios: scenario table
    replicates: replicate files
    n_replicates: how many a cell has
    n_samples: sample size of the diagram
    n_bins: its number of bins
    seed: seed of all random streams
    output_histogram: estimate_histogram to write
    output_diagram: reliability_diagram to write
    """
    scenario, row = read_scenarios(scenarios)[0]
    expected = drawn_with(scenarios, seed, n_replicates)
    estimates = gather_shards(replicates, **expected)
    histogram = estimate_histogram(row["experiment"], estimates)
    write_table(output_histogram, "estimate_histogram", histogram)
    diagram = reliability_diagram(row["experiment"], scenario, n_samples, n_bins, seed)
    write_table(output_diagram, "reliability_diagram", diagram)
