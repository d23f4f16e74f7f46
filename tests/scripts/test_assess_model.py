"""``assess_model.py`` on a small surrogate."""

import pandas as pd
import pytest

import assess_model
from calbias.io.table_schema import columns_of


@pytest.fixture(scope="module")
def top_labels(surrogate, tmp_path_factory):
    return surrogate(tmp_path_factory.mktemp("logits"), 100, 200, 3).with_suffix(".parquet")


def run(top_labels, folder, *options):
    """Write and return the path of the assessment; later options replace the usual ones."""
    usual = f"--estimators ece_bin_ew ece_sweep_em --replicates 2 --seed 1 --output {folder}/a.csv"
    assess_model.main(["--top-labels", str(top_labels), *usual.split(), *options])
    return folder / "a.csv"


def test_a_row_per_estimator_the_best_first(top_labels, tmp_path):
    table = pd.read_csv(run(top_labels, tmp_path))
    assert tuple(table.columns) == columns_of("assessment")
    assert set(table["estimator"]) == {"ece_bin_ew", "ece_sweep_em"}
    assert table["trust_rank"].tolist() == [1, 2]
    assert table["rmse_percent"].is_monotonic_increasing
    assert set(table["n_samples"]) == {200}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--replicates", "0"), "--replicates must be at least 2 and --seed at least 0"),
        (("--replicates", "1"), "--replicates must be at least 2 and --seed at least 0"),
        (("--seed", "-1"), "--replicates must be at least 2 and --seed at least 0"),
        (("--norm", "nan"), "--norm must be a finite number above 0, not nan"),
        (("--estimator-dir", "/nowhere"), "there is no folder /nowhere of estimators; mend its"),
        (("--estimators", "kdee"), "unknown estimator 'kdee'. Did you mean kde?"),
    ],
)
def test_bad_options_are_refused_in_a_line(top_labels, tmp_path, capsys, options, message):
    with pytest.raises(SystemExit) as stopped:
        run(top_labels, tmp_path, *options)
    assert stopped.value.code == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert message in line
    assert not (tmp_path / "a.csv").exists()
