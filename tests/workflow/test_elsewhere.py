"""Outside the checkout: results go where Snakemake is started; as a module of another workflow."""

import contextlib
import hashlib
import os
import re
import shutil

import pandas as pd
import pytest
import yaml
from checkout import RESULTS, SMOKE, Checkout, link_kernels
from test_faults import mounted_read_only, needs_root


@contextlib.contextmanager
def read_only(folder):
    """Nothing in the folder can be written: by mounting it so where that is possible."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(mounted_read_only(folder))
        except pytest.skip.Exception:  # what it raises where it is not
            for path in [folder, *(path for path in folder.rglob("*") if path.is_dir())]:
                path.chmod(0o555)
                stack.callback(path.chmod, 0o755)
        yield


def prepare(checkout, fresh):
    """Let runs in a folder use kernels and digests of code: each is made once for all tests."""
    link_kernels(checkout)
    (checkout / ".snakemake").mkdir()
    shutil.copy2(fresh / ".snakemake/calbias_digests.json", checkout / ".snakemake")


@pytest.fixture
def elsewhere(fresh, tmp_path):
    checkout = Checkout(tmp_path / "elsewhere", of=fresh.path)
    prepare(checkout, fresh)
    return checkout


def test_one_core_and_shards_outside_a_read_only_checkout(elsewhere, fresh, undisturbed):
    """One core, two shards, one estimator: the rows of two cores, one shard, all estimators."""
    before = fresh.times()
    bias, fits = RESULTS
    with read_only(fresh.path):
        config = ("--config", "shards=2", "estimators=[kde]")
        elsewhere.run("--cores", "1", *config, "--", *RESULTS)
    rows = pd.read_parquet(undisturbed / bias).query("estimator == 'kde'").reset_index(drop=True)
    pd.testing.assert_frame_equal(pd.read_parquet(elsewhere / bias), rows, check_exact=True)
    assert (elsewhere / fits).read_bytes() == (undisturbed / fits).read_bytes()
    assert fresh.times() == before
    parts = (elsewhere / "results/replicates/realistic/kde").glob("[0-9]*.parquet")
    assert sorted(path.name for path in parts) == ["0-of-2.parquet", "1-of-2.parquet"]


def test_no_rule_names_a_file_of_the_checkout_as_if_it_ran_there(elsewhere):
    said = elsewhere.run("--dry-run", "--printshellcmds", config=SMOKE)
    commands = re.findall(r"^Shell command: .*", said, flags=re.MULTILINE)
    assert len(commands) > 90
    there = r"(?<![\w./\"])(?:scripts|resources|config|workflow)/\S+"
    assert [found for line in commands for found in re.findall(there, line)] == []


def test_the_default_profile_is_read_in_the_checkout_and_elsewhere(elsewhere, pristine):
    for checkout in (elsewhere, pristine):
        said = checkout.run("--dry-run", "--quiet", "all", "--", RESULTS[1])
        assert re.search(r"specific profile \S*profiles/default ", said)


@needs_root
def test_a_folder_that_cannot_be_written(fresh):
    with mounted_read_only(fresh.path):
        said = fresh.run("--dry-run", ok=False)
    assert "cannot be written: run in a folder of your own" in said


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission(fresh):
    fresh.path.chmod(0o500)
    assert "cannot be written: run in a folder of your own" in fresh.run("--dry-run", ok=False)


@pytest.mark.nightly
def test_a_thousand_models_fit_into_shell_lines(fresh):
    """Linux takes 131 072 bytes of one; names have up to 100 characters."""
    names = [f"{k:04}_{hashlib.sha512(bytes(k)).hexdigest()}"[:100] for k in range(1000)]
    (fresh / "mine").mkdir()
    (fresh / "mine/scores.csv").write_text("score,hit\n0.9,1\n")
    rows = ["model,group,n_classes,file", *(f"{name},own,2,scores.csv" for name in names)]
    (fresh / "mine/models.csv").write_text("\n".join(rows) + "\n")
    config = ("--config", "models=mine/models.csv", "logits_dir=mine")
    said = fresh.run("--dry-run", "--printshellcmds", *config, config=None)
    commands = re.findall(r"^Shell command: (.*)", said, flags=re.MULTILINE)
    assert len(commands) > 4000
    assert max(map(len, commands)) < 32_000
    [line] = [line for line in said.splitlines() if line.startswith("No real logits.")]
    assert len(line) < 2000


FIGURE, ONE = "results/figures/fig4_realistic.png", "ece_bin_ew"


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
        part = yaml.safe_load((fresh / SMOKE).read_text("utf-8"))
        (checkout / "part.yaml").write_text(yaml.safe_dump({**part, "estimators": [ONE]}))
        prepare(checkout, fresh)
        return checkout

    return made


def test_without_any_configuration_it_plans_the_papers_figure(user):
    planned = user().planned(FIGURE, config=None)
    assert len(planned) <= 25
    assert all(job.startswith("calbias_") for job in planned)


@pytest.mark.nightly
def test_with_a_prefix_and_a_part_of_a_configuration_it_makes_the_figure(user):
    mine = user('prefix: "of_calbias"')
    mine.run("--", f"of_calbias/{FIGURE}", config="part.yaml")
    assert (mine / f"of_calbias/{FIGURE}").stat().st_size > 1000
    assert sorted(path.name for path in (mine / "results").iterdir()) == ["kernels"]


@pytest.mark.nightly
def test_results_in_a_storage_provider(fresh, tmp_path):
    """The file system's plugin in place of S3: results and their inputs are copied in and out."""
    pytest.importorskip("snakemake_storage_plugin_fs")
    if not shutil.which("rsync"):
        pytest.skip("the plugin copies with rsync")
    mine = Checkout(tmp_path / "mine", of=fresh.path)
    prepare(mine, fresh)
    bucket = tmp_path / "bucket"
    provider = ("--default-storage-provider", "fs", "--default-storage-prefix", str(bucket))
    mine.run(*provider, "--config", f"estimators=[{ONE}]", "--", FIGURE, config=SMOKE)
    assert (bucket / FIGURE).stat().st_size > 1000
    assert sorted(path.name for path in (mine / "results").iterdir()) == ["kernels"]
