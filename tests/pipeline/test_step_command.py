"""Command line of the steps: options from a signature, shell lines, one-line errors."""

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Literal

import pytest
from checkout import ROOT
from command import python

from calbias.errors import InputError
from pipeline import code_digest, kept_digests, step_command, table_schema
from pipeline.steps import AtLeast


def made_up(
    *,
    tables: dict[str, Path],
    files: list[Path],
    label: str | None,
    n_bins: Annotated[int, AtLeast(1)] = 15,
    fold: Literal["test", "validation"] = "test",
    output: Path,
) -> None:
    """Do nothing at 95 %.

    More words.

    tables: result tables
    n_bins: number of bins,
        in two lines
    """


def parsed(*words):
    return vars(step_command._parser("made_up", made_up).parse_args(words))


def test_options_have_the_types_of_the_signature():
    words = ["--tables", "a=b.csv", "c=d.csv", "--files", "--label", "--output", "x"]
    assert parsed(*words, "--n-bins", "3") == {
        "tables": {"a": Path("b.csv"), "c": Path("d.csv")}, "files": [], "label": None,
        "n_bins": 3, "fold": "test", "output": Path("x"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--output", "x"],
            "made_up: the following arguments are required: --tables",
        ),
        (["--n-bins", "0"], "made_up: --n-bins: must be at least 1"),
        (["--n-bins", "x"], "made_up: --n-bins: invalid int value: 'x'"),
        (["--fold", "x"], "made_up: --fold: invalid choice: 'x'"),
        (["--tables", "bias"], "made_up: --tables: bias: write it as NAME=PATH"),
    ],
)
def test_mistakes_are_one_line(words, message):
    with pytest.raises(InputError, match=message):
        parsed(*words)


def test_help_is_the_docstring():
    text = step_command._parser("made_up", made_up).format_help()
    assert "Do nothing at 95 %.\n\nMore words." in text
    assert "number of bins, in two lines" in text


def test_every_step_has_a_shell_line_and_describes_its_options():
    """Outputs stand last and behind the seed."""
    for name in step_command._files():
        assert step_command.shell_line(name).startswith(name)
        step = step_command._definition(name)
        options, doc = [argument.arg for argument in step.args.kwonlyargs], step.body[0].value.value
        for option in options:
            assert f"\n    {option}: " in doc, f"{name}: describe {option}"
        written = [option.startswith("output") for option in options]
        assert written == sorted(written), name
        assert "seed" not in options or options[written.index(True) - 1] == "seed", name


def test_the_shell_line_of_a_rule():
    line = step_command.shell_line("draw_figure", figure="fig4", model=None)
    assert line == (
        "draw_figure {params.tables} --figure fig4"
        " --output-png {output.png:q} --output-pdf {output.pdf:q} --output-csv {output.csv:q}"
    )
    assert step_command.shell_line("join_tables").endswith("--output {output:q}")
    assert "--record {input.record:q} " in step_command.shell_line("write_pages")
    with pytest.raises(InputError, match="step draw_figure has no option figures"):
        step_command.shell_line("draw_figure", figures="fig4")


def test_an_unknown_step_is_one_line():
    with pytest.raises(InputError, match=r"unknown step 'fit_modle'\. Did you mean fit_model"):
        step_command.step_file("fit_modle")


def test_who_reads_the_list_may_stop():
    command = [sys.executable, ROOT / "scripts/run.py", "--help"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as listing:
        listing.stdout.close()
        assert listing.stderr.read() == b""
    assert listing.returncode == 1


def test_the_list_of_steps_imports_none():
    code = "import sys; from pipeline.step_command import main; main([]); "
    code += "assert 'numpy' not in sys.modules"
    assert "simulate_replicates" in python(code)


def test_a_comment_and_a_docstring_are_no_part_of_the_digest(tmp_path):
    def digest(text):
        path = tmp_path / "mine.py"
        path.write_text(text)
        return code_digest._syntax(path.read_bytes())

    plain = digest("def f(x):\n    return x\n")
    assert (
        digest('"""Words."""\n\n\ndef f(x):  # more\n    """Words."""\n    return (x)\n') == plain
    )
    assert digest("def f(x):\n    return x + 0\n") != plain
    assert digest("def f(:\n") != digest("def f(  :\n")  # not Python: its bytes count
    rules = ['@claim("R01")\ndef f(x):\n    """' + words + '"""\n    return x\n' for words in "ab"]
    assert digest(rules[0]) != digest(rules[1])  # the ledger prints them


def test_a_changed_column_of_a_table_is_a_change_of_its_step(monkeypatch):
    before = {step: code_digest.code(step) for step in ("summarise_bias", "summarise_intro")}
    tables = copy.deepcopy(table_schema.tables())
    tables["bias"]["columns"].append("more")
    monkeypatch.setattr(table_schema, "tables", lambda workflow: tables)
    assert code_digest.code("summarise_bias") != before["summarise_bias"]
    assert code_digest.code("summarise_intro") == before["summarise_intro"]


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """The file of kept digests in a folder of the test's own, and a function that starts anew."""

    def start():
        kept_digests._known.cache_clear()
        code_digest._of_file.cache_clear()

    monkeypatch.chdir(tmp_path)
    start()
    yield tmp_path / kept_digests.STORE, start
    start()


def test_a_digest_does_not_depend_on_the_folder(tmp_path, stored):
    assert code_digest._name(Path(code_digest.__file__)) == "scripts/pipeline/code_digest.py"
    digests = set()
    for name in ("a/mine.py", "b/mine.py", "a/yours.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x = 1")
        digests.add(code_digest.digest([tmp_path / name]))
    assert len(digests) == 2
    assert {len(digest) for digest in digests} == {20}


def test_digests_are_kept_until_a_file_changes(tmp_path, stored):
    store, start = stored
    mine = tmp_path / "mine.py"
    mine.write_text("x = 1")
    first = code_digest.digest([mine])
    kept_digests.save()
    assert not store.exists()  # no folder of Snakemake
    store.parent.mkdir()
    kept_digests.save()
    ((key, _),) = json.loads(store.read_text()).items()
    assert key.startswith(f"{mine} ")  # the whole path: other folders have files of its name
    store.write_text(json.dumps({key: "kept"}))
    start()
    assert code_digest.digest([mine]) != first  # read, not computed
    before = store.stat()
    kept_digests.save()
    assert store.stat() == before  # nothing is new
    mine.write_text("x = 22")
    start()
    code_digest.digest([mine])
    kept_digests.save()
    assert len(json.loads(store.read_text())) == 2
    store.write_text("[1]")  # broken: as if there were none
    start()
    mine.write_text("x = 1")
    assert code_digest.digest([mine]) == first
