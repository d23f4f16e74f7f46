from pathlib import Path

from calbias.truth.true_error import true_calibration_error
from pipeline.scenarios import read_laws
from pipeline.tables import write_table


def compute_true_error(
    *,
    scenarios: list[Path],
    own_scores: list[Path],
    norm: float,
    output: Path,
) -> None:
    """Integrate the true calibration error of every scenario numerically (paper Eq. 1).

    scenarios: scenario tables
    own_scores: models' own scores, of the models that are simulated from them
    norm: p of the ℓp error
    output: table to write
    """
    laws = {s: law for path in scenarios for s, law in read_laws(path, own_scores)}
    rows = [
        (s.name, s.alpha, s.beta, *s.curve, norm, 100 * true_calibration_error(laws[s], norm=norm))
        for s in sorted(laws)
    ]
    write_table(output, "true_calibration_error", rows)
