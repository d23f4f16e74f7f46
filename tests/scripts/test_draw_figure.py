"""The command line that draws a figure: files, errors, and the same bytes every time."""

from pathlib import Path

import pytest
from command import python
from made_up_tables import MODELS, made_up_tables

from pipeline.door import main


@pytest.fixture(scope="module")
def arguments(tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("figure")
    made, words = made_up_tables(MODELS[:1]), ["draw_figure", "--figure", "fig14_chosen_bins"]
    words.append("--tables")
    for name in ("chosen_bins", "scenarios", "bias"):
        made[name].to_csv(tmp_path / f"{name}.csv", index=False)
        words.append(f"{name}={tmp_path / name}.csv")
    for kind, ending in (("png", "png"), ("pdf", "pdf")):
        words += [f"--output-{kind}", str(tmp_path / f"figures/a.{ending}")]
    return words


def test_the_files_and_their_bytes_in_another_process_with_another_hash_seed(arguments):
    def written():
        paths = sorted(Path(arguments[-1]).parent.glob("[!.]*"))
        return {path.name: path.read_bytes() for path in paths}

    main(arguments)
    first = written()
    assert list(first) == ["a.pdf", "a.png"]
    code = "from pipeline.door import main; main()"
    python(code, *arguments, PYTHONHASHSEED="1")
    assert written() == first


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("fig14_chosen_bins", "fig99"), "--figure fig99: not known; choose one of"),
        (("scenarios=", "scenery="), "add scenarios=PATH.csv"),
        (("scenarios.csv", "gone.csv"), "gone.csv: there is no such table"),
    ],
)
def test_a_mistake_is_one_line_on_stderr_and_status_2(arguments, change, message, refused):
    with refused(message):
        main([text.replace(*change) for text in arguments])
