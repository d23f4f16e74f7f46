# Answers of language models: printed errors by two formulas, and what a leaderboard's number of
# questions gives. Estimators on few rows of all genuine data.

ANSWER_FILES = {path.stem: path for path in sorted((HERE / "resources/answers").glob("*.parquet"))}
ANSWERED = [*ANSWER_FILES] if config["answers"] == "all" else config["answers"]
if unknown := sorted({*ANSWERED} - {*ANSWER_FILES}):
    sys.exit(f"error: config: answers: no file {unknown[0]}.parquet in evidence/resources/answers")
SUBSAMPLED = literal(HERE / "scripts/evidence/steps/subsample_genuine.py", "ESTIMATORS")
FORECASTS = [
    x for x in papers.ENTRIES if papers.ENTRIES[x]["kind"] == "forecasts" and config["score_files"]
]


rule summarise_answers:
    input:
        file=data("answers/{answered}.parquet"),
        manifest=data("manifest.json"),
        printed=data("published/plaut2024_ece.csv"),
    output:
        row="results/answers/{answered}.parquet",
        leaderboard="results/answers/leaderboard/{answered}.parquet",
        predicted="results/predicted_bias/answers/{answered}.parquet",
    log:
        "results/logs/summarise_answers/{answered}.log",
    wildcard_constraints:
        answered=one_of(ANSWERED),
    params:
        **given(
            "summarise_answers",
            loaded=estimator_paths("ece_bin_ew", "ece_sweep_em", "ece_debias_em"),
            columns=columns_of("predicted_bias"),  # whose rows are another step's too
            draws=config["bootstrap"],
            subsamples=PREDICTED["subsamples"],
            refits=PREDICTED["refits"],
            seed=config["seed"],
        ),
    shell:
        step("summarise_answers", model="{wildcards.answered}")


rule subsample_genuine:
    input:
        scores=[
            *(resource(f"scores/{stem}.parquet") for stem in SCORE_STEMS),
            *(resource(f"forecasts/{stem}.parquet") for stem in FORECASTS),
        ],
        answers=[data(f"answers/{name}.parquet") for name in ANSWERED],
        manifest=resource("manifest.json"),
        answers_manifest=data("manifest.json"),
    output:
        tabled("subsampled"),
    log:
        "results/logs/subsample_genuine.log",
    params:
        **given(
            "subsample_genuine",
            loaded=estimator_paths(*SUBSAMPLED),
            subsamples=min(PREDICTED["subsamples"], 40),
            seed=config["seed"],
        ),
    shell:
        step("subsample_genuine")
