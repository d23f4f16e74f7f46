"""The certified data sets: their values by a second program, calbias against them, refusals."""

import subprocess
import sys
from fractions import Fraction
from shutil import copytree

import certified_check
import numpy as np
import pytest
from checkout import ROOT
from mpmath import mp, mpf
from refusals import refuses

import calbias
from calbias import certified_data
from calbias.certified_data import FOLDER
from calbias.measures.registry import list_measures
from evidence.scenarios.wave import Wave

DATA = calbias.certified()
NAMES = [data.name for data in DATA]


def test_what_there_is():
    assert len(DATA) >= 20
    assert all(1 <= data.scores.size == data.hits.size <= 200 for data in DATA)
    estimators = {value.measure for data in DATA for value in data.values.values()}
    left = {e.name for e in calbias.list_estimators()} - estimators
    # fitted, smoothed by a published program's grid, or integrals: no finite definition
    assert {name.partition("_")[0] for name in left} <= {
        "beta", "e50", "e90", "kde", "plugin", "smece", "variational", "averaged",
    }  # fmt: skip
    with pytest.raises(AttributeError):
        DATA[0].name = "other"
    with pytest.raises(ValueError, match="read-only"):
        DATA[0].scores[0] = 0.5
    with pytest.raises(TypeError):
        DATA[0].values["ece_bin_ew"] = 0.0


@pytest.mark.parametrize("data", DATA, ids=NAMES)
def test_a_second_program_gives_the_same_digits(data):
    """All 17 digits; of the smooth error, by a linear program in float64, 12."""
    scores, hits, p, labels = certified_check.rows_of(data.file)
    with mp.workdps(60):
        for key, value in data.values.items():
            if value.measure in ("brier", "nll", "classwise_ece"):
                again = certified_check.of_classes(value.measure, value.options, p, labels)
            else:
                again = certified_check.check(value.measure, value.options, scores, hits)
            if isinstance(again, float):
                assert again == pytest.approx(value, abs=1e-12), key
                continue
            if not isinstance(again, mpf):
                again = certified_check.exact(Fraction(again))
            printed = mpf(value.digits)
            assert abs(again - printed) <= abs(printed) * mpf("5.1e-17") + mpf("1e-45"), key
            if value.exact is not None:
                power = certified_check.exact(value.exact)
                size = abs(again) ** value.root
                assert abs(size - abs(power)) <= mpf("1e-45"), key


@pytest.mark.parametrize("data", DATA, ids=NAMES)
def test_calbias_agrees(data):
    """To 1e-15; where a root follows a difference that nearly cancels, the square is to 1e-15."""
    for key, value in data.values.items():
        if not value.by_calbias:
            continue
        found = calbias.estimate(value.measure, data.scores, data.hits, **value.options)
        if (value.root == 2 and "debias" in value.measure) or value.measure == "mmce":
            squares = (x * abs(x) for x in (found.value, float(value)))
            assert next(squares) == pytest.approx(next(squares), rel=1e-13, abs=2e-16), key
        else:
            assert found.value == pytest.approx(value, rel=1e-13, abs=1e-15), key
        assert value.n_bins in (None, found.n_bins), key
    known = list_measures()
    for name, value in data.values.items():
        if name in known and not value.by_calbias and not value.options:
            given = data.scores, data.hits
            if known[name].reads == "probabilities":
                given = data.probabilities, data.labels
            assert known[name].of(*given) == pytest.approx(value, rel=1e-13, abs=1e-15), name


def test_conventions_differ_where_the_data_are_made_for_it():
    values = {data.name: data.values for data in DATA}
    assert (
        values["edges"]["ece_bin_ew n_bins=5"] != values["edges"]["ece_bin_ew n_bins=5 edge=upper"]
    )
    one = values["one_value"]
    assert (one["ece_debias_em"].n_bins, one["ece_bin_em"].exact) == (1, Fraction(1, 10))
    assert one["ece_debias_em ties=cut"] < 0.02 < 0.09 < one["ece_debias_em"]
    assert values["calibrated"]["ece_bin_ew"] == 0
    assert values["equal_means"]["ece_sweep_em"].n_bins == 4


@pytest.mark.parametrize("truth", calbias.certified_truths(), ids=lambda t: f"{t.name}-{t.norm}")
def test_truths_by_calbias_quadrature(truth):
    curve = Wave if truth.curve == "wave" else calbias.Curve
    curve = curve(truth.curve, truth.b0, int(truth.b1) if truth.curve == "wave" else truth.b1)
    scenario = calbias.Scenario(truth.name, truth.alpha, truth.beta, curve)
    value = calbias.true_calibration_error(scenario, norm=truth.norm)
    assert value == pytest.approx(truth.value, rel=8e-16, abs=1e-300)
    if truth.exact is not None:
        assert truth.value == pytest.approx(float(truth.exact) ** (1 / truth.norm), rel=4e-16)


def test_the_generator_gives_the_same_bytes(tmp_path):
    folder = tmp_path / "certified"
    command = [sys.executable, ROOT / "scripts/write_certified.py", "--output", folder]
    subprocess.run(command, check=True)
    names = {path.name for path in FOLDER.iterdir() if path.suffix in (".csv", ".json", "")}
    assert names == {path.name for path in folder.iterdir()}
    assert all((folder / name).read_bytes() == (FOLDER / name).read_bytes() for name in names)


def edited(change, tmp_path):
    folder = tmp_path / "certified"
    copytree(FOLDER, folder)
    change(folder)
    certified_data._data_sets(folder)


def _append(name):
    return lambda folder: (folder / name).write_text((folder / name).read_text() + "0.5,1\n")


test_edited_files = refuses(
    edited,
    (_append("edges.csv"), r"edges\.csv: was edited or damaged .*: reinstall calbias"),
    (_append("values.json"), r"values\.json: was edited or damaged"),
    (lambda folder: (folder / "edges.csv").unlink(), r"edges\.csv: cannot be read \(No such file"),
    (lambda folder: (folder / "SHA256SUMS").unlink(), r"SHA256SUMS: cannot be read"),
)


def test_hits_and_scores_are_those_of_the_top_label():
    for data in DATA:
        if data.probabilities is not None:
            top = calbias.top_label(data.probabilities, data.labels, "probabilities")
            np.testing.assert_array_equal(top.score, data.scores)
            np.testing.assert_array_equal(top.hit, data.hits)
