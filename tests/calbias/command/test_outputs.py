"""Files that are written: only those of calbias are replaced, and all of a command's or none."""

import errno
import json
import os
from pathlib import Path

import pytest
from refusals import refuses

import calbias
from calbias.command import main
from calbias.errors import InputError
from calbias.io import outputs
from calbias.io.outputs import is_of_calbias, output_paths, write_texts, written_whole

ROWS = "score,hit\n" + "".join(f"0.{40 + k % 50},{int(k % 3 > 0)}\n" for k in range(120))
DAYS = "score,hit,day\n" + "".join(f"0.{40 + k},{k % 2},{k}\n" for k in range(50))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder, with a file of rows and one with days."""
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(ROWS)
    Path("days.csv").write_text(DAYS)
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        "audit rows.csv",
        "compare rows.csv rows.csv --output mine",
        "recalibrate rows.csv --method shift",
        "plan --beta 2 1 --detect 5 --output mine",
        "watch days.csv --time day --state state.json",
    ],
)
def test_what_a_command_wrote_it_replaces(folder, words):
    words = [*words.split(), "--quiet"]
    main(words)
    written = sorted({*os.listdir()} - {"rows.csv", "days.csv"})
    assert written
    for name in written:
        assert is_of_calbias(Path(name).read_bytes())
    main(["recalibrate", "rows.csv", "--method", "shift", "--output", "map.json", "--quiet"])
    apply = ["recalibrate", "rows.csv", "--apply", "map.json", "--output", "new.csv", "--quiet"]
    if words[0] == "watch":
        os.unlink("state.json")
    for each in (words, apply, apply):
        main(each)
    assert sorted({*os.listdir()} - {"rows.csv", "days.csv", "map.json", "new.csv"}) == written


def test_where_the_page_is_written(tmp_path):
    file = tmp_path / "mine.csv.gz"
    page, numbers = output_paths(file)
    assert (page, numbers) == (tmp_path / "mine.html", tmp_path / "mine.json")
    assert output_paths(tmp_path / "data.json")[1] == tmp_path / "data_audit.json"
    assert output_paths("-")[0].name == "standard_input.html"
    for name in ("x", "x.html", "x.json"):
        assert [path.name for path in output_paths("-", tmp_path / name)] == ["x.html", "x.json"]
    assert output_paths("-", tmp_path / "v1.2")[0].name == "v1.2.html"
    page.write_text("<p>thesis</p>")
    output_paths(file, force=True)
    assert output_paths(file, tmp_path / "new" / "x")[0] == tmp_path / "new" / "x.html"
    assert [*(tmp_path / "new").iterdir()] == []


def written_to(tmp_path, output=None, there=None, path="m.jsonl"):
    if there:
        (tmp_path / there).write_text('{"score": 1}')
    output_paths(tmp_path / path, output and tmp_path / output)


test_bad_outputs = refuses(
    written_to,
    ({"there": "m.html"}, "m.html: exists and was not written by calbias; choose another name"),
    ({"there": "m.json"}, "m.json: exists .* or replace it with --force"),
    ({"there": "m.json", "path": "m.json", "output": "m"}, "m.json: is a file that is read"),
    ({"there": "file", "output": "file/x"}, "file: no file can be written there"),
    ({"output": "/proc/x"}, "/proc: no file can be written there .*; choose another folder"),
    ({"output": "/proc/x/y"}, "/proc/x: no file can be written there"),
)


PAGE = '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{}<title>x</title>'
META = '<meta name="generator" content="calbias audit">'


@pytest.mark.parametrize(
    "text",
    [
        "year,plant,generator\n2020,1,coal\n",
        "x,generator\n1,calbias audit\n",
        "id,calbias_note,mine\n1,good,2\n",
        "id,calbias_note\n1,0.5\n",
        "calbias_score,mine\n0.5,2\n",
        "id,calbias_score\n1,better\n",
        "id,calbias_p_value\n1,0.03\n",
        "generator\ncalbias plan\n",
        '{"inputs": [{"generator": "calbias audit"}]}',
        '{"mine": 1, "generator": "calbias audit"}',
        '[{"generator": "calbias audit"}]',
        '{"generator": "calbias audit of mine"}',
        "# by the generator calbias plan\na,b\n1,2\n",
        PAGE.format(f"<!-- {META} -->"),
        PAGE.format("") + META,
        f"mine\n{PAGE.format(META)}",
        META,
        f"<pre>{META}</pre>",
    ],
)
def test_a_file_that_only_names_calbias_is_somebodys_work(folder, text):
    for name in ("x.html", "x.json", "x.csv"):
        Path(name).write_text(text)
        with pytest.raises(InputError, match=f"{name}: exists and was not written by calbias"):
            output_paths("rows.csv", "x", suffixes=(Path(name).suffix,))
        assert Path(name).read_text() == text


@pytest.mark.parametrize(
    "text", ["a;calbias_score\n1;0.5\n", 'a\tcalbias_p_0\tcalbias_p_1\n"two\nlines"\t\t\n', ""]
)
def test_a_recalibrated_table_is_of_calbias(folder, text):
    Path("x.csv").write_text(text)
    assert output_paths("rows.csv", "x", suffixes=(".csv",)) == (Path("x.csv"),)


test_a_name_that_is_no_file_is_refused = refuses(
    lambda output: output_paths("rows.csv", output),
    ("/dev/stdout", "--output /dev/stdout: no name of a file"),
    ("/dev/null", "no name of a file"),
    ("-", "no name of a file"),
    ("a\0b", "no name of a file"),
    ("..", "no name of a file"),
)


@pytest.mark.parametrize("state", ["x.html", "x.json", "./x.json", "../{}/x.html", "link/x.json"])
def test_a_state_of_the_name_of_another_output_is_refused(folder, refused, state):
    os.symlink(".", "link")
    with refused("--state and the page or its numbers have this name"):
        main(["watch", "days.csv", "--time", "day", "--output", "x", "--state",
              state.format(folder.name)])  # fmt: skip
    assert {*os.listdir()} == {"rows.csv", "days.csv", "link"}


def test_no_link_is_followed(folder, monkeypatch):
    """A link to somebody's file, under the name of an output or of a temporary file."""
    victim, target = Path("victim.txt"), Path("r.html")
    victim.write_text("mine")
    target.symlink_to(victim)
    with pytest.raises(InputError, match="exists and was not written by calbias"):
        output_paths("rows.csv", "r")
    output_paths("rows.csv", "r", force=True)
    write_texts({target: "page"})
    assert (victim.read_text(), target.read_text(), target.is_symlink()) == ("mine", "page", False)
    monkeypatch.setattr(outputs.secrets, "token_hex", lambda n: "guessed")
    Path(f".{os.getpid()}-guessed-r.html").symlink_to(victim)
    with pytest.raises(FileExistsError):
        write_texts({target: "new"})
    assert (victim.read_text(), target.read_text()) == ("mine", "page")
    Path("s.html").symlink_to("nowhere/else.html")
    write_texts({Path("s.html"): "page"})
    assert not Path("s.html").is_symlink()


def test_no_half_of_a_pair_is_left(folder, monkeypatch):
    """The disk is full at the second file: the first one is as it was."""
    first, second = Path("x.html"), Path("x.json")
    write_texts({first: "old", second: "old"})
    write_text = Path.write_text

    def full(path, text, **options):
        if path.suffix == ".json":
            raise OSError(errno.ENOSPC, "No space left on device")
        return write_text(path, text, **options)

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space") as error:
        write_texts({first: "new", second: "new"})
    assert error.value.filename == "x.json"
    assert (first.read_text(), second.read_text()) == ("old", "old")
    assert {*os.listdir()} == {"rows.csv", "days.csv", "x.html", "x.json"}


def test_files_are_readable_by_whom_the_mask_lets_and_in_order(folder, monkeypatch):
    moved = []
    replace = os.replace
    monkeypatch.setattr(os, "replace", lambda a, b: (moved.append(str(b)), replace(a, b)))
    mask = os.umask(0o027)
    try:
        write_texts({Path("a.html"): "x", Path("b.json"): "y", Path("c.json"): "z"})
    finally:
        os.umask(mask)
    assert moved == ["a.html", "b.json", "c.json"]
    assert os.stat("a.html").st_mode & 0o777 == 0o640
    with pytest.raises(RuntimeError), written_whole("d.txt"):
        raise RuntimeError
    assert "d.txt" not in os.listdir()


def test_columns_of_classes_are_called_probabilities(folder, capsys):
    rows = "".join(f"{k % 3},{k % 5}.5,{k % 7}.5,{k % 2}.5\n" for k in range(150))
    Path("z.csv").write_text(f"label,logit_0,logit_1,logit_2\n{rows}")
    main(["recalibrate", "z.csv", "--method", "temperature", "--quiet"])
    capsys.readouterr()
    main(["recalibrate", "z.csv", "--apply", "z_map.json"])
    header, first, *_ = capsys.readouterr().out.splitlines()
    assert header.endswith(",calbias_p_0,calbias_p_1,calbias_p_2")
    assert sum(map(float, first.split(",")[-3:])) == pytest.approx(1)
    assert json.loads(Path("z_map.json").read_text())["generator"] == "calbias recalibrate"
    assert calbias.Recalibrator.from_json(Path("z_map.json").read_text()).n_classes_ == 3
