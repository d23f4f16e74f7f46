"""Tables are read and written in one place: round trips, damage, and the schema."""

import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from refusals import refuses_texts

from calbias.errors import InputError
from pipeline.guests import MAIN
from pipeline.steps.describe_tables import describe_tables
from pipeline.table_schema import column_meanings, columns_of, tables
from pipeline.tables import joined_tables, read_rows, read_table, write_table
from pipeline.write_results import record_of, written_whole

FRAME = pd.DataFrame({"name": ["a", "ü"], "value": [0.1 + 0.2, np.nan]}).assign(
    count=pd.array([1, None]), ok=True
)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_what_is_written_is_read_back(tmp_path, suffix):
    path, again = tmp_path / f"x.{suffix}", tmp_path / "again.csv"
    write_table(path, list(FRAME), FRAME)
    back = read_table(path)
    assert back["value"].tolist() == pytest.approx([0.1 + 0.2, np.nan], rel=0, abs=0, nan_ok=True)
    assert back["ok"].tolist() == [True, True]
    write_table(again, list(FRAME), back.astype({"count": "Int64"}))
    expected = "name,value,count,ok\na,0.30000000000000004,1,True\nü,,,True\n"
    assert again.read_text("utf-8") == expected


@pytest.mark.parametrize("rows", [[{"b": 2, "a": 1}], [(1, 2)], pd.DataFrame({"b": [2], "a": [1]})])
def test_rows_of_any_form_in_the_order_of_the_columns(tmp_path, rows):
    write_table(tmp_path / "x.csv", ("a", "b"), rows)
    assert (tmp_path / "x.csv").read_text() == "a,b\n1,2\n"


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_rows_make_the_file_that_a_dataframe_makes(tmp_path, suffix):
    rows = [
        {"name": "a,ü", "value": 0.1 + 0.2, "count": 3, "ok": True, "gap": np.nan, "no": None},
        {"name": None, "value": np.float64(1e-300), "count": np.int64(4), "ok": np.False_,
         "gap": True, "no": None},
        {"name": '"', "value": np.inf, "count": -5, "ok": True, "gap": None, "no": None},
    ]  # fmt: skip
    for some in (rows, rows[:1], rows * 4):
        paths = [tmp_path / f"{name}.{suffix}" for name in ("rows", "frame")]
        for path, given in zip(paths, (some, pd.DataFrame(some)), strict=True):
            write_table(path, list(rows[0]), given)
        assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_part_without_rows_has_the_columns_of_its_table_too(tmp_path):
    part, empty = tmp_path / "a.csv", tmp_path / "b.csv"
    write_table(part, "bias", [dict.fromkeys(columns_of("bias"), 1)])
    write_table(empty, "bias", pd.DataFrame([]))
    assert len(joined_tables([part, empty], "bias")) == 1
    empty.with_name(".b.csv.sha256").unlink()
    empty.write_text("x,y\n")
    with pytest.raises(InputError, match=r"b\.csv: no column"):
        joined_tables([part, empty], "bias")


def test_no_rows(tmp_path):
    write_table(tmp_path / "x.csv", ("a", "b"), [])
    assert (tmp_path / "x.csv").read_text() == "a,b\n"
    assert read_table(tmp_path / "x.csv").empty
    assert read_rows(tmp_path / "x.csv", ["a"]) == []


@pytest.mark.parametrize("row", [{"a": 1}, {"a": 1, "b": 2, "c": 3}])
def test_other_columns_than_the_schema_are_a_programming_error(tmp_path, row):
    with pytest.raises(ValueError, match=r"x\.csv: the rows and the table's columns differ"):
        write_table(tmp_path / "x.csv", ("a", "b"), [row])


def test_same_bytes_each_time(tmp_path):
    for name in "xy":
        write_table(tmp_path / f"{name}.parquet", list(FRAME), FRAME)
    assert (tmp_path / "x.parquet").read_bytes() == (tmp_path / "y.parquet").read_bytes()


def flipped(content):
    return content[:60] + bytes([content[60] ^ 1]) + content[61:]  # in a Parquet's first page


DAMAGES = {"cut": lambda content: content[: len(content) // 2], "emptied": lambda content: b"",
           "flipped": flipped}  # fmt: skip


def damaged(path, damage):
    """Write a table, and then other bytes in its place."""
    write_table(path, ["value"], pd.DataFrame({"value": np.random.default_rng(1).random(1000)}))
    content = path.read_bytes()
    path.write_bytes(DAMAGES[damage](content) if damage in DAMAGES else b"value\n1\n2\n")
    return path


@pytest.mark.parametrize("read", [read_table, read_rows])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("damage", [*DAMAGES, "exchanged"])
def test_a_table_changed_after_it_was_made_is_refused(tmp_path, read, suffix, damage):
    path = damaged(tmp_path / f"x.{suffix}", damage)
    with pytest.raises(InputError, match=rf"delete .*x\.{suffix} and run snakemake again"):
        read(path)
    path.unlink()
    write_table(path, ["value"], [(1,)])
    assert len(read(path)) == 1


@pytest.mark.parametrize("read", [read_table, read_rows])
@pytest.mark.parametrize("damage", DAMAGES)
def test_parquet_detects_damage_by_itself(tmp_path, read, damage):
    path = damaged(tmp_path / "x.parquet", damage)
    record_of(path).unlink()
    with pytest.raises(InputError, match=r"x\.parquet: damaged.*delete it and run snakemake"):
        read(path)


def test_a_table_of_the_users_own_has_no_checksum_and_the_lines_that_an_editor_shows(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b'\xef\xbb\xbfa,b\n1,"x\ny"\n\n2,z\n')
    assert read_table(path)["a"].tolist() == [1, 2]
    assert [(line, row["a"]) for line, row in read_rows(path, ["a"])] == [(2, "1"), (5, "2")]


test_csv_files_that_are_refused = refuses_texts(
    partial(read_rows, columns=("a", "b")),
    "x.csv",
    (b"", "the file is empty"),
    (b"a,c\n1,2\n", "no column b; it needs the columns a, b"),
    (b"a\tb\n1\t2\n", "separated by tabs; use commas"),
    (b"a,b,a\n1,2,3\n", "column a is there twice"),
    (b"a,b\n\n1,2\n3\n", "line 4: 1 cell, but 2 columns"),
    (b'a,b\n1,"2\n', "not a CSV table"),
    (b"a,b\n1,\xff\n", "not in UTF-8"),
)


def test_the_schema_explains_every_column_once():
    used = {name for table in tables() for name in columns_of(table)}
    assert used == set(column_meanings())
    for name, entry in column_meanings().items():
        assert entry["meaning"]
        assert (entry.get("unit") == "percent") == name.endswith("_percent")
    assert all(len(set(columns_of(table))) == len(columns_of(table)) for table in tables())
    text = (MAIN.schemas / "tables.yaml").read_text("utf-8").partition("\ncolumns:\n")[2]
    keys = [line.partition(":")[0].strip() for line in text.splitlines() if ":" in line]
    assert len(keys) == len(set(keys))  # YAML would take the last one


def test_a_table_that_the_schema_lacks_is_refused_with_the_nearest_name():
    with pytest.raises(InputError, match=r"unknown table in tables.yaml.*noise_floors"):
        columns_of("noise_flors")


def test_the_data_dictionary_can_be_read_alone(tmp_path):
    describe_tables(output=tmp_path / "README.csv")
    rows = read_rows(tmp_path / "README.csv", ("table", "column", "unit", "meaning"))
    found = {(row["table"], row["column"]): row for _, row in rows}
    assert {table for table, _ in found} == set(tables(MAIN))
    assert len(rows) == len(found) == sum(1 + len(columns_of(table)) for table in tables(MAIN))
    assert found["bias", ""]["meaning"] == tables()["bias"]["caption"]
    assert found["bias", "bias_percent"]["unit"] == "percent"
    assert "real_scores, scores of the top class" in found["beta_fits", "source"]["meaning"]
    leaning = re.compile(r"likewise|…|^(its|their|the same (?!method))|\bof (that|this) ")
    assert [row for row in found.values() if leaning.search(row["meaning"])] == []


def test_a_full_disk_names_the_file(tmp_path):
    """The system names none where a write fails, and the temporary file is nobody's."""
    for named in (None, "temporary"):
        with (
            pytest.raises(OSError, match="No space left") as caught,
            written_whole(tmp_path / "table.csv") as temporary,
        ):
            raise OSError(28, "No space left on device", named and str(temporary))
        assert caught.value.filename == str(tmp_path / "table.csv")
    assert not [*tmp_path.iterdir()]
