"""Claims judged and written as pages, numbers in documents, the record of provenance."""

import hashlib
import json
import sys
from importlib.metadata import version
from pathlib import Path

import pandas as pd
import pytest
from checkout import PUBLISHED, ROOT
from command import FITS, made, read, run

import reproduce
from calbias import Curve, Scenario, __version__, true_calibration_error
from pipeline.provenance import config_digest

MODELS = ROOT / "config/models.csv"
OF_PAPER = {"models": MODELS} | {path.stem: path for path in PUBLISHED.glob("roelofs2022_*.csv")}


def table(path, columns, *rows):
    pd.DataFrame(rows, columns=columns.split()).to_csv(path, index=False)
    return path


def test_ledger_comparison_and_page_from_few_tables(tmp_path):
    fits = table(
        tmp_path / "beta_fits.csv",
        "model source softmax n_samples alpha beta nll published_alpha published_beta",
        ("resnet110_c10", "real_logits", "exact", 10000, 4.9, 0.09, -1.0, 2.7752, 0.0478),
    )
    given = {"tables": {"beta_fits": fits, **OF_PAPER}}
    names = ("claims", "measurements", "comparison")
    paths = {name: tmp_path / f"{name}.csv" for name in names}
    page = tmp_path / "ledger.html"
    run("judge_claims", **given, **{f"output_{name}": path for name, path in paths.items()})
    run("write_pages", tables=paths, output_index=tmp_path / "index.html", output_ledger=page)
    rows = read(paths["claims"]).set_index("id")
    assert rows.loc["R06", "verdict"] == "not_reproduced"
    assert rows.loc["R01", "verdict"] == "not_judged"
    assert len(read(paths["comparison"])) == 2
    assert "softmax exact" in page.read_text("utf-8")


def test_tce_rounding(tmp_path):
    beta_fits = pd.read_csv(FITS["beta_fits"])
    one_model = tmp_path / "beta_fits.csv"
    beta_fits[beta_fits["model"] == "densenet161_imgnet"].to_csv(one_model, index=False)
    given = {"beta_fits": one_model, "glm_fits": FITS["glm_fits"], "norm": 1}
    table = made("tce_rounding", "compute_tce_rounding", tmp_path, **given)
    assert table["scenario"].tolist()[:2] == ["densenet161_imgnet"] * 2
    assert (table["low_percent"] < table["tce_percent"]).all()
    assert (table["tce_percent"] < table["high_percent"]).all()
    scenario = Scenario("x", 2.8, 0.05, Curve("power", 0.0, 2.0))
    at_norm_1 = 100 * true_calibration_error(scenario, norm=1.0)
    assert table["tce_percent"].iloc[-2] == pytest.approx(at_norm_1, rel=1e-6)


THREE = {"output_claims": "x", "output_measurements": "y", "output_comparison": "z"}
TWO = {"output_index": "x", "output_ledger": "y"}


@pytest.mark.parametrize(
    ("script", "options", "message"),
    [
        ("judge_claims", {"tables": "bias", **THREE}, "write it as NAME=PATH"),
        ("judge_claims", {"tables": {"bias": "no.csv"}, **THREE}, "no such table"),
        ("compare_estimators",
         {"bias": MODELS, "models_table": ROOT / "resources/logits_mirrors.csv",
          **FITS, "seed": 1, "output_tests": "x",
          "output_sensitivity": "y"}, "no column model"),
        ("write_pages", {"tables": {"claims": MODELS}, **TWO},
         "--table claims: no column id"),
        ("write_pages", {"figures": "fig1_intro", **TWO}, "write it as NAME=PATH"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(refused, script, options, message):
    with refused(message):
        run(script, **options)


README = "# A\n<!-- numbers: begin (by hand) -->\nbefore\n<!-- numbers: end -->\nrest\n"


def tables(folder):
    (folder / "claims.csv").write_text("id,verdict\nR01,reproduced\nR02,approximate\n")
    (folder / "measurements.csv").write_text("id,name,case,value\nR01,another,,6.7\n")
    (folder / "benchmark.csv").write_text(
        "work,implementation,baseline,n_scores,seconds,baseline_seconds,ratio_median,ratio_low,"
        "ratio_high\nfig4_grid_six_binned,calbias,numpy_beta_draw,1000000,0.005,0.035,7.0,6.5,7.5\n"
    )
    return folder


def test_numbers_between_the_markers_come_from_the_tables(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(README)
    run("write_numbers", tables=tables(tmp_path), documents=readme, machine="a PC")
    text = readme.read_text()
    # 5 ns × 254e6 scores × 100
    for words in ("1 holds, 1 holds approximately", "7.0 times the speed", "5.0 ns per score",
                  "cost 2 core-minutes", "a PC"):  # fmt: skip
        assert words in text
    assert (text[:4], text[-5:], "before" in text) == ("# A\n", "rest\n", False)


def test_a_marker_that_names_topics_gets_these_alone(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(README.replace("begin (", "begin claims floor ("))
    run("write_numbers", tables=tables(tmp_path), documents=readme)
    assert "2 claims**: 1 holds" in readme.read_text()
    assert "speed" not in readme.read_text()


def test_every_marked_part_of_a_document_is_written(tmp_path):
    readme = tmp_path / "README.md"
    two = README.replace("begin (", "begin claims ("), README.replace("begin (", "begin speed (")
    readme.write_text("".join(two))
    run("write_numbers", tables=tables(tmp_path), documents=readme)
    claims, speed = readme.read_text().split("rest\n")[:2]
    assert ("1 holds" in claims, "Speed" in claims) == (True, False)
    assert ("1 holds" in speed, "Speed" in speed) == (False, True)


def test_missing_markers_are_refused_and_nothing_is_changed(tmp_path, refused):
    readme = tmp_path / "README.md"
    readme.write_text("nothing\n")
    with refused("put the lines"):
        run("write_numbers", tables=tmp_path, documents=readme)
    assert readme.read_text() == "nothing\n"


def test_summary_counts_what_was_asked_for_and_names_what_is_left_over(tmp_path):
    asked = ("figures/fig4_realistic.png", "figures/fig4_realistic.pdf", "tables/bias.csv")
    left = ("figures/fig5_detection.png", "tables/detection.csv", "tables/audit_verdicts.csv")
    for name in (*asked, *left, "figures/of_a_guest.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    claims = tmp_path / "tables/claims.csv"
    claims.write_text("id,verdict\nR01,reproduced\nR02,reproduced\nR03,approximate\n")
    record = {"files": {str(path): "" for path in (claims, *(tmp_path / name for name in asked))}}
    (tmp_path / "provenance.json").write_text(json.dumps(record))
    text = reproduce.summary(tmp_path, 90)
    assert "1.5 minutes: 1 figures, 2 tables" in text
    assert "other configurations: 1 figure (fig5_detection); 1 table (detection)." in text
    assert "2 hold, 1 holds approximately" in text
    assert str(tmp_path / "index.html") in text


@pytest.mark.parametrize(
    ("ends", "expected"), [("sys.exit(3)", 3), ("os.kill(os.getpid(), 9)", 137)]
)
def test_the_status_is_a_shells(ends, expected):
    assert reproduce.run([sys.executable, "-c", f"import os, sys; {ends}"]) == expected


CONFIG = {"seed": 7, "softmax": "exact", "shards": 3, "experiments": {"fits": {"n_samples": [5]}}}


@pytest.fixture
def written(tmp_path):
    table, figure = tmp_path / "beta_fits.csv", tmp_path / "fig.png"
    table.write_text("model,source\na,real_logits\nb,real_scores\nc,real_logits\n")
    figure.write_bytes(b"\x89PNG")
    record = tmp_path / "record/provenance.json"
    run("record_provenance", files=[table, figure], inputs=__file__, config=json.dumps(CONFIG),
        output=record)  # fmt: skip
    return record, table, figure


def test_it_says_what_everything_was_made_with(written):
    def sha256(path):
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()

    record = json.loads(written[0].read_text())
    assert record["machine"].pop("cores") >= 1
    expected = {
        "configuration": {"sha256": config_digest(CONFIG), "seed": 7},
        "config": CONFIG,
        "sources": {"beta_fits": ["real_logits", "real_scores"]},
        "inputs": {__file__: sha256(__file__)},
        "files": {str(path): sha256(path) for path in written[1:]},
    }
    assert {name: record[name] for name in expected} == expected
    versions = record["project"]["version"], record["packages"]["numpy"]
    assert versions == (__version__, version("numpy"))


def test_what_each_rule_used_is_read_from_the_jobs_logs(written, tmp_path, capsys):
    record, table, _ = written
    run("check_provenance", record=record)
    used = capsys.readouterr().out.splitlines()[-1]
    logs = {"fit_model/a": f"text\n{used}\n", "fit_model/b/c": "used 9000.25 s of CPU and 70 MB",
            "judge_claims": "error: no memory"}  # fmt: skip
    for name, text in logs.items():
        (tmp_path / "logs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"logs/{name}.log").write_text(text)
    run("record_provenance", files=table, logs=tmp_path / "logs", config=json.dumps(CONFIG),
        output=record)  # fmt: skip
    [(rule, cost)] = json.loads(record.read_text())["cost"].items()
    assert (rule, cost["jobs"]) == ("fit_model", 2)
    assert cost["cpu_seconds"] > 9000.25
    assert cost["peak_mb"] > 70  # of this process, of which the script has printed its own


def test_files_that_differ_from_the_record_are_named(written, capsys, refused):
    record, table, _ = written
    run("check_provenance", record=record)
    assert "2 files are as recorded" in capsys.readouterr().out
    table.write_text(table.read_text().replace("real", "ideal"))
    with refused(f"error: {table}: differs from {record}"):
        run("check_provenance", record=record)


@pytest.mark.parametrize(
    ("key", "counts"), [("shards", False), ("seed", True), ("download", True), ("softmax", True)]
)
def test_the_digest_follows_the_keys_that_count(key, counts):
    assert (config_digest({**CONFIG, key: 99}) != config_digest(CONFIG)) == counts


@pytest.mark.parametrize("text", [None, "", "[]", "{}"])
def test_a_record_that_is_none_and_a_missing_file_are_named(tmp_path, refused, text):
    record = tmp_path / "provenance.json"
    if text is not None:
        record.write_text(text)
    with refused(f"error: {record}: not a record of provenance"):
        run("check_provenance", record=record)
    with refused("no.csv: cannot be read"):
        run("record_provenance", files=tmp_path / "no.csv", config="{}", output=tmp_path / "x.json")
