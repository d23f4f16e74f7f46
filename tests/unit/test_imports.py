"""Which project files a script needs: found by parsing, imports inside functions included."""

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


@pytest.mark.parametrize("heavy", ["figures", "fits", "claims", "recalibration"])
def test_simulation_needs_no_other_stage(heavy):
    needed = names(SCRIPTS / "simulate_replicates.py", *(PACKAGE / "estimators").glob("*.py"))
    assert not [name for name in needed if name.startswith(f"calbias/{heavy}/")]


def test_a_file_of_ones_own(tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(
        "import numpy\nimport calbias.logits.top_label as scores\n\n\ndef estimate():\n"
        "    from calbias.estimators import ece_bin\n"
    )
    needed = {path.name for path in code_files(mine)}
    assert {"mine.py", "top_label.py", "curves.py", "ece_bin.py", "binning.py"} <= needed


def test_a_file_with_a_syntax_error_is_its_own_jobs_affair(tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("import calbias.logits.top_label\ndef (\n")
    assert [path.name for path in code_files(broken)] == ["broken.py"]
