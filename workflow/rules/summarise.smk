# Summaries: from replicates to result tables.


rule summarise_bias:
    input:
        scenarios="results/scenarios/{experiment}.parquet",
        true_errors="results/true_errors/{experiment}.parquet",
        replicates=lambda wildcards: shards(wildcards.experiment),
    output:
        "results/bias/{experiment}.parquet",
    log:
        "results/logs/summarise_bias/{experiment}.log",
    resources:
        mem_mb=lambda wildcards, attempt: attempt
        * sizes.to_summarise(EXPERIMENTS[wildcards.experiment]),
    params:
        **given(
            "summarise_bias",
            n_replicates=of_experiment("replicates"),
            seed=config["seed"],
        ),
    shell:
        step("summarise_bias", experiment="{wildcards.experiment}")


# Estimates of the same data sets: the error of a difference of two means needs it.
rule correlate_estimates:
    input:
        scenarios="results/scenarios/{experiment}.parquet",
        replicates=lambda wildcards: shards(wildcards.experiment),
    output:
        "results/correlations/{experiment}.parquet",
    log:
        "results/logs/correlate_estimates/{experiment}.log",
    resources:
        mem_mb=lambda wildcards, attempt: attempt
        * sizes.to_correlate(EXPERIMENTS[wildcards.experiment]),
    params:
        **given(
            "correlate_estimates",
            n_replicates=of_experiment("replicates"),
            seed=config["seed"],
        ),
    shell:
        step("correlate_estimates", experiment="{wildcards.experiment}")


rule compare_ece_bin:
    input:
        scenarios="results/scenarios/fits.parquet",
        bias="results/bias/fits.parquet",
        top_labels=[
            top_labels(model)
            for model in EXPERIMENTS.get("fits", {}).get("models", [])
            if model in MEASURED
        ],
        published=published("table4_ece_bin"),
    output:
        tabled("ece_bin_real_and_simulated"),
    log:
        "results/logs/compare_ece_bin.log",
    localrule: True
    params:
        **given(
            "compare_ece_bin",
            loaded=estimator_paths("ece_bin_ew"),
            norm=config["norm"],
        ),
    shell:
        step("compare_ece_bin")


rule summarise_intro:
    input:
        scenarios="results/scenarios/intro.parquet",
        replicates=lambda wildcards: shards("intro"),
    output:
        histogram=tabled("estimate_histogram"),
        rows=tabled("shown_data_set"),
    log:
        "results/logs/summarise_intro.log",
    resources:
        mem_mb=lambda wildcards, attempt: attempt * sizes.to_summarise(EXPERIMENTS["intro"]),
    params:
        **given(
            "summarise_intro",
            n_replicates=lambda wildcards: EXPERIMENTS["intro"]["replicates"],
            n_samples=lambda wildcards: EXPERIMENTS["intro"]["n_samples"][0],
            precision=config["score_precision"],
            seed=config["seed"],
        ),
    shell:
        step("summarise_intro")


rule summarise_detection:
    input:
        scenarios="results/scenarios/detection.parquet",
        true_errors="results/true_errors/detection.parquet",
        replicates=lambda wildcards: shards("detection"),
        null_scenarios="results/scenarios/detection_null.parquet",
        null_replicates=lambda wildcards: shards("detection_null"),
    output:
        detection=tabled("detection"),
        limits=tabled("detection_limits"),
        correlations=tabled("miss_correlations"),
    log:
        "results/logs/summarise_detection.log",
    resources:
        mem_mb=lambda wildcards, attempt: attempt
        * sizes.to_summarise(EXPERIMENTS["detection"], EXPERIMENTS["detection_null"]),
    params:
        **given(
            "summarise_detection",
            n_replicates=lambda wildcards: EXPERIMENTS["detection"]["replicates"],
            null_n_replicates=lambda wildcards: EXPERIMENTS["detection_null"]["replicates"],
            seed=config["seed"],
        ),
    shell:
        step("summarise_detection")


rule summarise_chosen_bins:
    input:
        bias="results/bias/chosen_bins.parquet",
    output:
        tabled("chosen_bins"),
    log:
        "results/logs/summarise_chosen_bins.log",
    localrule: True
    params:
        **given("summarise_chosen_bins"),
    shell:
        step("summarise_chosen_bins")
