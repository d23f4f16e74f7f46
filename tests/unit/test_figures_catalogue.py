"""Which figure is drawn by which module, from which tables."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from made_up_tables import made_up_tables

from calbias.claims.ledger import read_claims
from calbias.io.table_schema import tables
from calbias.pipeline import figure_catalogue as catalogue

ROOT = Path(__file__).parents[2]
CAPTIONS = ROOT / "workflow" / "report"
PAPER = (
    *("fig1_intro", "fig2a_curves", "fig2b_bins_by_n", "fig3_fits", "fig4_realistic"),
    *("fig5_detection", "fig6_perfect", "fig13_tce_sweep", "fig14_chosen_bins"),
    *(f"fig{n}_bias_{m}" for n, m in ((7, "resnet110_c10"), (8, "resnet_wide32_c100"))),
    *(f"fig{n}_sd_{m}" for n, m in ((10, "resnet110_c10"), (11, "resnet_wide32_c100"))),
    *("fig9_bias_resnet152_imgnet", "fig12_sd_resnet152_imgnet", "table1_recalibration"),
)


def test_every_figure_of_the_paper_is_there():
    assert set(PAPER) | {"benchmark"} == set(catalogue.figures())


def test_tables_are_named_in_the_contracts():
    contracts = tables()
    for figure, entry in catalogue.figures().items():
        assert set(entry.tables) <= {*contracts, "models"}, figure


def test_made_up_tables_have_the_columns_of_the_contracts():
    contracts = tables()
    for stem, table in made_up_tables().items():
        if stem != "models":
            assert list(table) == contracts[stem]["columns"], stem


def test_captions_name_the_claims_that_rest_on_the_figure():
    claims = read_claims(ROOT / "resources/claims.csv")
    for figure in catalogue.figures():
        text = " ".join((CAPTIONS / f"{figure}.rst").read_text(encoding="utf-8").split())
        named = []
        for first, last in re.findall(r"R(\d\d)(?: to R(\d\d))?", text):
            named += range(int(first), int(last or first) + 1)
        resting = [int(c["id"][1:]) for c in claims if figure in c["figures"].split()]
        assert named == resting, figure


def test_every_figure_has_a_caption_that_names_it_and_the_data():
    for figure in catalogue.figures():
        text = (CAPTIONS / f"{figure}.rst").read_text(encoding="utf-8")
        kind = figure.split("_")[0]
        name = {"benchmark": "Benchmark", "table1": "Table 1"}.get(kind, f"Figure {kind[3:]}")
        assert text.startswith(f"**{name}**")
        assert "\nData: " in text


def test_captions_render_with_the_numbers_of_the_configuration():
    jinja2, core = pytest.importorskip("jinja2"), pytest.importorskip("docutils.core")
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    context = {"snakemake": SimpleNamespace(config=config)}
    for figure in catalogue.figures():
        text = (CAPTIONS / f"{figure}.rst").read_text(encoding="utf-8")
        rendered = jinja2.Environment().from_string(text).render(context)
        body = core.publish_parts(rendered, writer="html")["body"]
        assert "system-message" not in body, figure
        assert "snakemake" not in body
        if figure == "fig1_intro":
            assert f"{config['experiments']['intro']['replicates']} simulated" in " ".join(
                body.split()
            )


def test_the_first_screen_of_the_report_opens_the_ledger_and_counts_its_verdicts(tmp_path):
    jinja2, core = pytest.importorskip("jinja2"), pytest.importorskip("docutils.core")
    ledger = tmp_path / "claims.csv"
    ledger.write_text("id,verdict,note\nR1,reproduced,\nR2,approximate,x\nR3,approximate,\n")
    files = [SimpleNamespace(target="claims.csv", path=ledger)]
    text = (CAPTIONS / "workflow.rst").read_text("utf-8")
    text += "\n.. _2. Figures: javascript:a\n.. _3. Tables: javascript:b\n"  # as Snakemake does
    config = {"seed": 1, "replicates": 2}
    rendered = (
        jinja2.Environment()
        .from_string(text)
        .render(snakemake=SimpleNamespace(config=config), files=files)
    )
    body = core.publish_parts(rendered, writer="html")["html_body"]
    assert "system-message" not in body
    items = re.findall(r"<li>.*?<strong>(\d+)</strong> ([a-z ]+?)</", body, re.DOTALL)
    assert items == [("1", "reproduced"), ("2", "approximate")]
    assert "contentPath:results['results/ledger.html'].data_uri" in body.replace("&#x27;", "'")


def test_a_new_file_is_a_new_figure(tmp_path):
    (tmp_path / "mine.py").write_text('TABLES = ("bias",)\nEXPERIMENTS = ("intro",)\n')
    (tmp_path / "pair.py").write_text(
        'TABLES = ("bias",)\n\nFIGURES = {"a": {"experiment": "fits"}, "b": {}}\n'
    )
    (tmp_path / "helper.py").write_text("WIDTH = 3\n")
    assert catalogue.figures(tmp_path) == {
        "mine": ("mine", ("bias",), {}, ("intro",)),
        "a": ("pair", ("bias",), {"experiment": "fits"}, ("fits",)),
        "b": ("pair", ("bias",), {}, ()),
    }


def test_tables_that_are_not_a_literal_are_refused(tmp_path):
    (tmp_path / "mine.py").write_text("TABLES = tuple(x for x in y)\n")
    with pytest.raises(ValueError, match="malformed"):
        catalogue.figures(tmp_path)


def test_a_broken_file_leaves_the_other_figures_alone(tmp_path):
    (tmp_path / "broken.py").write_text("def draw(:\n")
    (tmp_path / "mine.py").write_text('TABLES = ("bias",)\n')
    assert list(catalogue.figures(tmp_path)) == ["broken", "mine"]
