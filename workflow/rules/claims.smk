# Claims: the ledger, the pages of a run, and the published numbers compared.


JUDGED = ("claims", "measurements", "comparison")
GIVEN = [
    "models",
    *("roelofs2022_table1_recalibration_selection", "roelofs2022_table2_beta_fits"),
    "roelofs2022_table3_glm_fits",
]
# What the claims are judged by: all other tables.
EVIDENCE = [*GIVEN, *(name for name in TABLES if name not in JUDGED), "fit_times"]
BATCHED = [name for name in EVIDENCE if name != "batch_verdicts"]
SHOWN = [*FIGURES, *(f"models/{Path(path).stem}" for path in OWN_FIGURES)]
# Of these the claims are judged by batches of the data sets too.
SIMULATED = [
    name
    for name in ("intro", "bins_by_n", "realistic", "perfect", "heatmaps", "tce_sweep")
    + ("detection", "detection_null", "chosen_bins")
    if name in EXPERIMENTS
]
CLAIMS = sorted((HERE / "scripts/reproduction/claims").glob("*.py"))  # found there, not imported


rule judge_batches:
    input:
        tables=[table(name) for name in BATCHED],
        scenarios=expand("results/scenarios/{name}.parquet", name=SIMULATED),
        replicates=[file for name in SIMULATED for file in shards(name)],
    output:
        tabled("batch_verdicts"),
    log:
        "results/logs/judge_batches.log",
    resources:
        mem_mb=lambda wildcards, attempt: attempt
        * sizes.to_batch(*(EXPERIMENTS[name] for name in SIMULATED)),
    params:
        **given(
            "judge_batches",
            loaded=CLAIMS,
            tables=BATCHED,
            scenarios=SIMULATED,
            seed=config["seed"],
        ),
    shell:
        step("judge_batches")


rule judge_claims:
    input:
        tables=[table(name) for name in EVIDENCE],
    output:
        claims=tabled("claims"),
        measurements=tabled("measurements"),
        comparison=tabled("comparison"),
    log:
        "results/logs/judge_claims.log",
    localrule: True
    params:
        **given(
            "judge_claims",
            loaded=CLAIMS,
            tables=EVIDENCE,
        ),
    shell:
        step("judge_claims")


rule write_pages:
    input:
        tables=[table(name) for name in TABLES],
        figures=[*(f"results/figures/{figure}.png" for figure in FIGURES), *OWN_FIGURES],
        numbers=[f"results/figures/{figure}.csv" for figure in FIGURES],
        templates=page_files("index.html.j2", "ledger.html.j2", "ledger.js"),
        record="results/provenance.json",
    output:
        index="results/index.html",
        ledger=report(
            "results/ledger.html",
            caption="../report/ledger.rst",
            category="1. Ledger of claims",
            labels={"page": "every claim, judged"},
        ),
    log:
        "results/logs/write_pages.log",
    localrule: True
    params:
        **given(
            "write_pages",
            loaded=CLAIMS,
            figures=SHOWN,
            tables=TABLES,
            audits=OWN,
        ),
    shell:
        step("write_pages")


# Provenance: what the results were made from and with, tied to them by checksums.
rule record_provenance:
    input:
        inputs=[
            local(config["models"]),
            *map(local, REAL.values()),
            *map(local, SCORES.values()),
            *loaded(estimator_paths(*config["estimators"])),
        ],
        files=[
            *(table(name) for name in TABLES),
            "results/tables/README.csv",
            *(
                path.removesuffix("png") + kind
                for path in (*OWN_FIGURES, *(f"results/figures/{name}.png" for name in FIGURES))
                for kind in ("png", "pdf")
            ),
            *(f"results/figures/{name}.csv" for name in FIGURES),
        ],
    output:
        report(
            "results/provenance.json",
            caption="../report/provenance.rst",
            category="4. Provenance",
            labels={"record": "versions, configuration, sources, checksums"},
        ),
    log:
        "results/logs/record_provenance.log",
    localrule: True
    params:
        **given(
            "record_provenance",
            # without the keys of guest workflows; a function: in a string Snakemake would fill in
            # the {file} of an address itself
            config=lambda wildcards: json.dumps(
                {key: config[key] for key in {*config} & OWN_KEYS}, sort_keys=True
            ),
        ),
        logs=lambda wildcards, output: os.path.join(os.path.dirname(output[0]), "logs"),
    shell:
        step("record_provenance", logs="{params.logs:q}")
