# Article: the reproduction article, filled from the tables of this run. Not part of `all`:
# `make article` makes it, or `snakemake article` where envs/requirements-article.lock is installed.


rule article:
    input:
        code=code("build_article"),
        sources=[os.path.relpath(path) for path in sorted((HERE / "article").glob("*.*"))],
        tables=[table(name) for name in TABLES],
        peers=resource("peers/values.csv"),
        figures=[f"results/figures/{figure}.pdf" for figure in FIGURES],
        record="results/provenance.json",
    output:
        pdf="results/article/article.pdf",
        metadata="results/article/metadata.yaml",
    log:
        "results/logs/article.log",
    localrule: True
    conda:
        "../../envs/environment.yaml"
    params:
        tables=given(TABLES),
        source=folder_of("sources"),
    shell:
        "python {input.code[0]:q} {params.tables:q} --table peers={input.peers:q}"
        " --record {input.record} --source {params.source:q} --output {output.pdf} 2>&1 | tee {log}"
