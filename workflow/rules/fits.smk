# Fits: the Beta distribution of the scores and the twelve calibration curves of each model with outputs.


rule fit_model:
    input:
        top_labels=lambda wildcards: top_labels(wildcards.model),
        logits=[],
        # of their rows, those in params.printed count
        published_beta=ancient(PRINTED_FITS[0]),
        published_glm=ancient(PRINTED_FITS[1]),
    output:
        beta="results/fits/beta_fits/{model}.parquet",
        glm="results/fits/glm_fits/{model}.parquet",
    log:
        "results/logs/fit_model/{model}.log",
    wildcard_constraints:
        model=one_of(MEASURED),
    params:
        **given("fit_model", printed=printed_fits),
    shell:
        step("fit_model", model="{wildcards.model}")


# Real logits under the softmax that the paper used, where the run uses another one.
use rule fit_model as fit_as_published with:
    input:
        top_labels=[],
        logits="results/logits/{model}.npz",
        # of their rows, those in params.printed count
        published_beta=ancient(PRINTED_FITS[0]),
        published_glm=ancient(PRINTED_FITS[1]),
    output:
        beta="results/fits/beta_fits_float32_2020/{model}.parquet",
        glm="results/fits/glm_fits_float32_2020/{model}.parquet",
    log:
        "results/logs/fit_as_published/{model}.log",
    wildcard_constraints:
        model=one_of(AS_PUBLISHED),
    params:
        **given("fit_model", rule="fit_as_published", printed=printed_fits),


# The scores of a model's own test fold, with a smooth curve, in place of both fits.
rule fit_own_scores:
    input:
        top_labels=lambda wildcards: top_labels(wildcards.model),
    output:
        population="results/fits/own_scores/{model}.parquet",
        fit="results/fits/own_score_fits/{model}.parquet",
    log:
        "results/logs/fit_own_scores/{model}.log",
    wildcard_constraints:
        model=one_of(MEASURED),
    params:
        **given(
            "fit_own_scores",
            norm=config["norm"],
            bootstrap=config["bootstrap"],
            seed=config["seed"],
        ),
    shell:
        step("fit_own_scores")
