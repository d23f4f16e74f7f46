# The tables on the kept networks.

NETWORK_ESTIMATORS = [  # one file an estimator, of both kinds of bins
    "ece_bin_em",
    "ece_debias_em",
    "ece_sweep_em",
    "kde",
]


rule measure_networks:
    input:
        networks=kept("networks.csv"),
        sketches=kept("sketches.parquet"),
        top_labels=kept("top_labels.parquet"),
        scaled=kept("scaled.parquet"),
        history=kept("history.csv"),
    output:
        networks=tabled("networks"),
        bias=tabled("network_bias"),
    log:
        "results/logs/measure_networks.log",
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
    params:
        **given(
            "measure_networks",
            loaded=estimator_paths(*NETWORK_ESTIMATORS),
            replicates=config["replicates"],
            seed=config["seed"],
        ),
    shell:
        step("measure_networks")


rule select_on_networks:
    input:
        networks=kept("networks.csv"),
        sketches=kept("sketches.parquet"),
        top_labels=kept("top_labels.parquet"),
        recalibrated=kept("recalibrated.csv"),
        folds=[
            kept(f"folds/{path.name}") for path in sorted((HERE / "resources/folds").glob("*.npz"))
        ],
    output:
        recalibrated=tabled("network_recalibrated"),
        selection=tabled("network_selection"),
    log:
        "results/logs/select_on_networks.log",
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
    params:
        **given(
            "select_on_networks",
            loaded=estimator_paths(*NETWORK_ESTIMATORS[:3]),
            seed=config["seed"],
        ),
    shell:
        step("select_on_networks")


rule describe_networks:
    input:
        schema=local(os.path.relpath(HERE / "schemas/tables.yaml")),  # read by pipeline.table_schema
    output:
        "results/tables/README_networks.csv",
    log:
        "results/logs/describe_networks.log",
    localrule: True
    params:
        **given("describe_tables", rule="describe_networks"),
    shell:
        step("describe_tables", folder=shlex.quote(os.path.relpath(HERE)))
