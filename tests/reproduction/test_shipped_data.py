"""Shipped data: each file is the manifest's, has a licence, and is what it is said to be."""

import json
import shutil
import tomllib
from fnmatch import fnmatchcase

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from nightly import daily
from shipped import MANIFEST, RESOURCES, shipped, shipped_folds, shipped_path

import calbias
from calbias.errors import InputError
from calbias.reading.example import FILE as EXAMPLE
from pipeline.manifest import verify_shipped

ENTRIES = {entry["file"]: entry for entry in json.loads(MANIFEST.read_text("utf-8"))}
KINDS = ("outputs", "scores", "forecasts")
FIELDS = {"name", "kind", "rows", "what", "licence", "copyright", "origin", "done", "sha256"}


def test_every_data_file_has_its_line_and_every_line_its_file():
    folders = ("logits", *KINDS)
    tracked = {
        path.relative_to(RESOURCES).as_posix()
        for folder in folders
        for path in (RESOURCES / folder).iterdir()
        if path.suffix in (".npz", ".parquet") or path.name in ENTRIES
    }
    assert tracked | {file for file in ENTRIES if file.endswith(".p")} == set(ENTRIES)
    assert sum(len(shipped(kind)) for kind in KINDS) == len(ENTRIES)


def test_files_are_those_of_the_manifest():
    for file, entry in ENTRIES.items():
        assert set(entry) >= FIELDS, file
        assert shipped_path(entry["kind"], entry["name"]) == RESOURCES / file
        assert {"repository", "path"} <= set(entry["origin"]), file
        assert {"commit", "sha256"} & set(entry["origin"]), file
        assert (ROOT / f"LICENSES/{entry['licence']}.txt").is_file(), file


def test_reuse_and_the_manifest_name_one_licence():
    _, *notes = tomllib.loads((ROOT / "REUSE.toml").read_text("utf-8"))["annotations"]
    for file, entry in ENTRIES.items():
        [note] = [
            note
            for note in notes
            for pattern in np.atleast_1d(note["path"])
            if fnmatchcase(f"resources/{file}", pattern)
        ]
        assert note["SPDX-License-Identifier"] == entry["licence"], file
        assert entry["copyright"].removeprefix("(c) ") == note["SPDX-FileCopyrightText"], file


def test_the_example_of_the_package_is_the_snacks():
    snacks, text = pd.read_parquet(shipped_path("scores", "snacks")), EXAMPLE.read_text("utf-8")
    assert [*map(float, text.splitlines()[1].split(","))] == [*snacks.iloc[0]]
    scores, hits = calbias.example()
    np.testing.assert_array_equal(scores, snacks["score"])
    np.testing.assert_array_equal(hits, snacks["label"] == snacks["prediction"])
    assert EXAMPLE.stat().st_size <= 30_000


BY_SIZE = sorted(shipped("outputs"), key=lambda name: shipped("outputs")[name]["bytes"])


@pytest.mark.parametrize("name", daily(BY_SIZE, 3))
def test_folds_have_the_rows_of_the_manifest(name):
    entry, folds = shipped("outputs")[name], shipped_folds(name)
    assert {fold: len(of.labels) for fold, of in folds.items()} == entry["folds"]
    assert {of.logits.shape[1] for of in folds.values()} == {entry["classes"]}


def test_all_that_is_new_takes_less_than_14_megabytes():
    assert sum(entry["bytes"] for entry in ENTRIES.values() if entry["kind"] != "scores") < 14e6


@pytest.fixture
def damaged(tmp_path):
    """A copy of the manifest and of a small file of the folder ``outputs``."""
    (tmp_path / "outputs").mkdir()
    shutil.copyfile(MANIFEST, tmp_path / "manifest.json")
    return shutil.copyfile(RESOURCES / "outputs/imdb.npz", tmp_path / "outputs/imdb.npz")


def test_a_damaged_file_is_one_line_with_file_and_remedy(damaged):
    manifest = damaged.parents[1] / "manifest.json"
    whole = damaged.read_bytes()
    verify_shipped(damaged, manifest)
    other = (RESOURCES / "outputs/vgg16_c10.npz").read_bytes()
    for content, message in (
        (whole[:-100], "bytes, the published imdb has"),
        (whole[:500] + b"?" + whole[501:], "sha256 is"),
        (other, "bytes, the published imdb has"),
    ):
        damaged.write_bytes(content)
        with pytest.raises(InputError) as error:
            verify_shipped(damaged, manifest)
        text = str(error.value)
        assert str(damaged) in text
        assert message in text
        assert "restore it (git checkout)" in text
        assert len(text.splitlines()) == 1
    damaged.write_bytes(whole)
    manifest.write_text(
        manifest.read_text().replace(ENTRIES["outputs/imdb.npz"]["sha256"], "0" * 64)
    )
    with pytest.raises(InputError, match="sha256 is"):
        verify_shipped(damaged, manifest)
    manifest.write_text("[{}]")
    with pytest.raises(InputError, match="restore the manifest"):
        verify_shipped(damaged, manifest)


def test_a_file_that_is_not_listed_is_the_users(tmp_path):
    (tmp_path / "mine.npz").write_bytes(b"mine")
    verify_shipped(tmp_path / "mine.npz", MANIFEST)
