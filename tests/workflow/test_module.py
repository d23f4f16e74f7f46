"""The workflow as a module of another one, with and without a prefix; storage."""

import shutil

import pytest
from checkout import SMOKE, Checkout, link_kernels

FIGURE = "results/figures/fig4_realistic.png"


@pytest.fixture
def user(fresh, tmp_path):
    """A workflow of a user's own, with all rules of calbias under names that begin with calbias."""

    def made(*lines):
        checkout = Checkout(tmp_path / "mine")
        checkout.path.mkdir()
        (checkout / "Snakefile").write_text(
            "module calbias:\n"
            + "".join(f"    {line}\n" for line in lines)
            + f'    snakefile: "{fresh / "workflow/Snakefile"}"\n'
            "    config: config\n\n"
            "use rule * from calbias as calbias_*\n"
        )
        (checkout / "part.yaml").write_text((fresh / SMOKE).read_text("utf-8"))
        link_kernels(checkout)
        return checkout

    return made


def test_without_any_configuration_it_plans_the_papers_figure(user):
    planned = user().planned(FIGURE, config=None)
    assert len(planned) <= 25
    assert all(job.startswith("calbias_") for job in planned)


def test_with_a_prefix_and_a_part_of_a_configuration_it_makes_the_figure(user):
    mine = user('prefix: "of_calbias"')
    mine.run("--", f"of_calbias/{FIGURE}", config="part.yaml")
    assert (mine / f"of_calbias/{FIGURE}").stat().st_size > 1000
    assert sorted(path.name for path in (mine / "results").iterdir()) == ["kernels"]


def test_results_in_a_storage_provider(fresh, tmp_path):
    """The file system's plugin in place of S3: results and their inputs are copied in and out."""
    pytest.importorskip("snakemake_storage_plugin_fs")
    if not shutil.which("rsync"):
        pytest.skip("the plugin copies with rsync")
    mine = Checkout(tmp_path / "mine", of=fresh.path)
    link_kernels(mine)
    bucket = tmp_path / "bucket"
    provider = ("--default-storage-provider", "fs", "--default-storage-prefix", str(bucket))
    mine.run(*provider, "--", FIGURE, config=SMOKE)
    assert (bucket / FIGURE).stat().st_size > 1000
    assert sorted(path.name for path in (mine / "results").iterdir()) == ["kernels"]
