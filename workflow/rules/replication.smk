# Replication: the methods of Guo et al. (2017) and Gupta et al. (2021) on other networks, whose
# outputs ship, and Mukhoti et al. (2020), Table 1.
# `snakemake replication` also fits the matrices that take minutes with a hundred classes.


rule replication:
    input:
        table("replication_full"),
    localrule: True


rule replicate_model:
    input:
        file=resource("outputs/{other}.npz"),
        manifest=resource("manifest.json"),
        mukhoti=resource("published/mukhoti2020_table1.csv"),
    output:
        replication="results/{replication}/{other}.parquet",
        mukhoti="results/{replication}/mukhoti2020_table1/{other}.parquet",
        graphs="results/{replication}/graphs/{other}.parquet",
        bins="results/{replication}/bins/{other}.parquet",
        floors="results/{replication}/floors/{other}.parquet",
        differences="results/{replication}/differences/{other}.parquet",
    log:
        "results/logs/replicate_model/{replication}/{other}.log",
    wildcard_constraints:
        replication="replication(_full)?",
        other=one_of(OUTPUT_FILES),
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        # the estimators of the measures are loaded by name
        code=code("replicate_model", *estimator_paths("ece_bin_ew", "mce_ew", "ks", "kde")),
        # of tables whose rows are another step's too
        columns=[
            columns_of(name)
            for name in (
                *("calibration_graphs", "reliability_bins"),
                *("noise_floors", "method_differences"),
            )
        ],
        seed=config["seed"],
        methods=lambda wildcards: "all" if wildcards.replication.endswith("full") else "quick",
    shell:
        step("replicate_model", model="{wildcards.other}")
