# Trained networks whose true calibration error is known.

NETWORK_ESTIMATORS = [  # one file an estimator, of both kinds of bins
    "ece_bin_em",
    "ece_debias_em",
    "ece_sweep_em",
    "kde",
]


rule measure_networks:
    input:
        networks=resource("networks/networks.csv"),
        sketches=resource("networks/sketches.parquet"),
        top_labels=resource("networks/top_labels.parquet"),
        scaled=resource("networks/scaled.parquet"),
        history=resource("networks/history.csv"),
    output:
        networks=tabled("networks"),
        bias=tabled("network_bias"),
    log:
        "results/logs/measure_networks.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
    params:
        code=code("measure_networks", *estimator_paths(*NETWORK_ESTIMATORS)),
        norm=config["norm"],
        replicates=config["replicates"],
        seed=config["seed"],
    shell:
        step("measure_networks")


rule select_on_networks:
    input:
        networks=resource("networks/networks.csv"),
        sketches=resource("networks/sketches.parquet"),
        top_labels=resource("networks/top_labels.parquet"),
        recalibrated=resource("networks/recalibrated.csv"),
        folds=[
            resource(f"networks/folds/{path.name}")
            for path in sorted((HERE / "resources/networks/folds").glob("*.npz"))
        ],
    output:
        recalibrated=tabled("network_recalibrated"),
        selection=tabled("network_selection"),
    log:
        "results/logs/select_on_networks.log",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
    params:
        code=code("select_on_networks", *estimator_paths(*NETWORK_ESTIMATORS[:3])),
        norm=config["norm"],
        seed=config["seed"],
    shell:
        step("select_on_networks")
