"""``assess_model.py`` and ``draw_assessment.py`` on a small surrogate and on real scores."""

from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

import assess_model
import draw_assessment
from calbias.estimation.inputs import as_top_label
from calbias.io.table_schema import columns_of
from calbias.logits.top_label_table import Origin, write_top_labels

ROOT = Path(__file__).parents[2]
SCORES = ROOT.parent / "shared/scores"


@pytest.fixture(scope="module")
def top_labels(surrogate, tmp_path_factory):
    return surrogate(tmp_path_factory.mktemp("logits"), 100, 200, 3).with_suffix(".parquet")


def run(top_labels, folder, *options):
    """Write the three files and return their paths; later options replace the usual ones."""
    paths = SimpleNamespace(
        estimators=folder / "a.csv", verdict=folder / "v.csv", diagram=folder / "d.csv"
    )
    usual = f"--estimators ece_bin_ew ece_sweep_em --replicates 2 --seed 1 --output {folder}/a.csv"
    usual += f" --output-verdict {paths.verdict} --output-diagram {paths.diagram}"
    assess_model.main(["--top-labels", str(top_labels), *usual.split(), *options])
    return paths


def test_a_row_per_estimator_the_best_first_and_a_verdict(top_labels, tmp_path, capsys):
    paths = run(top_labels, tmp_path, "--replicates", "30")
    tables = {name: pd.read_csv(path) for name, path in vars(paths).items()}
    for name, contract in (
        ("estimators", "assessment"),
        ("verdict", "assessment_verdicts"),
        ("diagram", "assessment_diagrams"),
    ):
        assert tuple(tables[name].columns) == columns_of(contract)
    table = tables["estimators"]
    assert set(table["estimator"]) == {"ece_bin_ew", "ece_sweep_em"}
    assert table["trust_rank"].is_monotonic_increasing
    assert set(table["n_samples"]) == {200}
    assert set(table["norm"]) == {1.0}
    [verdict] = tables["verdict"].to_dict("records")
    assert (
        f"model resnet110_c10, fold test: {verdict['model_verdict']}\n" in capsys.readouterr().out
    )
    assert tables["diagram"]["n_in_bin"].sum() == 200


def test_norm_and_bins_are_options(top_labels, tmp_path):
    paths = run(top_labels, tmp_path, "--norm", "2", "--n-bins", "7")
    table = pd.read_csv(paths.estimators).set_index("estimator")
    assert table.loc["ece_bin_ew", ["norm", "n_bins"]].tolist() == [2, 7]
    assert len(pd.read_csv(paths.diagram)) <= 7


def test_the_picture_is_drawn(top_labels, tmp_path):
    paths = run(top_labels, tmp_path)
    outputs = tmp_path / "m.png", tmp_path / "m.pdf"
    options = f"--diagram {paths.diagram} --verdict {paths.verdict}"
    options += f" --output-png {outputs[0]} --output-pdf {outputs[1]}"
    draw_assessment.main(options.split())
    assert outputs[0].read_bytes().startswith(b"\x89PNG")
    assert outputs[1].read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("model", "direction", "miscalibrated", "error_percent"),
    [
        ("snacks", "neither", False, 0.8),
        ("densenet40_c10", "overconfident", True, 5.5),
        ("timm_resnet34", "underconfident", True, 9.4),
    ],
)
def test_real_scores(tmp_path, model, direction, miscalibrated, error_percent):
    if not SCORES.exists():
        pytest.skip(f"needs the genuine scores in {SCORES}")
    frame = pd.read_parquet(SCORES / f"{model}.parquet")[:10_000]
    top = as_top_label(frame["score"], frame["label"] == frame["prediction"])
    file = tmp_path / f"{model}.parquet"
    write_top_labels(file, {"validation": top, "test": top}, Origin(model, "real_logits", "exact"))
    paths = run(file, tmp_path, "--replicates", "99", "--estimators", "ece_sweep_em", "kde")
    [verdict] = pd.read_csv(paths.verdict).to_dict("records")
    assert verdict["direction"] == direction
    assert verdict["miscalibrated"] == miscalibrated
    assert verdict["debiased_percent"] == pytest.approx(error_percent, abs=0.6)
    assert verdict["accuracy_percent"] == pytest.approx(100 * top.hit.mean(), abs=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--replicates", "0"), "--replicates must be at least 2"),
        (("--replicates", "1"), "--replicates must be at least 2"),
        (("--seed", "-1"), "--seed must be at least 0"),
        (("--norm", "nan"), "norm must be a finite number above 0 and at most 100, not nan"),
        (("--n-bins", "0"), "n_bins must be a whole number of at least 1"),
        (("--estimator-dir", "/nowhere"), "there is no folder /nowhere of estimators; correct its"),
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
