import reproduce


def test_summary_counts_what_is_there(tmp_path):
    for path in ("figures/a.png", "figures/a.pdf", "figures/b.png", "tables/bias.csv"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).touch()
    (tmp_path / "tables/claims.csv").write_text(
        "id,verdict\nR01,reproduced\nR02,reproduced\nR03,approximate\n"
    )
    text = reproduce.summary(tmp_path, 90)
    assert "1.5 minutes: 2 figures, 2 tables" in text
    assert "2 reproduced, 1 approximate" in text
    assert str(tmp_path / "ledger.html") in text
