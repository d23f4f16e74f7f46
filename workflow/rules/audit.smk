# Audits: models judged as `calbias audit` judges a user's file. Those that a user adds to the models
# table are part of the default run; the paper's and the files that ship are evidence.

from calbias.io.python_files import literal

# name → its file of genuine scores or forecasts, for those that are in no models table
SCORE_FILES = {
    path.stem: resource(f"{folder}/{path.name}")
    for folder in ("scores", "forecasts")
    for path in sorted((HERE / f"resources/{folder}").glob("*.parquet"))
    if path.stem not in MODELS
}
# what the manifest says of the columns of such a file: an event's label, and clusters of rows
ENTRIES = {
    entry["name"]: entry
    for entry in json.loads((HERE / "resources/manifest.json").read_text(encoding="utf-8"))
    if entry["kind"] in ("scores", "forecasts")
}
MODEL_FIGURES = [f"results/figures/models/{model}.png" for model in MEASURED]
OWN_FIGURES = [path for path in MODEL_FIGURES if Path(path).stem in OWN]
AUDITED = [*MEASURED, *(SCORE_FILES if config["score_files"] else ())]
AUDITING = HERE / "scripts/calbias/auditing"
# the estimators of every audit, which it loads by name
AUDIT_ESTIMATORS = estimator_paths(*literal(AUDITING / "error/estimator_bias.py", "ESTIMATORS"))


rule audit_model:
    input:
        template=resource("../scripts/calbias/auditing/page/page.html.j2"),
        scores=lambda wildcards: SCORE_FILES.get(wildcards.audited, []),
        top_labels=lambda wildcards: (
            [] if wildcards.audited in SCORE_FILES else top_labels(wildcards.audited)
        ),
        manifest=resource("manifest.json"),
    output:
        page="results/audit/{audited}.html",
        numbers="results/audit/{audited}.json",
        estimates="results/audit/estimates/{audited}.parquet",
        verdict="results/audit/verdicts/{audited}.parquet",
        diagram="results/audit/diagrams/{audited}.parquet",
    log:
        "results/logs/audit_model/{audited}.log",
    wildcard_constraints:
        audited=one_of(AUDITED),
    resources:
        mem_mb=lambda wildcards, attempt: 1500 * attempt,
    params:
        **given(
            "audit_model",
            loaded=[*AUDIT_ESTIMATORS, *estimator_paths(*config["estimators"])],
            label=lambda wildcards: ENTRIES.get(wildcards.audited, {}).get("label", []),
            # an interval of clustered rows is only known for norm 1
            cluster=lambda wildcards: (
                ENTRIES.get(wildcards.audited, {}).get("clusters", [])
                if config["audit"]["norm"] == 1
                else []
            ),
            estimators=config["estimators"],
            estimator_dir=folder_of(*config["estimators"]),
            n_bins=config["audit"]["n_bins"],
            norm=config["audit"]["norm"],
            seed=config["seed"],
        ),
    shell:
        step("audit_model", name="{wildcards.audited}")


rule draw_audit:
    input:
        diagram="results/audit/diagrams/{model}.parquet",
        verdict="results/audit/verdicts/{model}.parquet",
    output:
        png=report(
            "results/figures/models/{model}.png",
            caption="../report/audited_model.rst",
            category="2. Figures",
            labels={"figure": "{model}", "format": "PNG"},
        ),
        pdf="results/figures/models/{model}.pdf",
    log:
        "results/logs/draw_audit/{model}.log",
    localrule: True
    params:
        **given("draw_audit"),
    shell:
        step("draw_audit")


# All pages, tables and pictures of audits; with models of one's own in the table, of the table alone.
rule audit:
    input:
        expand("results/audit/{audited}.html", audited=MEASURED if OWN else AUDITED),
        [table(name) for name in AUDITS],
        MODEL_FIGURES,
    localrule: True
