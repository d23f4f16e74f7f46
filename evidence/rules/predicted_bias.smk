# Bias that is predicted from a file's scores, against the bias that is seen on its subsamples.

PREDICTED = config["predicted_bias"]
SCORE_STEMS = sorted(path.stem for path in (papers.HERE / "resources/scores").glob("*.parquet"))
try:
    if PREDICTED["scores"] == "all":
        SCORE_STEMS.remove("snacks")  # 952 rows
    elif unknown := set(PREDICTED["scores"]) - set(SCORE_STEMS):
        raise InputError(
            f"predicted_bias.scores: no file {min(unknown)}.parquet in resources/scores"
        )
    else:
        SCORE_STEMS = PREDICTED["scores"]
    PREDICTED_FILES = estimator_paths(*PREDICTED["estimators"], "ece_debias_em")
except InputError as error:
    sys.exit(f"error: config: {error}")


rule predict_bias:
    input:
        scores=resource("scores/{scores}.parquet"),
        manifest=resource("manifest.json"),
    output:
        "results/predicted_bias/{scores}.parquet",
    log:
        "results/logs/predict_bias/{scores}.log",
    wildcard_constraints:
        scores=one_of(SCORE_STEMS),
    params:
        **given(
            "predict_bias",
            loaded=PREDICTED_FILES,
            estimators=PREDICTED["estimators"],
            n_samples=PREDICTED["n_samples"],
            subsamples=PREDICTED["subsamples"],
            refits=PREDICTED["refits"],
            seed=config["seed"],
        ),
    shell:
        step("predict_bias")
