# Provenance: what the results were made from and with, tied to them by checksums.


rule record_provenance:
    input:
        code=code("record_provenance"),
        script=program("record_provenance"),
        inputs=[
            config["models"],
            *REAL.values(),
            *SCORES.values(),
            *sorted({estimator_path(name) for name in config["estimators"]}),
        ],
        files=[
            *(table(name) for name in TABLES),
            *MODEL_FIGURES,
            *(figure.removesuffix("png") + "pdf" for figure in MODEL_FIGURES),
            *(
                f"results/figures/{figure}.{kind}"
                for figure in FIGURES
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
    resources:
        mem_mb=500,
        runtime=5,
    params:
        config=json.dumps(config, sort_keys=True),
    shell:
        "python {input.script:q} --inputs {input.inputs:q} --files {input.files:q}"
        " --config {params.config:q} --output {output} 2>&1 | tee {log}"
