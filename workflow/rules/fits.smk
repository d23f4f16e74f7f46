# Fits: the Beta distribution of the scores and the twelve calibration curves of each model.


rule fit_beta:
    input:
        code=code("fit_beta"),
        script=program("fit_beta"),
        top_labels=fitted_top_labels,
        published=published("table2_beta_fits"),
    output:
        "results/fits/beta_fits/{model}.csv",
    log:
        "results/logs/fit_beta/{model}.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 500 * attempt,
        runtime=lambda wildcards, attempt: 5 * attempt,
    shell:
        "python {input.script:q} --top-labels {input.top_labels:q} --published {input.published:q}"
        " --output {output} 2>&1 | tee {log}"


rule fit_glm:
    input:
        code=code("fit_glm"),
        script=program("fit_glm"),
        top_labels=fitted_top_labels,
        published=published("table3_glm_fits"),
    output:
        "results/fits/glm_fits/{model}.csv",
    log:
        "results/logs/fit_glm/{model}.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 700 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    shell:
        "python {input.script:q} --top-labels {input.top_labels:q} --published {input.published:q}"
        " --output {output} 2>&1 | tee {log}"


rule join_tables:
    input:
        code=code("join_tables"),
        script=program("join_tables"),
        parts=lambda wildcards: JOINED[wildcards.table],
    output:
        tabled("{table}"),
    log:
        "results/logs/join_tables/{table}.log",
    wildcard_constraints:
        table="beta_fits|glm_fits|scenarios|bias|recalibration|recalibration_details|assessment|assessment_verdicts|assessment_diagrams",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    shell:
        "python {input.script:q} --table {wildcards.table} --inputs {input.parts:q}"
        " --output {output} 2>&1 | tee {log}"


# The tables that are joined from parts, each made by a job of its own.
JOINED = {
    "beta_fits": [f"results/fits/beta_fits/{model}.csv" for model in MODELS],
    "glm_fits": [f"results/fits/glm_fits/{model}.csv" for model in MODELS],
    "scenarios": [f"results/scenarios/{experiment}.csv" for experiment in EXPERIMENTS],
    "bias": [f"results/bias/{experiment}.csv" for experiment in EXPERIMENTS],
    "recalibration": [f"results/recalibration/{model}.csv" for model in WITH_LOGITS],
    "recalibration_details": [
        f"results/recalibration/details/{model}.csv" for model in WITH_LOGITS
    ],
    "assessment": [f"results/assessment/{model}.parquet" for model in MODELS],
    "assessment_verdicts": [
        f"results/assessment/verdicts/{model}.parquet" for model in MODELS
    ],
    "assessment_diagrams": [
        f"results/assessment/diagrams/{model}.parquet" for model in MODELS
    ],
}
