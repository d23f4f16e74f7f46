# The authors' code: data sets with its random numbers; its own fits and biases, where they were
# downloaded by `snakemake authors_files` or put there by hand.

AUTHORS_FILES = {
    name: f"resources/authors/{file}"
    for name, file in (
        ("beta_fits", "beta_fit_data.p"),
        ("glm_fits", "glm_fit_data.p"),
        ("biases", "calibration_results.json"),
        ("ece_bin", "eece_sece_data.p"),
    )
}
# A file that is there is an input and never downloaded again.
ABSENT = [path for path in AUTHORS_FILES.values() if not os.path.exists(path)]
AUTHORS_TABLES = [] if ABSENT else ["authors_recorded"]
TABLES += AUTHORS_TABLES


rule authors_files:
    input:
        [local(path) for path in AUTHORS_FILES.values()],
    localrule: True


rule fetch_authors_file:
    input:
        mirrors_file=resource("logits_mirrors.csv"),
    output:
        protected(local("resources/authors/{file}")),
    log:
        "results/logs/fetch_authors_file/{file}.log",
    wildcard_constraints:
        file=one_of([Path(path).name for path in ABSENT]),
    localrule: True
    conda:
        "../../envs/environment.yaml"
    params:
        code=code("fetch_authors_file"),
        # a function: in a string Snakemake would fill in {file} itself
        mirrors=lambda wildcards: config["mirrors"],
    shell:
        step("fetch_authors_file", file="{wildcards.file}")


rule read_authors_files:
    input:
        **{name: local(path) for name, path in AUTHORS_FILES.items()},
    output:
        tabled("authors_recorded"),
    log:
        "results/logs/read_authors_files.log",
    localrule: True
    conda:
        "../../envs/environment.yaml"
    params:
        code=code("read_authors_files"),
    shell:
        step("read_authors_files")


rule draw_as_authors:
    input:
        models_table=local(config["models"]),
        beta_fits=published("table2_beta_fits"),
        glm_fits=published("table3_glm_fits"),
        recorded=[table(name) for name in AUTHORS_TABLES],
    output:
        draws=tabled("authors_draws"),
        numbers=tabled("authors_numbers"),
    log:
        "results/logs/draw_as_authors.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
    params:
        # one file an estimator, of both kinds of bins
        code=code("draw_as_authors", *estimator_paths("ece_bin_em", *TESTED)),
        models=PRINTED_MODELS,
        n_samples=REALISTIC.get("n_samples", []),
        replicates=REALISTIC.get("replicates", 2),
        seed=config["seed"],
    shell:
        step("draw_as_authors")
