import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fit_glm
from calbias.fits.glm import fit_all
from calbias.fits.inputs import LOG_MISS_AT_ONE
from calbias.io.table_schema import tables
from calbias.logits.top_label import TopLabel
from calbias.logits.top_label_table import Origin, write_top_labels
from calbias.truth.curves import GLM_NAMES

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "resources/published/roelofs2022_table3_glm_fits.csv"
COLUMNS = tables()["glm_fits"]["columns"]


def made_up(n=400, at_one=100):
    """Return a TopLabel of which the first rows stand at the published stand-in for 1."""
    rng = np.random.default_rng(5)
    score = rng.beta(2, 0.6, n) * 0.99
    hit = (rng.random(n) < score**1.5).astype(np.uint8)
    score[:at_one] = 1 - 1e-16
    hit[:at_one] = 1
    return TopLabel(score, np.log(score), np.log1p(-score), hit)


def write(path, softmax, model="resnet110_c10", top=None):
    top = top or made_up()
    write_top_labels(path, {"validation": top, "test": top}, Origin(model, "real_logits", softmax))


@pytest.fixture
def top_labels(tmp_path):
    write(tmp_path / "top.parquet", "exact")
    return tmp_path / "top.parquet"


def table(top_labels, *options):
    output = top_labels.with_name("fits.csv")
    fit_glm.main(["--top-labels", str(top_labels), "--output", str(output), *map(str, options)])
    with open(output, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_twelve_rows_with_the_columns_of_the_contract(top_labels):
    rows = table(top_labels, "--published", PUBLISHED)
    assert list(rows[0]) == COLUMNS
    assert [row["glm"] for row in rows] == list(GLM_NAMES)
    top = made_up()
    for row, fit in zip(rows, fit_all(top.log_score, top.log1m_score, top.hit), strict=True):
        assert "_".join((row["link"], row["transform"], row["terms"])) == fit.glm
        for name in ("b0", "b1"):
            value = getattr(fit, name)
            assert row[name] == "" if np.isnan(value) else float(row[name]) == pytest.approx(value)
        assert float(row["nll"]) == pytest.approx(fit.nll, rel=1e-9)
        assert float(row["aic"]) == pytest.approx(fit.aic, rel=1e-9)
        assert float(row["delta_aic"]) >= 0
        assert (row["selected"] == "True") == (float(row["delta_aic"]) == 0)
    assert [row["selected"] for row in rows].count("True") == 1
    published = {row["glm"]: (row["published_aic"], row["published_b0"]) for row in rows}
    assert published["logflip_logflip_b0_b1"] == ("2779.22", "-0.24")
    assert published["log_log_b1"] == ("4281.78", "")


@pytest.mark.parametrize(
    ("softmax", "option", "drops"),
    [
        ("exact", [], False),
        ("float32_2020", [], True),
        ("exact", ["--scores-equal-to-one", "drop"], True),
        ("float32_2020", ["--scores-equal-to-one", "keep"], False),
    ],
)
def test_scores_equal_to_one_are_dropped_where_the_paper_did(top_labels, softmax, option, drops):
    write(top_labels, softmax)
    rows = table(top_labels, *option)
    top = made_up()
    np.testing.assert_allclose(top.log1m_score[:100], LOG_MISS_AT_ONE, rtol=1e-15)
    kept = slice(100 if drops else 0, None)
    rate = top.hit[kept].mean()
    (intercept,) = [row for row in rows if row["glm"] == "log_log_b0"]
    assert float(intercept["b0"]) == pytest.approx(np.log(rate), rel=1e-9)


def test_a_model_that_the_paper_does_not_have(top_labels):
    write(top_labels, "exact", model="mine")
    assert {row["published_aic"] for row in table(top_labels, "--published", PUBLISHED)} == {""}


def test_one_class_only_is_one_line_that_names_the_file(top_labels, refused):
    top = made_up()
    write(top_labels, "exact", top=top._replace(hit=np.ones_like(top.hit)))
    with refused(f"error: {top_labels}, fold test: all 400 rows are hits"):
        table(top_labels)
    assert not top_labels.with_name("fits.csv").exists()


def test_the_script_runs_alone_and_loads_only_the_part_of_statsmodels_that_it_needs(top_labels):
    program = (
        "import sys, fit_glm; fit_glm.main(sys.argv[1:]);"
        "sys.exit('statsmodels.api' in sys.modules or 'matplotlib' in sys.modules)"
    )
    subprocess.run(
        [sys.executable, "-c", program, "--top-labels", top_labels, "--output", "alone.csv"],
        cwd=top_labels.parent,
        env={"PYTHONPATH": str(ROOT / "scripts"), "PATH": ""},
        check=True,
    )
    assert (top_labels.parent / "alone.csv").read_text().count("\n") == 13
