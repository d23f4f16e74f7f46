from command import run

README = "# A\n<!-- numbers: begin (by hand) -->\nold\n<!-- numbers: end -->\nrest\n"


def tables(folder):
    (folder / "claims.csv").write_text("id,verdict\nR01,reproduced\nR02,approximate\n")
    (folder / "benchmark.csv").write_text(
        "work,implementation,baseline,n_scores,seconds,baseline_seconds,ratio_median,ratio_low,"
        "ratio_high\nfig4_grid_six_binned,calbias,numpy_beta_draw,1000000,0.005,0.035,7.0,6.5,7.5\n"
    )
    return folder


def test_numbers_between_the_markers_come_from_the_tables(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(README)
    run("write_numbers", tables=tables(tmp_path), documents=readme, machine="a PC")
    text = readme.read_text()
    assert "1 reproduced, 1 approximate" in text
    assert "7.0 times the speed" in text
    assert "5.0 ns per score" in text
    assert "cost 2 core-minutes" in text  # 5 ns × 254e6 scores × 100
    assert "a PC" in text
    assert text.startswith("# A\n")
    assert text.endswith("rest\n")
    assert "old" not in text


def test_a_marker_that_names_topics_gets_these_alone(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(README.replace("begin (", "begin claims floor ("))
    run("write_numbers", tables=tables(tmp_path), documents=readme)
    assert "2 claims**: 1 reproduced" in readme.read_text()
    assert "speed" not in readme.read_text()


def test_missing_markers_are_refused_and_nothing_is_changed(tmp_path, refused):
    readme = tmp_path / "README.md"
    readme.write_text("nothing\n")
    with refused("put the lines"):
        run("write_numbers", tables=tmp_path, documents=readme)
    assert readme.read_text() == "nothing\n"
