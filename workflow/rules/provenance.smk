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
    conda:
        "../../envs/environment.yaml"
    params:
        code=code("record_provenance"),
        logs=lambda wildcards, output: os.path.join(os.path.dirname(output[0]), "logs"),
        # without the keys of workflows beside this one; a function: in a string Snakemake would fill
        # in the {file} of an address itself
        config=lambda wildcards: json.dumps(
            {key: config[key] for key in {*config} & OWN_KEYS}, sort_keys=True
        ),
    shell:
        step("record_provenance", logs="{params.logs:q}")
