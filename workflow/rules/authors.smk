# Data sets with the random numbers of the authors' code.


rule draw_as_authors:
    input:
        models_table=local(config["models"]),
        beta_fits=published("table2_beta_fits"),
        glm_fits=published("table3_glm_fits"),
    output:
        draws=tabled("authors_draws"),
        numbers=tabled("authors_numbers"),
    log:
        "results/logs/draw_as_authors.log",
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
    params:
        **given(
            "draw_as_authors",
            loaded=estimator_paths("ece_bin_em", *TESTED),
            # one file an estimator, of both kinds of bins
            models=PRINTED_MODELS,
            n_samples=REALISTIC.get("n_samples", []),
            replicates=REALISTIC.get("replicates", 2),
            seed=config["seed"],
        ),
    shell:
        step("draw_as_authors")
