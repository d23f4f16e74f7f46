# Joining: the tables whose parts are made by one job per model or experiment.


# table → its parts
JOINED = {
    "beta_fits": [f"results/fits/beta_fits/{model}.parquet" for model in MODELS],
    "glm_fits": [f"results/fits/glm_fits/{model}.parquet" for model in MODELS],
    "scenarios": [
        f"results/scenarios/{experiment}.parquet" for experiment in EXPERIMENTS
    ],
    "bias": [f"results/bias/{experiment}.parquet" for experiment in EXPERIMENTS],
    "recalibration": [
        f"results/recalibration/{model}.parquet" for model in WITH_LOGITS
    ],
    "recalibration_details": [
        f"results/recalibration/details/{model}.parquet" for model in WITH_LOGITS
    ],
    "audit_estimates": [f"results/audit/estimates/{model}.parquet" for model in MODELS],
    "audit_verdicts": [f"results/audit/verdicts/{model}.parquet" for model in MODELS],
    "audit_diagrams": [f"results/audit/diagrams/{model}.parquet" for model in MODELS],
    "reliability_bins": [
        f"results/measures/bins/{model}.parquet" for model in MEASURED
    ],
    "calibration_graphs": [
        f"results/measures/graphs/{model}.parquet" for model in MEASURED
    ],
    "interval_coverage": [
        f"results/coverage/{law}.parquet" for law in ("uniform", "saturated")
    ],
}


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
        table="|".join(JOINED),
    localrule: True
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        columns=lambda wildcards: columns_of(wildcards.table),
    shell:
        "python {input.script:q} --inputs {input.parts:q} --table {wildcards.table}"
        " --output {output} 2>&1 | tee {log}"
