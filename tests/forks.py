"""``pytest --forks N``: N forks of the process that has collected the tests run them.

What N processes of their own import and collect, they have from it. A fork takes the next file, or
run of the workflow, when it has finished one; all that it reports goes to the first process.
"""

import os
import traceback
from array import array
from itertools import groupby
from multiprocessing import Pipe
from multiprocessing.connection import wait
from types import SimpleNamespace

import pytest

FIRST = ("test_slurm.py", "test_smoke.py")  # what takes longest, and what the others wait for


def pytest_addoption(parser):
    parser.addoption("--forks", type=int, default=0, metavar="N", help="run tests in N forks")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session):
    """Start the forks, and report what they report; None, for pytest's own loop, without any."""
    if not session.config.option.forks or session.config.option.collectonly or session.testsfailed:
        return None
    session.config._tmp_path_factory.getbasetemp()  # which all share
    groups = [[*tests] for _, tests in groupby(session.items, together)]
    numbers, end = os.pipe()
    os.write(end, array("H", range(len(groups))))
    os.close(end)
    forks = {}
    for _ in range(session.config.option.forks):
        reader, writer = Pipe(duplex=False)
        if (fork := os.fork()) == 0:
            run(session, groups, numbers, writer)
        writer.close()
        forks[reader] = fork
    while forks:
        for reader in wait([*forks]):
            try:
                report, warning = reader.recv()
            except EOFError:
                if os.waitpid(forks.pop(reader), 0)[1]:
                    session.shouldfail = "a fork has ended before its tests"
                continue
            if report:
                session.config.hook.pytest_runtest_logreport(report=report)
            else:
                session.config.hook.pytest_warning_recorded.call_historic(kwargs=warning)
        if session.shouldfail or session.shouldstop:
            os.read(numbers, 2 * len(groups))  # which nobody starts then
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    return True


def together(item):
    """Return what tests have in common that one fork runs: the file, and its fixtures."""
    is_run = item.path.parent.name == "workflow" and item.path.name not in FIRST
    return item.nodeid if is_run else item.path


def run(session, groups, numbers, writer):
    """Run groups of tests while there are any, and end this process."""
    status = 1
    try:
        plugins = session.config.pluginmanager
        capture = plugins.getplugin("capturemanager")
        capture.stop_global_capturing()  # whose files all forks would share
        capture.start_global_capturing()
        capture.suspend_global_capture(in_=True)
        terminal = plugins.unregister(name="terminalreporter")
        plugins.register(SimpleNamespace(_tw=terminal._tw), "terminalreporter")
        plugins.register(Reports(writer))
        items = (item for number in iter(lambda: os.read(numbers, 2), b"")
                 for item in groups[array("H", number)[0]])  # fmt: skip
        item = next(items, None)
        while item and not session.shouldfail and not session.shouldstop:
            following = next(items, None)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            item = following
        session._setupstate.teardown_exact(None)
        status = 0
    except Exception:
        traceback.print_exc()
    finally:
        os._exit(status)


class Reports:
    """A plugin that sends all reports and warnings to the first process."""

    def __init__(self, writer):
        self.writer = writer

    def pytest_runtest_logreport(self, report):
        self.writer.send((report, None))

    def pytest_warning_recorded(self, warning_message, when, nodeid, location):
        values = {"warning_message": warning_message, "when": when}
        self.writer.send((None, {**values, "nodeid": nodeid, "location": location}))
