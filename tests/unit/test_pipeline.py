"""What Snakemake asks before and after jobs: models, memory, what can be made, errors of jobs."""

import pytest
import yaml
from checkout import PUBLISHED, ROOT
from refusals import refuses_texts

from calbias.errors import InputError
from pipeline import job_memory as memory
from pipeline import models, settings
from pipeline.catalogue import TABLES, available_figures, available_tables
from pipeline.job_logs import errors_of
from pipeline.tables.schema import tables

test_models_tables_that_are_refused = refuses_texts(
    models.read_models,
    "models.csv",
    ("model,group,n_classes,file\n", "the table lists no model"),
    ("model,group,n_classes,file\na b,g,2,f\n", "line 2: model 'a b': use letters"),
    ("model,group,n_classes,file\na,g,2,f\na,g,2,f\n", "line 3: model a is there already"),
    ("model,group,n_classes,file\na,g,1,f\n", "line 2: n_classes of a must be a whole number"),
    ('model,group,n_classes,file\na,"g\nh",2,f\n,g,2,f\n', "line 4: model ''"),
    ("model,group,n_classes,file\na,g,²,f\n", "line 2: n_classes of a must be a whole number"),
    (f"model,group,n_classes,file\n{'a' * 101},g,2,f\n", "… has 101 characters: files are"),
    ("model,group,n_classes,file\na,g,2,f{x}.p\n", "line 2: file 'f{x}.p' of a has braces"),
    ("model,group,n_classes,file\na,,2,f\n", "line 2: a has no group: write model,group,"),
)


def test_a_model_without_a_file(tmp_path):
    (tmp_path / "models.csv").write_text("model,group,n_classes,file\na,g,2,\n")
    assert models.read_models(tmp_path / "models.csv")["a"]["file"] == ""


def test_models_of_an_experiment():
    table = {"resnet110_c10": {}, "my_model": {}}
    given = {"every": "all", "some": ["my_model", "resnet152_imgnet"], "none": ["resnet152_imgnet"]}
    experiments = {name: {"models": names} for name, names in given.items()}
    experiments["synthetic"] = {"scores": [[1, 1]]}
    resolved = models.with_models(experiments, table, PUBLISHED)
    assert list(resolved) == ["every", "some", "synthetic"]
    assert resolved["every"]["models"] == ["resnet110_c10", "my_model"]
    assert resolved["some"]["models"] == ["my_model"]
    with pytest.raises(InputError, match=r"x\.models: unknown model 'my_modle'. Did you mean my_m"):
        models.with_models({"x": {"models": ["my_modle"]}}, table, PUBLISHED)


CELLS = {"n_samples": [100, 200], "n_bins": [15], "replicates": 1000, "estimators": ["a", "b"]}


def test_estimates_of_an_experiment():
    of_models = {**CELLS, "models": ["x", "y", "z"]}
    assert memory.estimates(of_models) == 3 * 2 * 1000
    assert memory.estimates_of_all(of_models, of_models) == 2 * 3 * 2 * 2 * 1000
    curves = {"curves": ["identity"], "powers": [2], "glms": [["logit", 0, 1]]}
    scores = {**CELLS, **curves, "scores": [[1, 1], [2, 1]], "n_bins": [2, 4]}
    assert memory.estimates(scores) == 2 * 3 * 2 * 2 * 1000


CONTRACTS = tables()
CONFIG = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
EXPERIMENTS = {name: dict(value) for name, value in CONFIG["experiments"].items()}
for experiment in EXPERIMENTS.values():
    if "models" in experiment:
        experiment["models"] = ["resnet110_c10", "resnet_wide32_c100", "resnet152_imgnet"]


def test_every_table_has_a_contract_and_every_contract_a_table():
    assert set(TABLES) <= set(CONTRACTS)
    full = {f"league_full{rest}" for rest in ("", "_ranking", "_sensitivity")}
    full |= {"multiclass_league_full", "multiclass_full_reading", "replication_full"}
    full |= {"beta_fits_float32_2020", "glm_fits_float32_2020"}  # where there are real logits
    timed = {"benchmark", "benchmark_memory", "fit_times", "league_times"}
    timed |= {"monitor", "subgroup_cells"}  # they take long
    assert set(CONTRACTS) - set(TABLES) == full | timed


def test_the_default_configuration_makes_all_tables_and_figures():
    papers, evidence = available_tables(EXPERIMENTS)
    assert {*papers, *evidence} == {*TABLES}
    assert {"league", "interval_coverage", "test_power", "predicted_bias"} < {*evidence}
    assert {"bias", "claims", "recalibration_selection", "measures"} < {*papers}
    papers, evidence = available_figures(EXPERIMENTS)
    assert len([name for name in papers if name.startswith("fig")]) == 14 + 1
    assert {"league_errors", "test_power"} < {*evidence}


def test_what_rests_on_a_missing_experiment_model_or_logits_is_left_out():
    def made(available, *given, **options):
        return {name for house in available(*given, **options) for name in house}

    figures = made(available_figures, EXPERIMENTS)
    for missing, figure, of_it in (
        ("perfect", "fig6_perfect", set()),
        ("detection_null", "fig5_detection", {"detection", "detection_limits"}),
    ):
        fewer = {name: value for name, value in EXPERIMENTS.items() if name != missing}
        assert set(TABLES) - made(available_tables, fewer) >= of_it
        assert figures - made(available_figures, fewer) == {figure}
    fewer = {**EXPERIMENTS, "heatmaps": {**EXPERIMENTS["heatmaps"], "models": ["resnet110_c10"]}}
    lost = figures - made(available_figures, fewer)
    assert "fig8_bias_resnet_wide32_c100" in lost
    assert "fig7_bias_resnet110_c10" not in lost
    assert "table1_recalibration" not in made(available_figures, EXPERIMENTS, logits=False)
    assert "recalibration" not in made(available_tables, {}, logits=False)
    assert {"beta_fits", "paired_t_test"} & made(available_tables, {}) == {"beta_fits"}


def test_the_one_line_errors_of_the_jobs_that_failed(tmp_path):
    for name, text in {
        "a.log": "warning: x\nerror: a.csv: bad\n",
        "b.log": "error: a.csv: bad\nerror: b.csv: worse\n",
        "c.log": "error: of a job that did not fail\n",
    }.items():
        (tmp_path / name).write_text(text)
    said = "".join(
        f"Error in rule x:\n    log: {names} (check log file(s) for error details)\n"
        for names in (f"{tmp_path}/a.log", f"{tmp_path}/b.log, {tmp_path}/missing.log")
    )
    (tmp_path / "run.log").write_text(said + f"    log: {tmp_path}/c.log\n")
    assert errors_of([tmp_path / "run.log"]) == ["error: a.csv: bad", "error: b.csv: worse"]


def test_nested_keys_on_the_command_line_are_numbers():
    """As Snakemake hands them on: ``--config 'audit={norm: 1}'``."""
    given = {"seed": 1, "audit": {"norm": "1", "n": "1.5"}, "x": {"y": {"z": "3", "w": "all"}}}
    expected = {"seed": 1, "audit": {"norm": 1, "n": 1.5}, "x": {"y": {"z": 3, "w": "all"}}}
    assert settings._as_yaml(given) == expected
