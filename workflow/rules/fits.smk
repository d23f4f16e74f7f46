# Fits: the Beta distribution of the scores and the twelve calibration curves of each model with outputs.


rule fit_model:
    input:
        top_labels=lambda wildcards: top_labels(wildcards.model),
        logits=[],
        published_beta=published("table2_beta_fits"),
        published_glm=published("table3_glm_fits"),
    output:
        beta="results/fits/beta_fits/{model}.parquet",
        glm="results/fits/glm_fits/{model}.parquet",
    log:
        "results/logs/fit_model/{model}.log",
    wildcard_constraints:
        model=one_of(MEASURED),
    conda:
        "../../envs/environment.yaml"
    params:
        code=code("fit_model"),
    shell:
        step("fit_model", model="{wildcards.model}")


# Real logits under the softmax that the paper used, where the run uses another one.
use rule fit_model as fit_as_published with:
    input:
        top_labels=[],
        logits="results/logits/{model}.npz",
        published_beta=published("table2_beta_fits"),
        published_glm=published("table3_glm_fits"),
    output:
        beta="results/fits/beta_fits_float32_2020/{model}.parquet",
        glm="results/fits/glm_fits_float32_2020/{model}.parquet",
    log:
        "results/logs/fit_as_published/{model}.log",
    wildcard_constraints:
        model=one_of(AS_PUBLISHED),
