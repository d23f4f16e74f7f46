# Assessment: is a model miscalibrated, by how much, and which estimate is to be trusted?

MODEL_FIGURES = [f"results/figures/models/{model}.png" for model in (*REAL, *SCORES)]


rule assess_model:
    input:
        code=lambda wildcards: code(
            "assess_model",
            *[estimator_path(name) for name in config["estimators"]],
        ),
        script=program("assess_model"),
        top_labels=lambda wildcards: top_labels(wildcards.model),
    output:
        estimators="results/assessment/{model}.parquet",
        verdict="results/assessment/verdicts/{model}.parquet",
        diagram="results/assessment/diagrams/{model}.parquet",
    log:
        "results/logs/assess_model/{model}.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 20 * attempt,
    params:
        columns=[
            columns_of(name)
            for name in ("assessment", "assessment_verdicts", "assessment_diagrams")
        ],
        estimators=config["estimators"],
        estimator_dir=config["estimator_dir"] or [],
        n_bins=config["assessment"]["n_bins"],
        norm=config["assessment"]["norm"],
        replicates=config["replicates"],
        seed=config["seed"],
    shell:
        "python {input.script:q} --top-labels {input.top_labels:q}"
        " --estimator-dir {params.estimator_dir:q} --estimators {params.estimators}"
        " --n-bins {params.n_bins} --norm {params.norm} --replicates {params.replicates}"
        " --seed {params.seed} --output {output.estimators} --output-verdict {output.verdict}"
        " --output-diagram {output.diagram} 2>&1 | tee {log}"


rule draw_assessment:
    input:
        code=code("draw_assessment"),
        script=program("draw_assessment"),
        diagram="results/assessment/diagrams/{model}.parquet",
        verdict="results/assessment/verdicts/{model}.parquet",
    output:
        png=report(
            "results/figures/models/{model}.png",
            caption="../report/assessed_model.rst",
            category="2. Figures",
            labels={"figure": "{model}", "format": "PNG"},
        ),
        pdf="results/figures/models/{model}.pdf",
    log:
        "results/logs/draw_assessment/{model}.log",
    localrule: True
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=700,
        runtime=5,
    shell:
        "python {input.script:q} --diagram {input.diagram} --verdict {input.verdict}"
        " --output-png {output.png} --output-pdf {output.pdf} 2>&1 | tee {log}"


# What is known about models with real outputs, one's own among them, and nothing else.
rule assess:
    input:
        [table(name) for name in TABLES if name.startswith("assessment")],
        MODEL_FIGURES,
    localrule: True
