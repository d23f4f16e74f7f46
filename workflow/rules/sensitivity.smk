# Sensitivity: paired t-tests of estimators, with open choices of analysis, and what the
# rounding of the printed parameters and of the scores changes.


COMPARED = [name for name in ("realistic", "perfect") if name in EXPERIMENTS]
REALISTIC = EXPERIMENTS.get("realistic", {})
PRINTED_MODELS = [model for model in REALISTIC.get("models", []) if model in PAPERS_MODELS]
FAMILIES = ("bin", "debias", "sweep", "label_binned")
ROUNDED = [
    *(f"ece_{family}_{binning}" for family in FAMILIES for binning in ("ew", "em")),
    *("kde", "kde_unrooted"),
]
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
    conda:
        "../../envs/environment.yaml"
    params:
        code=code("compare_estimators", *estimator_paths(*TESTED)),
        precision=config["score_precision"],
        seed=config["seed"],
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
    conda:
        "../../envs/environment.yaml"
    params:
        code=code("compute_tce_rounding"),
        norm=config["norm"],
    shell:
        step("compute_tce_rounding")


rule compare_precisions:
    input:
        beta_fits=published("table2_beta_fits"),
        glm_fits=published("table3_glm_fits"),
    output:
        tabled("score_precision"),
    log:
        "results/logs/compare_precisions.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
    params:
        code=code("compare_precisions", *estimator_paths(*ROUNDED)),
        models=PRINTED_MODELS,
        n_samples=sorted({f(REALISTIC["n_samples"]) for f in (min, max) if REALISTIC}),
        replicates=REALISTIC.get("replicates", 2),
        estimators=ROUNDED,
        seed=config["seed"],
    shell:
        step("compare_precisions")
