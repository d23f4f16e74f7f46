import csv
from pathlib import Path

import numpy as np
import pytest

import fit_beta
from calbias.fits import beta
from calbias.io.table_schema import tables
from calbias.logits.top_label import TopLabel
from calbias.logits.top_label_table import Origin, write_top_labels

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "resources/published/roelofs2022_table2_beta_fits.csv"
COLUMNS = tables()["beta_fits"]["columns"]


def folds(n=300, seed=0):
    made = {}
    for fold in ("validation", "test"):
        rng = np.random.default_rng((seed, len(made)))
        score = rng.beta(3, 0.6, n) * 0.99
        hit = (rng.random(n) < score).astype(np.uint8)
        made[fold] = TopLabel(score, np.log(score), np.log1p(-score), hit)
    return made


@pytest.fixture
def top_labels(tmp_path):
    path = tmp_path / "resnet110_c10.parquet"
    write_top_labels(path, folds(), Origin("resnet110_c10", "surrogate_logits", "exact"))
    return path


def run(*argv):
    fit_beta.main([str(argument) for argument in argv])


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_one_row_with_the_columns_of_the_contract(top_labels, tmp_path):
    output = tmp_path / "new" / "fit.csv"
    run("--top-labels", top_labels, "--published", PUBLISHED, "--output", output)
    (row,) = rows(output)
    assert list(row) == COLUMNS
    fit = beta.fit_beta(*folds()["test"][1:3])
    assert float(row["alpha"]) == pytest.approx(fit.alpha, rel=1e-9)
    assert float(row["beta"]) == pytest.approx(fit.beta, rel=1e-9)
    assert float(row["nll"]) == pytest.approx(fit.nll, rel=1e-9)
    assert row["n_samples"] == "300"
    assert (row["model"], row["source"], row["softmax"]) == (
        "resnet110_c10",
        "surrogate_logits",
        "exact",
    )
    assert (row["published_alpha"], row["published_beta"]) == ("2.7752", "0.0478")


def test_the_other_fold_and_a_model_that_the_paper_does_not_have(top_labels, tmp_path):
    write_top_labels(top_labels, folds(), Origin("mine", "real_logits", "exact"))
    for extra in (["--published", PUBLISHED], []):
        run("--top-labels", top_labels, "--fold", "validation", *extra,
            "--output", tmp_path / "fit.csv")  # fmt: skip
        (row,) = rows(tmp_path / "fit.csv")
        assert row["published_alpha"] == row["published_beta"] == ""
        fit = beta.fit_beta(*folds()["validation"][1:3])
        assert float(row["alpha"]) == pytest.approx(fit.alpha, rel=1e-9)


def test_mistakes_are_one_line_that_names_the_file(top_labels, tmp_path, refused):
    output, published = tmp_path / "fit.csv", tmp_path / "published.csv"
    arguments = "--top-labels", top_labels, "--output", output
    for text, message in (
        (None, f"{published}"),
        ("model,alpha\nresnet110_c10,1\n", f"{published}: no column beta"),
        ("model,alpha,beta\nx,1,two\n", f"{published}, line 2, beta: 'two' is not a number"),
    ):
        if text:
            published.write_text(text)
        with refused(message):
            run(*arguments, "--published", published)
    equal = {fold: TopLabel(*(column[[0, 0]] for column in top)) for fold, top in folds().items()}
    write_top_labels(top_labels, equal, Origin("mine", "real_logits", "exact"))
    with refused(f"{top_labels}, fold test: all scores are equal"):
        run(*arguments)
    assert not output.exists()
