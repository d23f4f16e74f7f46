# Joining: the tables whose parts are made by one job per item, and the dictionary of all tables.

# table → the folder of its parts, and the items
PARTS = {
    "interval_coverage": ("coverage", CELLS),
    "predicted_bias": (
        "predicted_bias",
        [*SCORE_STEMS, *(f"answers/{name}" for name in ANSWERED)],
    ),
    "printed_simulations": ("printed_simulations", PAPERS),
    "method_differences": ("method_differences", CLASSWISE),
    "language_models": ("answers", ANSWERED),
    "leaderboard": ("answers/leaderboard", ANSWERED),
    **{league: (league, LEAGUE_FILES) for league in LEAGUES},
    **{league: (league, MULTICLASS_POPULATIONS) for league in MULTICLASS_LEAGUES},
}


rule join_evidence:
    input:
        parts=lambda wildcards: parts_of([wildcards.table]),
    output:
        tabled("{table}"),
    log:
        "results/logs/join_tables/{table}.log",
    wildcard_constraints:
        table=one_of(PARTS),
    localrule: True
    params:
        **given(
            "join_tables",
            rule="join_evidence",
            columns=lambda wildcards: columns_of(wildcards.table),
        ),
    shell:
        step("join_tables", table="{wildcards.table}")


rule describe_evidence:
    input:
        schema=local(os.path.relpath(HERE / "schemas/tables.yaml")),  # read by pipeline.table_schema
    output:
        "results/tables/README_evidence.csv",
    log:
        "results/logs/describe_evidence.log",
    localrule: True
    params:
        **given("describe_tables", rule="describe_evidence"),
    shell:
        step("describe_tables", folder=shlex.quote(os.path.relpath(HERE)))
