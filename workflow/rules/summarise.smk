# Summaries: from replicates to result tables.


rule summarise_bias:
    input:
        code=code("summarise_bias"),
        scenarios="results/scenarios/{experiment}.parquet",
        true_errors="results/tables/true_calibration_error.csv",
        replicates=lambda wildcards: shards(wildcards.experiment),
    output:
        "results/bias/{experiment}.parquet",
    log:
        "results/logs/summarise_bias/{experiment}.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: attempt
        * memory.to_summarise(memory.estimates(EXPERIMENTS[wildcards.experiment])),
    params:
        columns=columns_of("bias"),
        n_replicates=of_experiment("replicates"),
        seed=config["seed"],
    shell:
        "python {input.code[0]:q} --scenarios {input.scenarios:q}"
        " --true-errors {input.true_errors:q} --replicates {input.replicates:q}"
        " --experiment {wildcards.experiment} --n-replicates {params.n_replicates}"
        " --seed {params.seed} --output {output} 2>&1 | tee {log}"


rule compare_ece_bin:
    input:
        code=code("compare_ece_bin", *estimator_paths("ece_bin_ew")),
        scenarios="results/scenarios/fits.parquet",
        bias="results/bias/fits.parquet",
        top_labels=[top_labels(model) for model in EXPERIMENTS.get("fits", {}).get("models", [])],
        published=published("table4_ece_bin"),
    output:
        tabled("ece_bin_real_and_simulated"),
    log:
        "results/logs/compare_ece_bin.log",
    localrule: True
    conda:
        "../../envs/environment.yaml"
    params:
        columns=columns_of("ece_bin_real_and_simulated"),
        norm=config["norm"],
    shell:
        "python {input.code[0]:q} --scenarios {input.scenarios:q} --bias {input.bias:q}"
        " --top-labels {input.top_labels:q} --published {input.published:q} --norm {params.norm}"
        " --output {output} 2>&1 | tee {log}"


rule summarise_intro:
    input:
        code=code("summarise_intro"),
        scenarios="results/scenarios/intro.parquet",
        replicates=lambda wildcards: shards("intro"),
    output:
        histogram=tabled("estimate_histogram"),
        diagram=tabled("reliability_diagram"),
    log:
        "results/logs/summarise_intro.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: attempt
        * memory.to_summarise(memory.estimates_of_all(EXPERIMENTS["intro"])),
    params:
        columns=[columns_of(name) for name in ("estimate_histogram", "reliability_diagram")],
        n_replicates=lambda wildcards: EXPERIMENTS["intro"]["replicates"],
        n_samples=lambda wildcards: EXPERIMENTS["intro"]["n_samples"][0],
        n_bins=lambda wildcards: EXPERIMENTS["intro"]["n_bins"][0],
        seed=config["seed"],
    shell:
        "python {input.code[0]:q} --scenarios {input.scenarios:q} --replicates {input.replicates:q}"
        " --n-replicates {params.n_replicates} --n-samples {params.n_samples}"
        " --n-bins {params.n_bins} --seed {params.seed}"
        " --histogram {output.histogram} --diagram {output.diagram} 2>&1 | tee {log}"


rule summarise_detection:
    input:
        code=code("summarise_detection"),
        scenarios="results/scenarios/detection.parquet",
        true_errors="results/tables/true_calibration_error.csv",
        replicates=lambda wildcards: shards("detection"),
        null_scenarios="results/scenarios/detection_null.parquet",
        null_replicates=lambda wildcards: shards("detection_null"),
    output:
        detection=tabled("detection"),
        limits=tabled("detection_limits"),
    log:
        "results/logs/summarise_detection.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: attempt
        * memory.to_summarise(
            memory.estimates_of_all(EXPERIMENTS["detection"], EXPERIMENTS["detection_null"])
        ),
    params:
        columns=[columns_of(name) for name in ("detection", "detection_limits")],
        n_replicates=lambda wildcards: EXPERIMENTS["detection"]["replicates"],
        null_n_replicates=lambda wildcards: EXPERIMENTS["detection_null"]["replicates"],
        seed=config["seed"],
    shell:
        "python {input.code[0]:q} --scenarios {input.scenarios:q}"
        " --true-errors {input.true_errors:q} --replicates {input.replicates:q}"
        " --null-scenarios {input.null_scenarios:q} --null-replicates {input.null_replicates:q}"
        " --n-replicates {params.n_replicates} --null-n-replicates {params.null_n_replicates}"
        " --seed {params.seed} --output-detection {output.detection} --output-limits {output.limits}"
        " 2>&1 | tee {log}"


rule summarise_chosen_bins:
    input:
        code=code("summarise_chosen_bins"),
        bias="results/bias/chosen_bins.parquet",
    output:
        tabled("chosen_bins"),
    log:
        "results/logs/summarise_chosen_bins.log",
    localrule: True
    conda:
        "../../envs/environment.yaml"
    params:
        columns=columns_of("chosen_bins"),
    shell:
        "python {input.code[0]:q} --bias {input.bias:q} --output {output} 2>&1 | tee {log}"
