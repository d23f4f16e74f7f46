# Trained networks whose true calibration error is known.

NETWORK_ESTIMATORS = [  # one file an estimator, of both kinds of bins
    "ece_bin_em",
    "ece_debias_em",
    "ece_sweep_em",
    "kde",
]


def of_networks(*names):
    """Files of the trained networks, by the names of a step's options."""
    kinds = {"networks": "csv", "history": "csv", "recalibrated": "csv"}
    return {name: resource(f"networks/{name}.{kinds.get(name, 'parquet')}") for name in names}


rule measure_networks:
    input:
        **of_networks("networks", "sketches", "top_labels", "scaled", "history"),
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
        **of_networks("networks", "sketches", "top_labels", "recalibrated"),
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
