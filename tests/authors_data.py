"""The four files of the authors' results, made up in the form that their code writes."""

import json
import pickle

import pandas as pd

from calbias.truth.curves import GLM_NAMES
from pipeline.paper import MODELS
from reproduction.authors_files import BETA, BIASES, ECE_BIN, GLM


def write_files(folder, ece_by_model=False):
    """Write the files: alpha = 2, beta = 0.1, b0 = -0.2, b1 = 0.3; GLM k has the AIC k."""
    folder.mkdir(parents=True, exist_ok=True)
    beta = {model: {"a": 2.0, "b": 0.1, "loc": 0, "scale": 1, "p1": 0.0} for model in MODELS}
    beta[MODELS[1]]["a"] = 1.5
    glm = {
        model: {
            name: {
                number: {"mean": {"value": value}, "std": {"value": value / 10}}
                for number, value in (("AIC", float(k + 1)), ("b0", -0.2), ("b1", 0.3))
                if number == "AIC" or number in name.split("_")
            }
            for k, name in enumerate(GLM_NAMES)
        }
        for model in MODELS
    }
    frame = pd.DataFrame({"x": [1.0, 2.0]})  # as in the authors' files; it is not read
    for name, data in ((BETA, beta), (GLM, glm)):
        content = {"data": data, "dataframe": frame, "metadata": {"N": 10}}
        (folder / name).write_bytes(pickle.dumps(content))
    columns = {"dataset": list(MODELS), "eece_L2": 10 * [6.7], "sece_L2": 10 * [8.4]}
    if ece_by_model:
        columns = {model: {"eece_L2": 6.7, "sece_L2": 8.4} for model in MODELS}
    (folder / ECE_BIN).write_bytes(pickle.dumps({"data": columns}, protocol=2))
    first = GLM_NAMES[0]  # logit_logit_b0 has the lowest AIC: b1 is 0
    cell = {"dataset": first, "alpha": 1.5, "beta": 0.1, "a": -0.2, "b": 0, "num_bins": 15,
            "norm": 2, "num_samples": 200, "num_reps": 1000, "true_ce": 7.0, "bias": -0.5,
            "var": 1.2, "ce_type": "em_ece_sweep"}  # fmt: skip
    others = [{"alpha": 9}, {"norm": 1}, {"num_bins": 10}, {"ce_type": "quant"}]
    results = {str(k): {**cell, **other} for k, other in enumerate([{}, *others])}
    (folder / BIASES).write_text(json.dumps(results))
