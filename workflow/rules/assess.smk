# Assessment: is a model miscalibrated, by how much, and which estimate is to be trusted?


rule assess_model:
    input:
        code=lambda wildcards: code(
            "assess_model", *[estimator_path(name) for name in config["estimators"]]
        ),
        script=program("assess_model"),
        top_labels="results/top_labels/{model}.parquet",
    output:
        "results/assessment/{model}.csv",
    log:
        "results/logs/assess_model/{model}.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 20 * attempt,
    params:
        estimators=config["estimators"],
        estimator_dir=OWN_ESTIMATORS,
        replicates=config["replicates"],
        norm=config["norm"],
        seed=config["seed"],
    shell:
        "python {input.script:q} --top-labels {input.top_labels:q} --estimators {params.estimators}"
        " --estimator-dir {params.estimator_dir:q}"
        " --replicates {params.replicates} --norm {params.norm} --seed {params.seed}"
        " --output {output} 2>&1 | tee {log}"
