"""Which tables and figures a configuration can make."""

import yaml
from checkout import ROOT

from calbias.io.table_schema import tables
from calbias.pipeline.catalogue import TABLES, available_figures, available_tables

CONTRACTS = tables()
CONFIG = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
EXPERIMENTS = {
    name: {**value, "models": ["resnet110_c10", "resnet_wide32_c100", "resnet152_imgnet"]}
    if "models" in value
    else value
    for name, value in CONFIG["experiments"].items()
}  # fmt: skip


def test_every_table_has_a_contract_and_every_contract_a_table():
    assert set(TABLES) - set(CONTRACTS) == set()
    assert set(CONTRACTS) - set(TABLES) == {
        *("benchmark", "benchmark_memory", "fit_times", "league_times"),
        *("league_full", "league_full_ranking", "league_full_sensitivity"),
    }


def test_the_default_configuration_makes_all_tables_and_figures():
    assert available_tables(EXPERIMENTS) == list(TABLES)
    assert (
        len([name for name in available_figures(EXPERIMENTS) if name.startswith("fig")]) == 14 + 1
    )


def test_what_rests_on_a_missing_experiment_is_left_out():
    fewer = {name: value for name, value in EXPERIMENTS.items() if name != "detection_null"}
    assert set(TABLES) - set(available_tables(fewer)) >= {"detection", "detection_limits"}
    assert "fig5_detection" in available_figures(EXPERIMENTS)
    assert "fig5_detection" not in available_figures(fewer)


def test_a_figure_of_a_model_needs_that_model():
    fewer = {**EXPERIMENTS, "heatmaps": {**EXPERIMENTS["heatmaps"], "models": ["resnet110_c10"]}}
    assert "fig7_bias_resnet110_c10" in available_figures(fewer)
    assert "fig8_bias_resnet_wide32_c100" not in available_figures(fewer)


def test_no_experiment_at_all_still_has_fits():
    assert "beta_fits" in available_tables({})
    assert "recalibration" not in available_tables({}, logits=False)
    assert "table1_recalibration" not in available_figures(EXPERIMENTS, logits=False)
    assert "paired_t_test" not in available_tables({})
