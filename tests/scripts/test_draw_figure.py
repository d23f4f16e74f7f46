"""The command line that draws a figure: files, errors, and the same bytes every time."""

import pandas as pd
import pytest
from command import python

import draw_figure


@pytest.fixture
def arguments(tmp_path):
    rows = [
        ("beta_1_1_logistic", n, b, 12 + b / n, 0.1, 5.5, 12.0) for n in (200, 800) for b in (1, 9)
    ]
    columns = (
        "scenario n_samples n_bins mean_estimate_percent mean_estimate_se_percent "
        "mean_n_bins_sweep tce_percent"
    )
    pd.DataFrame(rows, columns=columns.split()).to_csv(tmp_path / "chosen.csv", index=False)
    scenario = ("chosen_bins", "beta_1_1_logistic", "", "synthetic", 1, 1, "logistic", -5, 10)
    columns = "experiment scenario group source alpha beta curve b0 b1"
    pd.DataFrame([scenario], columns=columns.split()).to_csv(tmp_path / "s.csv", index=False)
    bias = pd.DataFrame({"experiment": ["chosen_bins"], "n_replicates": [1000]})
    bias.to_csv(tmp_path / "bias.csv", index=False)
    return [
        *("--figure", "fig14_chosen_bins", "--table", f"chosen_bins={tmp_path / 'chosen.csv'}"),
        *("--table", f"scenarios={tmp_path / 's.csv'}", "--table", f"bias={tmp_path / 'bias.csv'}"),
        *("--output-png", str(tmp_path / "figures" / "a.png")),
        *("--output-pdf", str(tmp_path / "figures" / "a.pdf")),
    ]


def test_writes_png_and_pdf_and_nothing_else(arguments, tmp_path):
    draw_figure.main(arguments)
    assert (tmp_path / "figures/a.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "figures/a.pdf").read_bytes().startswith(b"%PDF")
    assert len(list((tmp_path / "figures").glob("[!.]*"))) == 2


def test_bytes_are_the_same_in_another_process_with_another_hash_seed(arguments, tmp_path):
    written = []
    for seed in ("1", "2"):
        draw = "import draw_figure, sys; draw_figure.main(sys.argv[1:])"
        python(draw, *arguments, PYTHONHASHSEED=seed)
        written.append([(tmp_path / f"figures/a.{kind}").read_bytes() for kind in ("png", "pdf")])
    assert written[0] == written[1]
    assert b"CreationDate" not in written[0][1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("fig14_chosen_bins", "fig99"), "--figure fig99: not known; choose one of"),
        (("scenarios=", "scenery="), "add --table scenarios=PATH.csv"),
        (("s.csv", "gone.csv"), "gone.csv: there is no such table"),
    ],
)
def test_a_mistake_is_one_line_on_stderr_and_status_2(arguments, change, message, refused):
    with refused(message):
        draw_figure.main([text.replace(*change) for text in arguments])


def test_no_interactive_backend_and_no_pyplot_is_loaded():
    code = (
        "import sys, draw_figure, calbias.figures.heatmaps, calbias.figures.fig3_fits;"
        "print([m for m in ('matplotlib.pyplot', 'seaborn', 'scipy.stats') if m in sys.modules])"
    )
    assert python(code).strip() == "[]"
