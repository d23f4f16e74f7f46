# Logits: verified real files; genuine top-label scores; and the top-label tables of both.


# Files to download: a file that is there is an input and never downloaded again.
MISSING = {Path(file).name: model for model, file in REAL.items() if not Path(file).exists()}
EXPECTED.update({REAL[model]: PUBLISHED_FILES[model].sha256 for model in MISSING.values()})


rule download_logits:
    input:
        manifest=resource("published/nn_calibration_logits_manifest.csv"),
        mirrors_file=resource("logits_mirrors.csv"),
    output:
        protected(local(os.path.normpath(f"{config['logits_dir']}/{{file}}"))),
    log:
        "results/logs/download_logits/{file}.log",
    wildcard_constraints:
        file=one_of(MISSING),
    localrule: True
    params:
        **given(
            "download_logits",
            model=lambda wildcards: MISSING[wildcards.file],
            # a function: in a string Snakemake would fill in {file} itself
            mirrors=lambda wildcards: config["mirrors"],
        ),
    shell:
        step("download_logits")


rule read_logits:
    input:
        file=lambda wildcards: local(REAL[wildcards.model]),
        manifest=resource("published/nn_calibration_logits_manifest.csv"),
    output:
        logits="results/logits/{model}.npz",
        top_labels="results/top_labels/{model}.parquet",
    log:
        "results/logs/read_logits/{model}.log",
    wildcard_constraints:
        model=one_of(REAL),
    priority: 100
    resources:
        mem_mb=lambda wildcards, input, attempt: attempt * max(1000, int(500 + 12 * input.size_mb)),
    params:
        **given(
            "read_logits",
            n_classes=lambda wildcards: MODELS[wildcards.model]["n_classes"],
            softmax=config["softmax"],
            seed=config["seed"],
        ),
    shell:
        step("read_logits", model="{wildcards.model}")


rule read_scores:
    input:
        file=lambda wildcards: local(SCORES[wildcards.model]),
        manifest=resource("manifest.json"),
    output:
        top_labels="results/scores/{model}.parquet",
    log:
        "results/logs/read_scores/{model}.log",
    wildcard_constraints:
        model=one_of(SCORES),
    priority: 100
    resources:
        mem_mb=lambda wildcards, input, attempt: attempt * max(500, int(300 + 12 * input.size_mb)),
    params:
        **given("read_scores"),
    shell:
        step("read_scores", model="{wildcards.model}")
