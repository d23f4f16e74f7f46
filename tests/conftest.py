"""Fixtures: copies of the checkout, finished once for all tests that start from it."""

import collections
import compileall
import contextlib
import fcntl
import gc
import itertools
import os
import shutil

import pytest
import yaml
from checkout import (
    SMOKE,
    Checkout,
    copy_of_the_working_tree,
    link_kernels,
    write_tiny_configuration,
)
from hypothesis import settings
from nightly import NEEDLESS
from slow_estimator import BIAS, RUN, with_slow_estimator

from calbias.errors import InputError

# One core a process, as for jobs; workers share the cores. Read when NumPy is first imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

gc.disable()  # until all tests are imported: half a second of CPU of each worker

# a kernel's first call may compile it; more examples every night
NIGHTLY = os.environ.get("CALBIAS_NIGHTLY")
settings.register_profile("calbias", deadline=None, max_examples=200 if NIGHTLY else 10)
settings.load_profile("calbias")


@pytest.fixture(autouse=True, scope="session")
def every_refusal_is_one_line():
    """A message of several lines fails the test that provokes it, but for hostile names."""
    clean = InputError.__init__

    def one_line(self, message=""):
        assert "\n" not in str(message) or "\x1b" in str(message)
        clean(self, message)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(InputError, "__init__", one_line, raising=False)
        yield


FIRST = ("test_slurm.py", "test_smoke.py")  # what takes longest, and what the others wait for


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep the tests of a file, which share fixtures, with one worker; runs go where one is free.

    The marks of ``--dist loadgroup`` do not reach the scheduler with pytest 9.2 and xdist 3.8.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            return nodeid if "/workflow/" in file and not file.endswith(FIRST) else file

    return ByFile(config, log)


def is_of_parts(file):
    """Return whether a file tests parts: it stands in no folder of steps or of whole runs."""
    folders = str(file.parent).rpartition("/tests")[2].split("/")
    return not {"steps", "scripts", "workflow"}.intersection(folders)


def pytest_ignore_collect(collection_path, config):
    """Import neither runs where slow tests are left out, nor files that have none where not."""
    marks = config.option.markexpr
    if collection_path.suffix == ".py" and marks in ("slow", "not slow"):
        unit = is_of_parts(collection_path)
        slow = not unit or "mark.slow" in collection_path.read_text("utf-8")
        if (marks == "slow" and not slow) or (marks == "not slow" and not unit):
            return True
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark all but the tests of parts as slow. Order: fast tests, FIRST, slow parts, other runs."""

    def place(item):
        name = item.path.name
        if not is_of_parts(item.path):
            item.add_marker("slow")
        elif not item.get_closest_marker("slow"):
            return -1
        return FIRST.index(name) if name in FIRST else len(FIRST) + ("workflow" in item.path.parts)

    items.sort(key=place)
    if not NIGHTLY:
        daily = [item for item in items if not item.get_closest_marker("nightly")]
        config.hook.pytest_deselected(items=[*{*items} - {*daily}])
        items[:] = daily


def pytest_collection_finish():
    """Leave what is imported out of all collections of garbage."""
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter):
    """Say in how many cases each rule ran needlessly, over all workers; failed cases count too."""
    stats = terminalreporter.stats
    reports = [report for key in ("passed", "failed") for report in stats.get(key, [])]
    cases = [dict(report.user_properties).get(NEEDLESS) for report in reports]
    if cases := [rules for rules in cases if rules is not None]:
        terminalreporter.write_sep("=", f"{NEEDLESS}, of {len(cases)} cases")
        for rule, number in collections.Counter(itertools.chain(*cases)).most_common():
            terminalreporter.write_line(f"{number:4} {rule}")


@contextlib.contextmanager
def once_for_all_workers(tmp_path_factory, name):
    """Yield (folder, is it made already) to one worker of pytest-xdist at a time."""
    folder = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        folder = folder.parent
    folder /= name
    with open(folder.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = (folder / "made").exists()
        if not made:
            shutil.rmtree(folder, ignore_errors=True)  # of a worker that failed to
        yield folder, made
        folder.mkdir(exist_ok=True)
        (folder / "made").touch()


@pytest.fixture(scope="session")
def pristine(tmp_path_factory):
    """The checkout without results, but with the tests' cache of kernels; never changed."""
    with once_for_all_workers(tmp_path_factory, "pristine") as (folder, made):
        checkout = Checkout(folder / "checkout")
        if not made:
            copy_of_the_working_tree(checkout.path)
            compileall.compile_dir(checkout / "scripts", quiet=1)
            write_tiny_configuration(checkout)
            link_kernels(checkout)
            (checkout / ".snakemake").mkdir()  # where digests of the code are kept
            checkout.planned()
    return checkout


@pytest.fixture(scope="session")
def smoke(pristine, tmp_path_factory):
    """A checkout in which config/smoke.yaml has run, with its report; never changed by a test."""
    with once_for_all_workers(tmp_path_factory, "smoke") as (folder, made):
        if not made:
            checkout = pristine.copy(folder / "checkout")
            report = ("--report", "results/report.html", "--report-after-run")
            said = checkout.run(*report, config=SMOKE)
            (checkout / "screen.txt").write_text(said, "utf-8")
    return Checkout(folder / "checkout")


@pytest.fixture(scope="session")
def undisturbed(smoke, tmp_path_factory):
    """A checkout in which the tiny configuration has run to its end; never changed by a test."""
    with once_for_all_workers(tmp_path_factory, "undisturbed") as (folder, made):
        if not made:
            smoke.copy(folder / "checkout").run()
    return Checkout(folder / "checkout")


@pytest.fixture(scope="session")
def expected(undisturbed, tmp_path_factory):
    """The table that the slow estimator's run ends with when nothing disturbs it."""
    with once_for_all_workers(tmp_path_factory, "slow") as (folder, made):
        if not made:
            checkout = with_slow_estimator(undisturbed.copy(folder / "checkout"))
            (checkout / "go").touch()
            checkout.run(*RUN)
    return (folder / "checkout" / BIAS).read_bytes()


@pytest.fixture
def refused(capsys):
    """A context that a script must leave with status 2 and one line of error with these words."""

    @contextlib.contextmanager
    def context(*words):
        with pytest.raises(SystemExit) as stopped:
            yield
        assert stopped.value.code == 2
        *usage, line = capsys.readouterr().err.splitlines()
        assert line.startswith("error: ") if not usage else usage[0].startswith("usage: ")
        assert [word for word in words if word not in line] == []

    return context


def pytest_addoption(parser):
    """``pytest --record tests/ROOM/test_x.py`` records again; read ``git diff`` then."""
    with contextlib.suppress(ValueError):  # where tests of a guest workflow run too
        parser.addoption("--record", action="store_true", help="record outputs of tests again")


@pytest.fixture(scope="module")
def recorded(request):
    """A function that compares lines with those under a name in the module's file RECORDED.

    With --record it writes them there.
    """
    path = request.path.with_name(request.module.RECORDED)
    header, _, text = path.read_text("utf-8").partition("\n")
    lines = yaml.safe_load(text) or {}

    def compare(name, shown):
        if request.config.option.record:
            lines[name] = shown
        assert shown == lines.get(name), "if this is as it should be: pytest --record"

    yield compare
    if request.config.option.record:
        options = {"allow_unicode": True, "default_style": "'", "sort_keys": False, "width": 1e9}
        parts = [yaml.safe_dump({name: value}, **options) for name, value in lines.items()]
        path.write_text("\n".join([header, "".join(parts)]), "utf-8")


@pytest.fixture
def fresh(pristine, tmp_path):
    """A checkout of the test's own, without results."""
    return pristine.copy(tmp_path / "fresh")


@pytest.fixture
def finished(undisturbed, tmp_path):
    """A checkout of the test's own, with all results of the tiny configuration."""
    return undisturbed.copy(tmp_path / "finished")
