"""Faults, each made to happen. What the user sees and does: workflow/profiles/README.md.

After each the next run ends with the bytes of an undisturbed one, or stops with one line.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time

import psutil
import pyarrow.parquet as pq
import pytest
from checkout import TINY, errors
from nightly import daily
from slow_estimator import BIAS, RUN, SLOW_SHARD, with_slow_estimator

from reproduction.replicates import COLUMNS

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


def test_killed(slow, expected):
    """As where a machine loses power."""
    run = slow.start(*RUN)
    wait_for_job(slow, run)
    os.killpg(run.pid, 9)
    run.wait()
    go(slow)
    assert "The last run was killed: what it left unfinished is made again." in reproduce(slow)
    assert (slow / BIAS).read_bytes() == expected


@pytest.mark.nightly
def test_the_scheduler_killed_then_a_job_while_it_extends_a_table(slow):
    run = slow.start(*RUN)
    job = wait_for_job(slow, run)
    run.kill()
    run.wait()
    assert job.is_running()
    slow.run("--unlock", *RUN)
    go(slow)
    psutil.wait_procs([job], timeout=60)
    assert not (slow / SLOW_SHARD).exists()  # the job left at work cannot write
    slow.run("--rerun-incomplete", *RUN)

    stop(slow)
    more = ("--config", "replicates=12", *RUN[1:])
    run = slow.start(*more)
    wait_for_job(slow, run).kill()  # as the kernel does when memory runs out
    assert run.wait() != 0
    jobs = ["simulate_replicates realistic slow 0 1", "summarise_bias realistic"]
    assert slow.planned(*more) == jobs  # the earlier replicates never pass for the new ones
    go(slow)
    slow.run(*more)
    [log] = (slow / "results/logs/simulate_replicates/slow/realistic").rglob("*.log")
    assert "n = 100: 4 replicates" in log.read_text("utf-8")


def go(checkout):
    (checkout / "go").touch()


def stop(checkout):
    (checkout / "go").unlink()
    (checkout / "at_work").unlink()


GREEDY = """
import resource

resource.setrlimit(resource.RLIMIT_AS, (3 * 10**9, 3 * 10**9))
BIG = np.empty(4 * 10**9, np.int8)


def estimate_data_sets("""


@pytest.mark.nightly
def test_out_of_memory(finished, undisturbed):
    """An estimator that wants 4 GB of the 3 GB that its process may have.

    The clock was set back: what is edited now counts also where results are from the future.
    """
    for path in (finished / "results").rglob("*"):
        if path.is_file():
            os.utime(path, (time.time() + 10**7,) * 2)
    file = "scripts/calbias/estimators/kde.py"
    original = (finished / file).read_text("utf-8")
    finished.edit(file, "def estimate_data_sets(", GREEDY)
    said = reproduce(finished, "--", SHARD, ok=False)
    assert "results are dated in the future" in said
    [line] = errors(said)
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


@pytest.mark.nightly
@needs_root
def test_disk_full(fresh, undisturbed):
    """Results on 200 kB, then on enough."""
    kernels = {"NUMBA_CACHE_DIR": str(shutil.move(fresh / "results/kernels", fresh / "kernels"))}
    results = fresh / "results"
    targets = ("--", SHARD, "results/logits/resnet110_c10.npz")
    with mounted(results, "-t", "tmpfs", "-o", "size=200k"):
        said = fresh.run(*targets, ok=False, environment=kernels)
        [line] = errors(said)
        assert line.startswith("error: results/")
        assert "No space left on device" in line
        assert not [path.name for path in results.rglob("*.npz")]
        assert not [path for path in results.rglob(".[0-9]*") if path.suffix != ".sha256"]
        subprocess.run(["mount", "-o", "remount,size=50m", str(results)], check=True)
        fresh.run(*targets, environment=kernels)
        assert (fresh / SHARD).read_bytes() == (undisturbed / SHARD).read_bytes()


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def edited(path):
    path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))


def halved(path):
    """Halve a shard's estimates."""
    table = pq.read_table(path)
    column = COLUMNS.index("estimate")
    halves = [value / 2 for value in table["estimate"].to_pylist()]
    changed = table.set_column(column, table.schema.field(column), [halves])
    pq.write_table(changed.replace_schema_metadata(table.schema.metadata), path)


LOGITS = "resources/logits/probs_resnet110_c10_logits.p"
OTHER = SHARD.replace("realistic/kde", "perfect/ece_sweep_em")
CHANGED = "was changed or damaged after it was made"
DAMAGED = (  # file, what happens to it, what is said, a result made from it
    [
        (OTHER, halved, CHANGED, BIAS.replace("realistic", "perfect")),
        (SHARD, cut, CHANGED, BIAS),
        (
            *("results/tables/glm_fits.csv", edited, CHANGED),
            "results/figures/fig3_fits.png",
        ),
    ],
    [("results/figures/fig4_realistic.pdf", edited, CHANGED, "results/provenance.json")],
    [
        (LOGITS, edited, "", "results/top_labels/resnet110_c10.parquet"),
        ("results/scenarios/realistic.parquet", cut, CHANGED, "results/tables/scenarios.csv"),
        (
            *("results/scores/resnet110_c100.parquet", edited, CHANGED),
            "results/fits/beta_fits/resnet110_c100.parquet",
        ),
    ],
)


@pytest.mark.parametrize("together", daily(DAMAGED, 1), ids=["read", "recorded", "inputs"])
def test_files_damaged(finished, undisturbed, together):
    """The job that reads a file names it; deleted, it is made again; an input is put back."""
    names, damages, words, results = zip(*together, strict=True)
    for name, damage in zip(names, damages, strict=True):
        damage(finished / name)
    lines = errors(finished.run("--keep-going", "--", *results, ok=False))
    for line, name, said, result in zip(sorted(lines), names, words, results, strict=True):
        assert line.startswith(f"error: {name}: {said}")
        assert name == LOGITS or f"delete {name} and run" in line or "delete it and run" in line
        assert not (finished / result).exists()
        (finished / name).unlink()
    left_out = ("results/provenance.json", LOGITS)
    targets = [name for name in (*names, *results) if name not in left_out]
    shutil.copy2(undisturbed / LOGITS, finished / LOGITS)
    finished.run("--", *targets)
    for name in targets:
        assert (finished / name).read_bytes() == (undisturbed / name).read_bytes(), name


@pytest.mark.nightly
def test_two_runs_in_one_folder(slow, expected):
    """The second stops; the first goes on as if alone. A dry run is let in."""
    first = slow.start(*RUN)
    wait_for_job(slow, first)
    (slow / SLOW_SHARD).touch()  # as a job that has written its output, but has not ended
    assert "Directory cannot be locked" in slow.run("--rerun-incomplete", *RUN, ok=False)
    assert "another run is at work" in reproduce(slow, ok=False)
    assert "summarise_bias realistic" in slow.planned("--rerun-incomplete", *RUN)
    (slow / "go").touch()
    assert first.wait() == 0
    assert (slow / BIAS).read_bytes() == expected


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
    last = said.rstrip().splitlines()[-2 * len(lines) :]  # each below its job's log
    assert sorted(last[1::2]) == sorted(lines)
    assert all((finished / log.rstrip(":")).is_file() for log in last[::2])
    assert not (finished / BIAS).exists()
    assert (finished / SHARD).read_bytes() == (undisturbed / SHARD).read_bytes()


def test_after_a_killed_run_and_interrupted(finished):
    """It does not wait for itself; Ctrl-C lets Snakemake stop in order."""
    slow = with_slow_estimator(finished)
    (slow / ".snakemake/locks").mkdir(parents=True, exist_ok=True)
    (slow / ".snakemake/locks/0.output.lock").touch()
    reproduce = [sys.executable, "scripts/reproduce.py", "--cores", "2", "--"]
    reproduce += ["--configfile", TINY, *RUN]
    run = slow.start_command(reproduce)
    wait_for_job(slow, run)
    os.killpg(run.pid, signal.SIGINT)
    assert run.wait(120) != 0
    said = (slow / "run.log").read_text("utf-8")
    assert "Traceback" not in said
    assert not list((slow / ".snakemake/locks").glob("*.lock"))
