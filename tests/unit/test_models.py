"""The models table: what it must hold, and which of its models an experiment simulates."""

import pytest
from checkout import PUBLISHED
from refusals import refuses_texts

from calbias.errors import InputError
from calbias.pipeline import models

test_models_tables_that_are_refused = refuses_texts(
    models.read_models,
    "models.csv",
    ("model,group,n_classes,file\n", "the table lists no model"),
    ("model,group,n_classes,file\na b,g,2,f\n", "line 2: model 'a b': use letters"),
    ("model,group,n_classes,file\na,g,2,f\na,g,2,f\n", "line 3: model a is there already"),
    ("model,group,n_classes,file\na,g,1,f\n", "line 2: n_classes of a must be a whole number"),
    ('model,group,n_classes,file\na,"g\nh",2,f\n,g,2,f\n', "line 4: model ''"),
    ("model,group,n_classes,file\na,g,²,f\n", "line 2: n_classes of a must be a whole number"),
    (f"model,group,n_classes,file\n{'a' * 101},g,2,f\n", "… has 101 characters: files are"),
    ("model,group,n_classes,file\na,g,2,f{x}.p\n", "line 2: file 'f{x}.p' of a has braces"),
    ("model,group,n_classes,file\na,,2,f\n", "line 2: a has no group: write model,group,"),
)


def test_a_model_without_a_file(tmp_path):
    (tmp_path / "models.csv").write_text("model,group,n_classes,file\na,g,2,\n")
    assert models.read_models(tmp_path / "models.csv")["a"]["file"] == ""


def test_models_of_an_experiment():
    table = {"resnet110_c10": {}, "my_model": {}}
    experiments = {
        "every": {"models": "all"},
        "some": {"models": ["my_model", "resnet152_imgnet"]},
        "none": {"models": ["resnet152_imgnet"]},
        "synthetic": {"scores": [[1, 1]]},
    }
    resolved = models.with_models(experiments, table, PUBLISHED)
    assert resolved["every"]["models"] == ["resnet110_c10", "my_model"]
    assert resolved["some"]["models"] == ["my_model"]
    assert list(resolved) == ["every", "some", "synthetic"]
    with pytest.raises(InputError, match=r"x\.models: unknown model 'my_modle'. Did you mean my_m"):
        models.with_models({"x": {"models": ["my_modle"]}}, table, PUBLISHED)
