# Numbers that resources/evidence keeps: what scores stored as floats change, and times of fits.

REALISTIC = EXPERIMENTS.get("realistic", {})
ROUNDED = [
    *(
        f"ece_{family}_{binning}"
        for family in ("bin", "debias", "sweep", "label_binned")
        for binning in ("ew", "em")
    ),
    *("kde", "kde_unrooted"),
]


rule compare_precisions:
    input:
        beta_fits=published("table2_beta_fits"),
        glm_fits=published("table3_glm_fits"),
    output:
        tabled("score_precision"),
    log:
        "results/logs/compare_precisions.log",
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
    params:
        **given(
            "compare_precisions",
            loaded=estimator_paths(*ROUNDED),
            models=[x for x in REALISTIC.get("models", []) if x in papers.PAPERS_MODELS],
            n_samples=sorted({f(REALISTIC["n_samples"]) for f in (min, max) if REALISTIC}),
            replicates=REALISTIC.get("replicates", 2),
            estimators=ROUNDED,
            seed=config["seed"],
        ),
    shell:
        step("compare_precisions")


# Times differ from run to run: only asked for by name, and claim G07 reads the kept table.
rule measure_fit_times:
    output:
        "results/tables/fit_times.csv",
    log:
        "results/logs/measure_fit_times.log",
    params:
        **given("measure_fit_times"),
    shell:
        step("measure_fit_times")
