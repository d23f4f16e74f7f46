"""Files that add something: docs/workflow/extend.md runs; which file draws which figure."""

import re

import jinja2
import pandas as pd
import pytest
from checkout import ROOT
from claims_data import CLAIMS, TABLES, experiment

from calbias.errors import InputError
from pipeline import catalogue, guests
from pipeline.claims.ledger import all_claims, judge
from pipeline.claims.run_tables import RunTables
from pipeline.figures import style
from pipeline.paper import BINNED, HEATMAP_MODELS
from pipeline.steps.draw_figure import draw_figure
from pipeline.table_schema import tables
from reproduction.figures import fig3_fits


def test_what_a_figure_or_a_claim_lacks_is_said_in_one_line(monkeypatch, tmp_path):
    """What an estimator lacks: test_estimation.py."""
    monkeypatch.delattr(fig3_fits, "draw")
    monkeypatch.setattr("pipeline.steps.draw_figure.read_tables", lambda paths: {})
    paths = dict.fromkeys(catalogue.figures()["fig3_fits"].tables, tmp_path)
    to = dict.fromkeys(("output_png", "output_pdf", "output_csv"), tmp_path)
    with pytest.raises(InputError, match=r"fig3_fits.py: define draw\(tables\) in it"):
        draw_figure(tables=paths, figure="fig3_fits", **to)
    claim = CLAIMS["R01"]._replace(judge=lambda run: "reproduced")
    with pytest.raises(InputError, match=r"py: claim R01: its rule must return a Ruling"):
        judge(claim, RunTables(TABLES))


def example(first_line):
    """Run the example of docs/workflow/extend.md that begins so; return its names."""
    blocks = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs/workflow/extend.md").read_text("utf-8"), re.DOTALL
    )
    [text] = [block for block in blocks if block.startswith(f'"""{first_line}')]
    names = {}
    exec(text, names)
    return names


def test_the_example_of_a_figure_is_drawn_and_that_of_a_claim_judged():
    tables = {**TABLES, "bias": experiment("realistic", 1.0, BINNED)}
    names = example("Standard deviations")
    [axes] = style.drawn(names["draw"], {name: tables[name] for name in names["TABLES"]}).axes
    assert len(axes.patches) == len(BINNED)
    assert example("C90")["none_varies_much_more"].judge(RunTables(tables)).verdict == "reproduced"


def captions():
    """Yield each figure of the papers with its Entry and its caption, filled in."""
    for figure, entry in catalogue.figures(guests.MAIN).items():
        text = catalogue.caption_file(guests.MAIN, figure, entry).read_text(encoding="utf-8")
        template = jinja2.Template(text, undefined=jinja2.ChainableUndefined)
        yield figure, entry, template.render(snakemake={"params": {"figure": figure}})


def test_every_figure_has_a_caption_of_its_place_and_tables_of_the_schema():
    entries = catalogue.figures(guests.MAIN)
    assert {f"fig7_bias_{HEATMAP_MODELS[0]}", "fig4_realistic"} <= set(entries)
    for figure, entry, caption in captions():
        assert caption.startswith(f"**{entry.place}**")
        assert "\nData: " in caption
        assert set(entry.tables) <= {*tables(), "models"}, figure


def test_captions_name_the_claims_that_rest_on_the_figure():
    for figure, _, caption in captions():
        text = " ".join(caption.split())
        named = []
        for paper, first, last in re.findall(r"([RCGSN])(\d\d)(?: to [RCGSN](\d\d))?", text):
            named += [f"{paper}{k:02}" for k in range(int(first), int(last or first) + 1)]
        assert named == [c.id for c in all_claims() if figure in c.figures.split()], figure


@pytest.fixture
def guest(tmp_path):
    """A guest workflow, with an empty folder of figures."""
    (tmp_path / "scripts/guest/figures").mkdir(parents=True)
    (tmp_path / "scripts/guest/__init__.py").touch()
    return guests.in_folder(tmp_path)


def test_a_guest_whose_steps_cannot_be_found_is_refused(guest):
    (guest.scripts / "guest/steps").mkdir()
    (guest.scripts / "guest/steps/count.py").touch()
    (guest.scripts / "guest/__init__.py").unlink()
    with pytest.raises(InputError, match=r"scripts/guest is no package, .* put an empty __init__"):
        guests.join(guest.root)


def test_a_new_file_is_a_new_figure(guest):
    for name, text in {
        "mine": 'TABLES = ("bias",)\nEXPERIMENTS = ("intro",)\nTITLE = "y"\n',
        "pair": 'TABLES = ("bias",)\n\nFIGURES = {"fig10a_a": {"experiment": "fits"}, "fig2_b": '
        '{"experiment": "intro"}}\nTITLE = "of {experiment}"\n',
        "helper": "WIDTH = 3\n",
    }.items():
        (guest.scripts / f"guest/figures/{name}.py").write_text(text)
    names, figures = zip(*catalogue.figures(guest).items(), strict=True)
    assert names == ("fig2_b", "fig10a_a", "mine")
    figures = tuple(f._replace(module=f.module.rpartition(".")[2]) for f in figures)
    assert figures == (
        ("pair", ("bias",), {"experiment": "intro"}, ("intro",), "Figure 2", "of intro"),
        ("pair", ("bias",), {"experiment": "fits"}, ("fits",), "Figure 10a", "of fits"),
        ("mine", ("bias",), {}, ("intro",), "Mine", "y"),
    )
    mine = guest.scripts / "guest/figures/mine.py"
    mine.write_text("TABLES = tuple(x for x in y)\n")
    with pytest.raises(InputError, match=r"line 1: TABLES must be written out"):
        catalogue.figures(guest)
    mine.write_text('TABLES = ("bia",)\n')
    with pytest.raises(InputError, match=r"TABLES: 'bia'\? Did you mean bias"):
        catalogue.figures(guest)


def test_a_figure_needs_a_caption(monkeypatch, tmp_path):
    without = guests.MAIN._replace(report=tmp_path)
    monkeypatch.setattr(catalogue, "workflows", lambda: (without,))
    with pytest.raises(InputError, match=r"\.rst: no such file; write the caption"):
        catalogue.validate()


def test_figure_3_tells_ten_models_of_one_group_apart():
    models = pd.DataFrame({"model": [f"mine_{k}" for k in range(10)], "group": "own"})
    for name in ("linestyle", "marker"):
        looks = {(look["color"], look[name]) for look in fig3_fits.looks(models).values()}
        assert len(looks) == 10


KNOWN = (*BINNED, "ece_label_binned_em", "ece_label_binned_ew", "kde", "kde_unrooted")


def test_known_estimators_look_different_and_an_unknown_family_has_a_look_of_its_own():
    styles = [style.estimator_style(name) for name in KNOWN]
    names = ("color", "marker", "linestyle", "markerfacecolor")
    assert len({tuple(str(look[name]) for name in names) for look in styles}) == len(KNOWN)
    look = style.estimator_style("my_smooth_em")
    assert look == style.estimator_style("my_smooth_em")
    assert look["color"] == style.estimator_style("my_smooth_ew")["color"]
    assert (look["color"], look["marker"]) not in style.FAMILIES.values()


def test_order_is_that_of_the_families_whatever_came_first():
    shuffled = ("kde", "zeta", "ece_bin_ew", "ece_sweep_em", "ece_bin_em", "alpha_em")
    expected = ["ece_bin_em", "ece_bin_ew", "ece_sweep_em", "kde", "alpha_em", "zeta"]
    assert style.estimator_order(shuffled) == expected


def test_a_rule_whose_step_is_gone_is_one_line(guest, monkeypatch):
    guest.rules.mkdir()
    monkeypatch.setattr(catalogue, "workflows", lambda: (guests.MAIN, guest))
    for file in (guest.rules / "a.smk", guest.root / "Snakefile"):
        file.write_text('rule a:\n    params:\n        **given("fit_modle"),\n')
        with pytest.raises(InputError, match=rf"{file.name}: unknown step 'fit_modle'.*fit_model"):
            catalogue.validate()
        file.unlink()
