"""Faults, each made to happen. What the user sees and does: workflow/profiles/README.md.

After each the next run ends with the bytes of an undisturbed one, or stops with one line.
"""

import contextlib
import os
import pickle
import shutil
import subprocess
import sys
import time

import psutil
import pyarrow.parquet as pq
import pytest
from checkout import TINY, errors, simulated
from slow_estimator import BIAS, RUN, SLOW_SHARD, with_slow_estimator
from test_bad_input import folds

from reproduction.replicates.store import COLUMNS

SHARD = "results/replicates/realistic/kde/0-of-1.parquet"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a file system needs root")


def wait_for_job(checkout, run, seconds=120):
    """Return the process of the slow estimator's job, once the estimator is at work in it."""
    for _ in range(seconds * 20):
        for process in psutil.Process(run.pid).children(recursive=True):
            try:
                job = process.name().startswith("python") and "slow" in process.cmdline()
                if job and (checkout / "at_work").exists():
                    return process
            except psutil.Error:  # it has just ended
                continue
        assert run.poll() is None, "the run ended before its job was seen"
        time.sleep(0.05)
    raise AssertionError(f"no job at work in {seconds} s")


@pytest.fixture
def slow(finished):
    return with_slow_estimator(finished)


def reproduce(checkout, *options, ok=True):
    """Run scripts/reproduce.py, on the slow estimator's table at first; return what it prints."""
    options = ("--configfile", TINY, *(options or RUN))
    command = [sys.executable, "scripts/reproduce.py", "--cores", "2", "--", *options]
    run = checkout.start_command(command)
    assert (run.wait(300) == 0) == ok
    return (checkout / "run.log").read_text("utf-8")


def test_scheduler_killed(slow, expected):
    """SIGKILL. The job that it leaves at work cannot write once the folder is unlocked."""
    run = slow.start(*RUN)
    job = wait_for_job(slow, run)
    run.kill()
    run.wait()
    assert job.is_running()
    slow.run("--unlock", *RUN)
    (slow / "go").touch()
    psutil.wait_procs([job], timeout=60)
    assert not (slow / SLOW_SHARD).exists()
    slow.run("--rerun-incomplete", *RUN)
    assert (slow / BIAS).read_bytes() == expected
    assert slow.planned(*RUN) == []


def test_scheduler_and_its_jobs_killed(slow, expected):
    """A machine that loses power: everything stops at once. make reproduce unlocks and resumes."""
    run = slow.start(*RUN)
    wait_for_job(slow, run)
    os.killpg(run.pid, 9)
    run.wait()
    (slow / "go").touch()
    said = reproduce(slow)
    assert "The last run was killed: what it left unfinished is made again." in said
    assert (slow / BIAS).read_bytes() == expected


def test_job_killed(slow, expected):
    """Also what the kernel does to a job when memory runs out."""
    run = slow.start(*RUN)
    wait_for_job(slow, run).kill()
    assert run.wait() != 0
    assert not (slow / SLOW_SHARD).exists()
    (slow / "go").touch()
    slow.run(*RUN)
    assert (slow / BIAS).read_bytes() == expected


def test_job_killed_while_it_extends_its_replicates(slow):
    """The earlier ones stay, but never pass for the new ones."""
    (slow / "go").touch()
    slow.run(*RUN)
    (slow / "go").unlink()
    (slow / "at_work").unlink()
    more = ("--config", "replicates=12", *RUN[1:])
    run = slow.start(*more)
    wait_for_job(slow, run).kill()
    assert run.wait() != 0
    jobs = ["simulate_replicates realistic slow 0 1", "summarise_bias realistic"]
    assert slow.planned(*more) == jobs
    (slow / "go").touch()
    assert "n = 100: 4 replicates" in slow.run(*more)


GREEDY = """
import resource

resource.setrlimit(resource.RLIMIT_AS, (3 * 10**9, 3 * 10**9))
BIG = np.empty(4 * 10**9, np.int8)


def estimate_data_sets("""


def test_out_of_memory(finished, undisturbed):
    """An estimator that wants 4 GB of the 3 GB that its process may have."""
    file = "scripts/calbias/estimators/kde.py"
    original = (finished / file).read_text("utf-8")
    finished.edit(file, "def estimate_data_sets(", GREEDY)
    [line] = errors(finished.run("--", SHARD, ok=False))
    assert "llocate" in line
    assert "run fewer jobs at once, or give this one more" in line
    assert not (finished / SHARD).exists()
    (finished / file).write_text(original, "utf-8")
    finished.run("--", SHARD)
    assert (finished / SHARD).read_bytes() == (undisturbed / SHARD).read_bytes()


@contextlib.contextmanager
def mounted(folder, *options, what="tmpfs"):
    """Mount a file system on a folder while the block lasts."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", *options, str(what), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"mounting is not possible here: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@contextlib.contextmanager
def mounted_read_only(folder):
    """Mount a folder on itself, so that nothing in it can be written while the block lasts."""
    with mounted(folder, "--bind", what=folder):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
        yield


@needs_root
def test_disk_full(fresh, undisturbed):
    """Results on 200 kB, then on enough."""
    kernels = {"NUMBA_CACHE_DIR": str(shutil.move(fresh / "results/kernels", fresh / "kernels"))}
    results = fresh / "results"
    targets = ("--", SHARD, "results/logits/resnet110_c100.npz")
    with mounted(results, "-t", "tmpfs", "-o", "size=200k"):
        said = fresh.run(*targets, ok=False, environment=kernels)
        [line] = errors(said)
        assert "No space left on device" in line
        assert not [path.name for path in results.rglob("*.npz")]
        assert not [path.name for path in results.rglob(".[0-9]*")]
        subprocess.run(["mount", "-o", "remount,size=50m", str(results)], check=True)
        fresh.run(*targets, environment=kernels)
        assert (fresh / SHARD).read_bytes() == (undisturbed / SHARD).read_bytes()


def test_shards_damaged(finished, undisturbed):
    """Cut short, or rows that differ from their checksum: the gathering step names the file.

    Deleted, they are drawn again.
    """
    cut(finished / SHARD)
    other = SHARD.replace("realistic/kde", "perfect/ece_sweep_em")
    table = pq.read_table(finished / other)
    column = COLUMNS.index("estimate")
    halves = [value / 2 for value in table["estimate"].to_pylist()]
    halved = table.set_column(column, table.schema.field(column), [halves])
    pq.write_table(halved.replace_schema_metadata(table.schema.metadata), finished / other)
    targets = ("--", BIAS, BIAS.replace("realistic", "perfect"))
    said = errors(finished.run("--keep-going", *targets, ok=False))
    of_checksum, cut_short = sorted(said)
    assert of_checksum.startswith(f"error: {other}: its rows differ from its checksum")
    assert cut_short.startswith(f"error: {SHARD}: not a whole replicate file")
    assert all("delete it and run again" in line for line in said)
    assert not (finished / BIAS).exists()
    (finished / SHARD).unlink()
    (finished / other).unlink()
    finished.run(*targets)
    for name in targets[1:]:
        assert (finished / name).read_bytes() == (undisturbed / name).read_bytes()


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def edited(path):
    path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))


def exchanged(path):
    [other, *_] = [each for each in sorted(path.parent.glob(f"[!.]*{path.suffix}")) if each != path]
    shutil.copyfile(other, path)


DAMAGED = (  # file, what happens to it, and a result that is made from it; downstream first
    [("results/figures/test_power.pdf", edited, "results/provenance.json")],
    [("results/tables/interval_coverage.csv", edited, "results/figures/interval_coverage.png")],
    [
        ("results/league/lp.parquet", cut, "results/tables/league.csv"),
        ("results/scenarios/realistic.parquet", cut, "results/tables/scenarios.csv"),
        (
            "results/top_labels/resnet110_c100.parquet",
            edited,
            "results/fits/beta_fits/resnet110_c100.parquet",
        ),
    ],
)


def test_results_damaged(finished, undisturbed):
    """The job that reads a result names it; deleted, it is made again."""
    targets = []
    for together in DAMAGED:
        names, damages, results = zip(*together, strict=True)
        for name, damage in zip(names, damages, strict=True):
            damage(finished / name)
        lines = errors(finished.run("--keep-going", "--", *results, ok=False))
        for line, name, result in zip(sorted(lines), names, results, strict=True):
            assert line.startswith(f"error: {name}: was changed or damaged after it was made")
            assert line.endswith(f"delete {name} and run snakemake again")
            assert not (finished / result).exists()
            (finished / name).unlink()
        targets += [name for name in (*names, *results) if name != "results/provenance.json"]
    finished.run("--", *targets)
    for name in targets:
        assert (finished / name).read_bytes() == (undisturbed / name).read_bytes(), name


def test_logits_file_corrupted(fresh):
    """A file that was good when it was first read."""
    (fresh / "mine").mkdir()
    file = fresh / "mine/mine.p"
    file.write_bytes(pickle.dumps(folds()))
    (fresh / "models.csv").write_text("model,group,n_classes,file\nmine,own,10,mine.p\n")
    config = ("--config", "logits_dir=mine", "models=models.csv", "experiments={}")
    target = "results/top_labels/mine.parquet"
    fresh.run(*config, "--", target)
    before, good = (fresh / target).read_bytes(), file.read_bytes()
    file.write_bytes(good[:1000] + b"\0" * 50 + good[1050:2000])
    [line] = errors(fresh.run(*config, "--", target, ok=False))
    assert line.startswith("error: mine/mine.p")
    assert not (fresh / target).exists()
    file.write_bytes(good)
    fresh.run(*config, "--", target)
    assert (fresh / target).read_bytes() == before


def test_two_runs_in_one_folder(slow, expected):
    """The second stops; the first goes on as if alone. A dry run is let in."""
    first = slow.start(*RUN)
    wait_for_job(slow, first)
    (slow / SLOW_SHARD).touch()  # as a job that has written its output, but has not ended
    assert "--rerun-incomplete" in slow.run(*RUN, ok=False)
    assert "Directory cannot be locked" in slow.run("--rerun-incomplete", *RUN, ok=False)
    assert "another run is at work" in reproduce(slow, ok=False)
    assert "summarise_bias realistic" in slow.planned("--rerun-incomplete", *RUN)
    (slow / "go").touch()
    assert first.wait() == 0
    assert (slow / BIAS).read_bytes() == expected


def test_clock_set_back(finished, undisturbed):
    """Results from the future: what is edited now still counts, what is not stays."""
    for path in (finished / "results").rglob("*"):
        if path.is_file():
            os.utime(path, (time.time() + 10**7,) * 2)
    finished.append("scripts/calbias/estimators/kde.py", "# edited\n")
    said = reproduce(finished, "-n")
    assert "results are dated in the future" in said
    assert {*simulated("kde")} < set(finished.planned())
    finished.run("--", BIAS)
    assert (finished / BIAS).read_bytes() == (undisturbed / BIAS).read_bytes()


BROKEN = {
    "raises": ("    raise ZeroDivisionError('no bins')", "line 2: estimator {} fails on a data"),
    "not_a_number": ("    return float('nan')", "estimator {} returned nan for a data set of 100"),
    "infinite": ("    return float('inf')", "estimator {} returned inf for a data set of 100"),
    "unfinished": ("    return (", "line 2: estimator {} cannot be loaded: SyntaxError"),
    "wants_more": ("    return 0.0\nimport nowhere", "line 3: estimator {} cannot be loaded: Mod"),
}


def test_estimators_broken(finished, undisturbed):
    """One line each with the file and the line; the other estimators' jobs are done meanwhile."""
    folder = finished / "mine"
    folder.mkdir()
    for name, (body, _) in BROKEN.items():
        (folder / f"{name}.py").write_text(f"def estimate(scores, hits, n_bins, norm):\n{body}\n")
    for path in (SHARD, BIAS):
        (finished / path).unlink()
    config = ("--config", "estimator_dir=mine", f"estimators=[{','.join(BROKEN)},kde]")
    said = finished.run("--keep-going", *config, "--", BIAS, ok=False)
    lines = errors(said)
    assert len(lines) == len(BROKEN)
    for line, name in zip(sorted(lines), sorted(BROKEN), strict=True):
        assert line.startswith(f"error: mine/{name}.py")
        assert BROKEN[name][1].format(name) in line
    assert sorted(said.rstrip().splitlines()[-len(lines) :]) == sorted(lines)
    assert not (finished / BIAS).exists()
    assert (finished / SHARD).read_bytes() == (undisturbed / SHARD).read_bytes()
