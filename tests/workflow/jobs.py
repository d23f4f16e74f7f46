"""The jobs of the tiny configuration, in the groups that run together after a change."""

import yaml
from checkout import TINY

MODELS = ("resnet110_c10", "resnet110_c100")
TABLE_1 = ("resnet110_c10", "resnet50_brier_c10")  # with both folds
PAGES = {"write_ledger_page", "write_front_page"}
LEDGER = {"judge_claims", *PAGES}
BIAS = {*("join_tables bias", "compare_estimators")}
BIAS_FIGURES = {"fig4_realistic", "fig6_perfect"}
BEYOND_FIGURES = {
    "leaderboard",
    "league_errors",
    "predicted_bias",
    "test_power",
    "interval_coverage",
}
PAPERS_FIGURES = {"guo_fig1_confidence", "guo_fig4_recalibrated", "gupta_fig1_calibration"}
# Noise floors of the models, and what they say of another paper's table.
FLOORS = {
    *("join_tables noise_floors", "join_tables method_differences", "judge_printed_classwise"),
}
ALL_FIGURES = {
    "multiclass_league",
    *PAPERS_FIGURES,
    "fig3_fits",
    *BIAS_FIGURES,
    "table1_recalibration",
    *BEYOND_FIGURES,
    "subgroups",
}
LEAGUE = {
    *("run_league league lp", "join_tables league", "rank_league league", "league_errors"),
    "write_league_page league",
}
OTHER_TARGETS = {f"run_league league {target}" for target in ("max_deviation", "smooth_ce")}
POWER = {"measure_power", "test_power", "write_league_page league"}
PREDICTED = {"predict_bias resnet110_c10", "join_tables predicted_bias", "predicted_bias"}
# Another network, and a language model's answers.
REPLICATED = {
    "replicate_model replication resnet50_brier_c10",
    *("join_tables replication", "join_tables mukhoti2020_table1", "tabulate_measures"),
}
ANSWERED = {
    *("summarise_answers yi_34b", "join_tables language_models", "join_tables leaderboard"),
    *("join_tables predicted_bias", "predicted_bias", "leaderboard"),
    *("subsample_genuine", "write_league_page league"),
}
# One of the models has real logits, which are also fitted as the paper did.
AS_PUBLISHED = {
    "fit_as_published resnet110_c10",
    *(f"join_tables {name}_fits_float32_2020" for name in ("beta", "glm")),
}
# Both models have genuine scores: each has a picture.
PICTURES = {f"draw_audit {model}" for model in MODELS}
# An audit has the estimators of the configuration, and others of its own choice.
AUDIT_TABLES = {f"join_tables audit_{name}" for name in ("estimates", "verdicts", "diagrams")}
AUDITED = {*(f"audit_model {model}" for model in MODELS), *AUDIT_TABLES, *PICTURES}
COVERAGE = {
    *(
        f"measure_coverage {law}"
        for law in ("saturated", "uniform", "judging", "blind", "clusters")
    ),
    *("join_tables interval_coverage", "interval_coverage"),
}
RECALIBRATED = {
    *("join_tables recalibration", "select_recalibration", "table1_recalibration"),
}
# Both models have genuine scores: each is measured as two other papers do, and has a picture.
PAPERS = {
    *(f"measure_model {model}" for model in MODELS),
    *("tabulate_measures", "join_tables reliability_bins", "join_tables calibration_graphs"),
    *(*PAPERS_FIGURES, *FLOORS),
}
# Each model is measured with every estimator, recalibrated and as it is.
MEASURED = {*(f"recalibrate_model {model}" for model in TABLE_1), *AUDITED, *RECALIBRATED}


def simulated(*estimators, experiments=("realistic", "perfect")):
    """The jobs that draw replicates, and their summaries."""
    return {
        *(f"simulate_replicates {x} {name} 0 1" for x in experiments for name in estimators),
        *(f"summarise_bias {x}" for x in experiments),
    }


FITS = {*simulated("ece_bin_ew", experiments=["fits"]), "compare_ece_bin", "fig3_fits"}
AFTER_SUMMARIES = {*BIAS, *BIAS_FIGURES, *MEASURED, *LEDGER}
AFTER_KDE = {*simulated("kde"), *AFTER_SUMMARIES}
AFTER_BIN = {*simulated("ece_bin_ew", "ece_sweep_em"), *FITS, *BIAS, *BIAS_FIGURES, *MEASURED}
ALL_SIMULATED = simulated("ece_bin_ew", "ece_debias_em", "ece_sweep_em", "kde")
# What runs again after an edit of a file.
AFTER_EDIT = {
    "scripts/calbias/estimators/kde.py": {*AFTER_KDE, *PAPERS, *REPLICATED},
    # the sweep and the fits' comparison are built on ece_bin
    "scripts/calbias/estimators/ece_bin.py": {*AFTER_BIN, *LEAGUE, *PREDICTED, *LEDGER}
    | {*COVERAGE, *PAPERS, *REPLICATED, *ANSWERED},
    "scripts/calbias/engine/sampler.py": {*ALL_SIMULATED, *FITS, *BIAS, *BIAS_FIGURES, *LEDGER}
    | {*LEAGUE, *OTHER_TARGETS, *POWER},
    "scripts/pipeline/fits/beta.py": {*(f"fit_model {model}" for model in MODELS)}
    | {*(MEASURED - AUDITED), *LEDGER, "fig3_fits"}
    | {"join_tables beta_fits", "join_tables glm_fits", *AS_PUBLISHED},
    "scripts/reproduction/figures/bias_by_n.py": {*BIAS_FIGURES, *PAGES},
    "scripts/pipeline/figures/style.py": {*ALL_FIGURES, *PICTURES, *PAGES}
    | {"write_league_page league"},
    "scripts/reproduction/claims/section_1.py": LEDGER,
}


def changed(checkout, **keys):
    """Write the tiny configuration with other values; return the path."""
    config = yaml.safe_load((checkout / TINY).read_text())
    for key, value in keys.items():
        if isinstance(value, dict):
            config["experiments"] |= value
        else:
            config[key] = value
    (checkout / "changed.yaml").write_text(yaml.safe_dump(config))
    return "changed.yaml"
