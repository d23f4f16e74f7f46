# Joining: the tables whose parts are made by one job per model, experiment or other item, and the
# data dictionary beside them.

# table → the folder of its parts, and the items
PARTS = {
    "beta_fits": ("fits/beta_fits", MEASURED),
    "glm_fits": ("fits/glm_fits", MEASURED),
    "own_score_fits": ("fits/own_score_fits", MEASURED),
    "beta_fits_float32_2020": ("fits/beta_fits_float32_2020", AS_PUBLISHED),
    "glm_fits_float32_2020": ("fits/glm_fits_float32_2020", AS_PUBLISHED),
    "scenarios": ("scenarios", EXPERIMENTS),
    "bias": ("bias", EXPERIMENTS),
    "correlations": ("correlations", EXPERIMENTS),
    "recalibration": ("recalibration", RECALIBRATED),
    "audit_estimates": ("audit/estimates", MEASURED),
    "audit_verdicts": ("audit/verdicts", MEASURED),
    "audit_diagrams": ("audit/diagrams", MEASURED),
    "replication": ("replication", OTHERS),
}
JOINED = {
    name: [f"results/{folder}/{item}.parquet" for item in items]
    for name, (folder, items) in PARTS.items()
}
# the models' parts, and the other networks'
JOINED |= {
    name: [
        *(f"results/measures/{folder}/{model}.parquet" for model in models),
        *(f"results/replication/{folder}/{other}.parquet" for other in OTHERS),
    ]
    for name, folder, models in (
        ("reliability_bins", "bins", MEASURED),
        ("calibration_graphs", "graphs", [model for model in MEASURED if model in REAL]),
        ("noise_floors", "floors", [model for model in MEASURED if model in REAL]),
    )
}


rule join_tables:
    input:
        parts=lambda wildcards: JOINED[wildcards.table],
    output:
        tabled("{table}"),
    log:
        "results/logs/join_tables/{table}.log",
    wildcard_constraints:
        table=one_of(JOINED),
    localrule: True
    params:
        **given(
            "join_tables",
            table=lambda wildcards: wildcards.table,
            columns=lambda wildcards: columns_of(wildcards.table),
        ),
    shell:
        step("join_tables")


# Other networks with the matrices too, which take minutes with a hundred classes.
use rule join_tables as replication with:
    input:
        parts=[f"results/replication_full/{other}.parquet" for other in OTHERS],
    output:
        "results/replication_full/replication.csv",
    log:
        "results/logs/replication.log",
    params:
        **given(
            "join_tables",
            rule="replication",
            table="replication",
            columns=columns_of("replication"),
        ),


rule describe_tables:
    input:
        schema=resource("../workflow/schemas/tables.yaml"),  # read by pipeline.table_schema
    output:
        "results/tables/README.csv",
    log:
        "results/logs/describe_tables.log",
    localrule: True
    params:
        **given("describe_tables"),
    shell:
        step("describe_tables", folder=None)
