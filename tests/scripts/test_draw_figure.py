"""The command line that draws a figure: files, errors, and the same bytes every time."""

from pathlib import Path

import pytest
from command import python
from made_up_tables import MODELS, made_up_tables

import draw_figure


@pytest.fixture(scope="module")
def arguments(tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("figure")
    made, words = made_up_tables(MODELS[:1]), ["--figure", "fig14_chosen_bins"]
    for name in ("chosen_bins", "scenarios", "bias"):
        made[name].to_csv(tmp_path / f"{name}.csv", index=False)
        words += ["--table", f"{name}={tmp_path / name}.csv"]
    for kind, ending in (("png", "png"), ("pdf", "pdf"), ("reading", "txt")):
        words += [f"--output-{kind}", str(tmp_path / f"figures/a.{ending}")]
    return words


def test_the_files_and_their_bytes_in_another_process_with_another_hash_seed(arguments):
    def written():
        paths = sorted(Path(arguments[-1]).parent.glob("[!.]*"))
        return {path.name: path.read_bytes() for path in paths}

    draw_figure.main(arguments)
    first = written()
    assert list(first) == ["a.pdf", "a.png", "a.txt"]
    code = "import draw_figure, sys; draw_figure.main(sys.argv[1:])"
    python(code, *arguments, PYTHONHASHSEED="1")
    assert written() == first


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("fig14_chosen_bins", "fig99"), "--figure fig99: not known; choose one of"),
        (("scenarios=", "scenery="), "add --table scenarios=PATH.csv"),
        (("scenarios.csv", "gone.csv"), "gone.csv: there is no such table"),
    ],
)
def test_a_mistake_is_one_line_on_stderr_and_status_2(arguments, change, message, refused):
    with refused(message):
        draw_figure.main([text.replace(*change) for text in arguments])
