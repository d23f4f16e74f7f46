"""``calbias audit``, ``plan`` and ``compare``: files in, page, JSON and tables out, errors."""

import json
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest
from html_page import Page, axe_violations
from nightly import daily
from predictions import classed, scored, written

import calbias
from calbias.auditing.error.estimator_bias import ESTIMATORS
from calbias.auditing.error.within import gate_of, rows_to_decide
from calbias.auditing.page.page import of_events
from calbias.auditing.verdict.words import PARTS
from calbias.command import main

FAST = ["--quiet"]


def test_a_file_becomes_a_page_and_the_same_numbers(tmp_path, capsys):
    file = written(classed(), tmp_path / "mine.csv")
    main(["audit", str(file), *FAST])
    found = json.loads((tmp_path / "mine.json").read_text(encoding="utf-8"))
    screen = capsys.readouterr()
    assert found["sentence"] == screen.out.strip()
    assert [f"warning: {text}" for text in found["warnings"]] == screen.err.splitlines()
    assert (found["n"], found["description"]["n_classes"]) == (300, 3)
    assert "estimates" not in found
    text = (tmp_path / "mine.html").read_text(encoding="utf-8")
    page = Page(text)
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    assert set(page.scopes) == {"row", "col"}
    [pictures] = re.findall('<div class="panels">.*?</div>', text, re.DOTALL)
    assert "svg" in ElementTree.fromstring(pictures)[0].tag  # well-formed


def test_subgroups_and_classes(tmp_path, capsys):
    """What users write is escaped in the page."""
    table = classed()
    table["site"] = np.where(np.arange(300) % 4, "<b>&x</b>", "b")
    file = written(table, tmp_path / "mine.parquet")
    options = ["--by", "site", "--class-wise", "--output", str(tmp_path / "a&b")]
    main(["audit", str(file), *options, *FAST])
    found = json.loads((tmp_path / "a&b.json").read_text(encoding="utf-8"))
    sizes = {row["segment"]: row["n"] for row in found["subgroups"]["table"]}
    assert sizes == {"all rows": 300, "site = <b>&x</b>": 225, "site = b": 75}
    assert [row["group"] for row in found["classes"]] == ["p_0", "p_1", "p_2"]
    assert found["classes"][1]["accuracy"] == pytest.approx(np.mean(table["label"] == 1))
    floors = calbias.noise_floor(table.filter(like="p_").to_numpy(), table["label"].to_numpy())
    value = f"classwise_ece_mean {floors.value:.4g};"  # floors are redrawn
    assert any(value in note for note in found["notes"])
    assert not any("Holm" in note for note in found["notes"])  # the table alone judges a class
    bad = sum(row["finding"] == "miscalibrated" for row in found["classes"])
    screen = capsys.readouterr().out
    assert f"{bad} of 3 classes miscalibrated" in screen
    assert found["subgroups"]["sentence"] in screen  # nothing was found, and is not said above
    assert all(0 <= row["corrected"] < 1 for row in found["classes"])
    page = (tmp_path / "a&b.html").read_text(encoding="utf-8")
    assert "Whom does it fail?" in page
    assert "<b>" not in page
    assert "&lt;b&gt;&amp;x" in page
    assert "a&amp;b.json" in page
    assert not (tmp_path / "mine.html").exists()


PAGES = {
    "events in subgroups": (scored().rename(columns={"hit": "label"}), ["--by", "site"]),
    "classes": (classed(), ["--class-wise"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", daily(PAGES, 1))
def test_axe_finds_nothing_wrong_in_a_page(tmp_path, name):
    table, options = PAGES[name]
    main(["audit", str(written(table, tmp_path / "mine.csv")), *options, *FAST])
    assert axe_violations((tmp_path / "mine.html").read_text(encoding="utf-8"), tmp_path) == []


ROWS = "score,hit\n0.5,1\n0.7,0\n"


@pytest.mark.parametrize(
    ("content", "arguments"),
    [
        *(("", []), (ROWS, ["--by", "site"]), (ROWS, ["--by", "hit"]), (ROWS, ["--by", "score"])),
        *((ROWS, ["--class-wise"]), (ROWS, ["--norm", "3"]), (ROWS, ["--n-bins=x"])),
    ],
)
def test_mistakes_are_one_line_with_status_2_and_nothing_is_written(
    tmp_path, capsys, content, arguments
):
    if content:
        (tmp_path / "mine.csv").write_text(content)
    with pytest.raises(SystemExit) as stop:
        main(["audit", str(tmp_path / "mine.csv"), "--quiet", *arguments])
    assert stop.value.code == 2
    [line] = [x for x in capsys.readouterr().err.splitlines() if not x.startswith("warning")]
    assert line.startswith("error: ")
    assert {path.name for path in tmp_path.iterdir()} <= {"mine.csv"}


def test_without_a_command_the_help_is_printed_and_a_wrong_one_is_told_of_it(capsys):
    main([])
    assert "compare" in capsys.readouterr().out
    levels = ["audit", "a", "--confidence-level", "10"], ["watch", "a", "--time=t", "--level", "0"]
    for arguments in (["audti"], ["audit"], ["audit", "a", "--n-bins=x"], *levels):
        with pytest.raises(SystemExit):
            main(arguments)
        (line,) = capsys.readouterr().err.splitlines()
        assert (line[:7], line[-6:]) == ("error: ", "--help")


@pytest.mark.parametrize(
    ("percent", "status", "said"),
    [
        ("30", 0, "error at most 30 %: yes."),
        ("1", 3, "error at most 1 %: no."),
        ("12", 4, r"error at most 12 %: undecided, about [0-9]+ rows would decide."),
        ("0.05", 2, "0.05 could be 5 % or 0.05 %: write 5 or 0.05%; see calbias audit --help"),
        ("0.05%", 3, "error at most 0.05 %: no."),
        ("101", 2, "must be a percentage from 0 to below 100, such as 5, not 101; see calbias"),
        ("x", 2, "--within: must be a percentage from 0 to below 100, such as 5, not x; see"),
    ],
)
def test_the_gate_has_a_status_for_each_answer(tmp_path, capsys, percent, status, said):
    rows = "".join(f"0.9,{int(k % 5 > 0)}\n" for k in range(200))  # 90 % said, 80 % true
    (tmp_path / "mine.csv").write_text(f"score,hit\n{rows}")
    with pytest.raises(SystemExit) as stop:
        main(["audit", str(tmp_path / "mine.csv"), "--within", percent, *FAST])
    assert stop.value.code == status
    [line] = [x for x in "".join(capsys.readouterr()).splitlines() if not x.startswith("warning")]
    assert re.search(said, line)


def test_the_gate_stands_in_the_line_the_page_and_the_numbers(tmp_path, capsys):
    """Site 1 is right in 55 of 100 rows, site 0 in 85, and 70 % is said: it decides the answer."""
    hits = [int(k % 20 < (11 if k % 40 > 19 else 17)) for k in range(2000)]
    sites = [int(k % 40 > 19) for k in range(2000)]
    table = pd.DataFrame({"score": 0.7, "hit": hits, "site": sites})
    words = ["--by", "site", "--within", "5", *FAST]
    with pytest.raises(SystemExit) as stop:
        main(["audit", str(written(table, tmp_path / "mine.csv")), *words])
    assert stop.value.code == 3
    line, more = capsys.readouterr().out.splitlines()
    found = json.loads((tmp_path / "mine.json").read_text(encoding="utf-8"))
    page = (tmp_path / "mine.html").read_text(encoding="utf-8").replace("\u00a0", " ")
    gate = found["within"]
    assert (gate["limit"], gate["answer"], gate["rows_needed"]) == (0.05, "no", None)
    assert gate["where"] in ("site = 0", "site = 1")
    assert 0.05 < gate["low"] < 0.15 < gate["high"]
    assert found["options"]["within"] == 0.05
    said = f"error at most 5 %: no, {gate['reason']}"
    for text in (line, found["sentence"]):
        assert text.endswith(f"; {said}.")
    assert said[1:] in page
    assert "p = " not in more  # the first line has it


def test_rows_that_would_decide_by_hand():
    # the high end is 6 points from the estimate and must come to 2: nine times as many rows
    assert rows_to_decide(0.03, (0.0, 0.09), 0.05, 100) == pytest.approx(900)
    # the low end, cut off at 0, is taken as 4.5 points away and must come to 1
    assert rows_to_decide(0.03, (0.0, 0.09), 0.02, 100) == pytest.approx(100 * 4.5**2)
    undecided = gate_of(0.05, (0.0, 0.09), 0.05, (10, "clusters"))
    assert undecided.sentence == "undecided, ten million clusters would not decide"


def test_compare_by_command_and_the_gate_of_two_models(tmp_path, capsys):
    a, b = (written(scored().assign(score=p), tmp_path / f"{p}.csv") for p in (0.7, 0.95))
    out = tmp_path / "found.json"
    options = ["--cluster", "row", "--confidence-level", "80", "--output", str(out)]
    for files, status, more in (((a, b), 0, options), ((b, a), 3, [])):
        with pytest.raises(SystemExit) as stop:
            main(["compare", *map(str, files), "--within", "2", *more])
        assert stop.value.code == status
    first, second = capsys.readouterr().out.splitlines()
    assert second.endswith("0.95 no worse than 0.7 by more than 2 points: no.")
    found = json.loads(out.read_text(encoding="utf-8"))
    assert (found["n"], found["n_clusters"]) == (300, 100)
    assert found["options"] == {"confidence_level": 0.8, "seed": 0, "within": 0.02}
    assert first == found["sentence"]
    assert (found["within"]["limit"], found["within"]["answer"]) == (0.02, "yes")
    short = written(scored(50), tmp_path / "short.csv")
    with pytest.raises(SystemExit):
        main(["compare", str(a), str(short)])


def test_clusters_the_level_and_all_estimators_by_command(tmp_path):
    table = scored(300).assign(benchmark=np.arange(300) % 3, question=np.arange(300) % 20)
    file = written(table, tmp_path / "mine.csv")
    options = ["--cluster", "benchmark", "--cluster", "question", "--confidence-level", "80"]
    main(["audit", str(file), *options, "--all", "--replicates", "20", *FAST])
    found = json.loads((tmp_path / "mine.json").read_text(encoding="utf-8"))
    assert (found["n_clusters"], found["confidence_level"]) == (60, 0.8)
    assert len(found["estimates"]) == len(ESTIMATORS)
    assert "60 clusters" in (tmp_path / "mine.html").read_text(encoding="utf-8")


def test_an_event_has_words_of_its_own(tmp_path, capsys):
    table = scored(300).rename(columns={"score": "y_prob", "hit": "y_true"})
    main(["audit", str(written(table, tmp_path / "mine.csv")), *FAST])
    assert "300 risks of an event" in capsys.readouterr().out
    text = (tmp_path / "mine.html").read_text(encoding="utf-8")
    for words in ("Prevalence", "Share of events", "Mean risk", of_events(PARTS["level"])):
        assert words in text
    for words in ("Accuracy", "Share of hits", "Mean score", "hits redrawn", PARTS["level"]):
        assert words not in text
