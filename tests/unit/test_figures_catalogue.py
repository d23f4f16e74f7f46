"""Which figure is drawn by which module, from which tables."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from calbias.claims.ledger import all_claims
from calbias.errors import InputError
from calbias.io.table_schema import tables
from calbias.pipeline import catalogue
from calbias.truth.paper import HEATMAP_MODELS

ROOT = Path(__file__).parents[2]
CAPTIONS = ROOT / "workflow" / "report"
PAPER = (
    *("fig1_intro", "fig2a_curves", "fig2b_bins_by_n", "fig3_fits", "fig4_realistic"),
    *("fig5_detection", "fig6_perfect"),
    *(f"fig{n}_bias_{model}" for n, model in enumerate(HEATMAP_MODELS, start=7)),
    *(f"fig{n}_sd_{model}" for n, model in enumerate(HEATMAP_MODELS, start=10)),
    *("fig13_tce_sweep", "fig14_chosen_bins", "table1_recalibration"),
    *("guo_fig1_confidence", "guo_fig4_recalibrated", "gupta_fig1_calibration"),
)
BEYOND = (
    *("benchmark", "interval_coverage", "league_errors", "league_full_errors"),
    *("predicted_bias", "test_power"),
)


def test_every_figure_is_there_in_the_papers_order_with_place_and_title():
    assert list(catalogue.figures()) == [*PAPER, *BEYOND]
    for figure, entry in catalogue.figures().items():
        caption = (CAPTIONS / f"{figure}.rst").read_text(encoding="utf-8")
        assert caption.startswith(f"**{entry.place}**")
        assert len(entry.title) > 15
        assert "\nData: " in caption


def test_tables_are_named_in_the_contracts():
    contracts = tables()
    for figure, entry in catalogue.figures().items():
        assert set(entry.tables) <= {*contracts, "models"}, figure


def test_captions_name_the_claims_that_rest_on_the_figure():
    claims = all_claims()
    for figure in catalogue.figures():
        text = " ".join((CAPTIONS / f"{figure}.rst").read_text(encoding="utf-8").split())
        named = []
        for paper, first, last in re.findall(r"([RCGS])(\d\d)(?: to [RCGS](\d\d))?", text):
            named += [f"{paper}{k:02}" for k in range(int(first), int(last or first) + 1)]
        resting = [c.id for c in claims if figure in c.figures.split()]
        assert named == resting, figure


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
    (tmp_path / "mine.py").write_text('TABLES = ("bias",)\nEXPERIMENTS = ("intro",)\nTITLE = "y"\n')
    (tmp_path / "pair.py").write_text(
        'TABLES = ("bias",)\n\nFIGURES = {"fig10a_a": {"experiment": "fits"}, "fig2_b": '
        '{"experiment": "intro"}}\nTITLE = "of {experiment}"\n'
    )
    (tmp_path / "helper.py").write_text("WIDTH = 3\n")
    figures = catalogue.figures(tmp_path)
    assert list(figures) == ["fig2_b", "fig10a_a", "mine"]
    assert figures == {
        "fig2_b": ("pair", ("bias",), {"experiment": "intro"}, ("intro",), "Figure 2", "of intro"),
        "fig10a_a": ("pair", ("bias",), {"experiment": "fits"}, ("fits",), "Figure 10a", "of fits"),
        "mine": ("mine", ("bias",), {}, ("intro",), "Mine", "y"),
    }


def test_tables_that_are_not_a_literal_are_refused(tmp_path):
    (tmp_path / "mine.py").write_text("TABLES = tuple(x for x in y)\n")
    with pytest.raises(InputError, match=r"line 1: TABLES must be written out"):
        catalogue.figures(tmp_path)


def test_a_broken_file_leaves_the_other_figures_alone(tmp_path):
    (tmp_path / "broken.py").write_text("def draw(:\n")
    (tmp_path / "mine.py").write_text('TABLES = ("bias",)\n')
    assert list(catalogue.figures(tmp_path)) == ["broken", "mine"]
