# Sensitivity: paired t-tests of estimators, with open choices of analysis, and what the rounding of
# the printed parameters changes.


COMPARED = [name for name in ("realistic", "perfect") if name in EXPERIMENTS]
REALISTIC = EXPERIMENTS.get("realistic", {})
PRINTED_MODELS = [model for model in REALISTIC.get("models", []) if model in PAPERS_MODELS]
TESTED = ("ece_debias_em", "ece_sweep_em")  # by the t-test of §7.1


rule compare_estimators:
    input:
        bias=[f"results/bias/{name}.parquet" for name in COMPARED],
        models_table=local(config["models"]),
        beta_fits=published("table2_beta_fits"),
        glm_fits=published("table3_glm_fits"),
    output:
        tests=tabled("paired_t_test"),
        sensitivity=tabled("t_test_sensitivity"),
    log:
        "results/logs/compare_estimators.log",
    params:
        **given(
            "compare_estimators",
            loaded=estimator_paths(*TESTED),
            precision=config["score_precision"],
            seed=config["seed"],
        ),
    shell:
        step("compare_estimators")


rule compute_tce_rounding:
    input:
        beta_fits=published("table2_beta_fits"),
        glm_fits=published("table3_glm_fits"),
    output:
        tabled("tce_rounding"),
    log:
        "results/logs/compute_tce_rounding.log",
    params:
        **given(
            "compute_tce_rounding",
            norm=config["norm"],
        ),
    shell:
        step("compute_tce_rounding")
