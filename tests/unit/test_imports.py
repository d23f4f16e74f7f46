"""Which project files a script needs: found as text, imports inside functions included."""

import pytest

from calbias.io.code_files import PACKAGE, SCRIPTS, code_files


def names(*files):
    return {str(path.relative_to(SCRIPTS)) for path in code_files(*files)}


def test_a_module_and_all_that_it_imports():
    assert names(PACKAGE / "errors.py") == {"calbias/errors.py"}
    assert names(PACKAGE / "engine/binning.py") >= {
        "calbias/__init__.py", "calbias/engine/binning.py", "calbias/engine/jit.py",
        "calbias/io/code_files.py",
    }  # fmt: skip


def test_simulation_needs_no_other_stage():
    needed = names(SCRIPTS / "simulate_replicates.py", *(PACKAGE / "estimators").glob("*.py"))
    stages = {name.split("/")[1] for name in needed if name.startswith("calbias/")}
    assert not stages & {"figures", "fits", "claims", "recalibration"}


@pytest.mark.parametrize(
    "text",
    [
        "import numpy\nimport calbias.logits.top_label as scores\n",
        "import numpy, calbias.logits.top_label\n",
        "def estimate():\n    from calbias.logits import (  # later\n        top_label,\n    )\n",
        "from calbias.logits \\\n    import store, \\\n    top_label\n",
        "if True: import calbias.logits.top_label; x = 1\n",
        "import numpy; from calbias.logits import(top_label)\n",
        "from calbias.logits import (\n    store,  # (its form)\n    top_label,\n)\n",
        "from calbias.logits.top_label import TopLabel\ndef (\n",  # its own job reports the error
    ],
)
def test_a_file_of_ones_own(tmp_path, text):
    mine = tmp_path / "mine.py"
    mine.write_text(text)
    assert {path.name for path in code_files(mine)} >= {"mine.py", "top_label.py", "curves.py"}


def test_a_file_that_only_speaks_of_modules(tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_bytes(b"'Scores: see calbias.logits.top_label, which you import. \xff'\n")
    assert code_files(mine) == [mine]
