# Provenance: what the results were made from and with, tied to them by checksums.


rule record_provenance:
    input:
        inputs=[
            config["models"],
            *REAL.values(),
            *SCORES.values(),
            *estimator_paths(*config["estimators"]),
        ],
        files=[
            *(table(name) for name in TABLES),
            *(
                path.removesuffix("png") + kind
                for path in (*MODEL_FIGURES, *(f"results/figures/{name}.png" for name in FIGURES))
                for kind in ("png", "pdf", "txt")
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
        config=json.dumps(config, sort_keys=True),
    shell:
        step("record_provenance", logs="results/logs")
