"""For all tests: in CI, Hypothesis draws the same examples in each run; at a desk, new ones.

`./run test` runs the tests in several processes. The tests of a file stay in one process, because they share what is
slow to make. So do the tests of all files that share a workcell over ROS.

Where PyBullet cannot be had (it has no wheel for Python 3.12 and newer), tests that need it, or a robot that comes with
it, are skipped: the summary says how many in which file. All others that simulate run with MuJoCo there.

Tests with the marker `long` are run by `./run prove`, or if chosen: `./run test -m long`. Each rule has
a shorter test, too. Those with the marker `sampled`, and those of Hypothesis, try a sample in `./run test`, and the
whole with `-m long` (samples.py).
"""

from __future__ import annotations

import gc
import importlib.util
import os
import sys
from collections.abc import Generator
from typing import Any

import pytest
import samples
import watched_border
from hypothesis import settings
from watched_border import border_is_kept  # noqa: F401  (a fixture of all tests)

settings.register_profile("repeatable", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("repeatable")


# Where Python is told to write no compiled files, each process would compile the assertions of all tests anew.
_writes_none, sys.dont_write_bytecode = sys.dont_write_bytecode, False


def pytest_collection_finish() -> None:
    sys.dont_write_bytecode = _writes_none


_LONG = "long"
_ROS = "test/ros/"
_SHARED = "the shared workcell"
_SHARING = {
    f"{_ROS}test_{name}.py"
    for name in "command_line controller_manager follow_joint_trajectory frames markers motion_groups readme security "
    "three_processes tutorial".split()
}
_last_file = ""


def _scope(nodeid: str) -> str:
    """What stays in one process."""
    file = nodeid.split("::")[0]
    return _SHARED if file in _SHARING else file


def pytest_runtest_logstart(nodeid: str) -> None:
    # What survives is not looked at again, so that the next times take milliseconds.
    global _last_file
    file = nodeid.split("::")[0]
    if file != _last_file:
        _last_file = file
        gc.collect()
        gc.freeze()


def pytest_runtest_logfinish() -> None:
    # Left to itself, the collector lets processes grow to 3 GB. To take the next 40 MB from the system instead of from
    # what is free costs more than making a cell does.
    if watched_border.used_executors:
        gc.collect()


def _scheduling() -> tuple[int, int, int]:
    """Of this thread, and of all processes that it starts: policy, real-time priority, niceness."""
    return os.sched_getscheduler(0), os.sched_getparam(0).sched_priority, os.getpriority(os.PRIO_PROCESS, 0)


_USUAL = _scheduling()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, None, None]:
    """A test that leaves this process with another priority fails: all later tests here would have it, too."""
    try:
        yield
    finally:
        if (found := _scheduling()) != _USUAL:
            os.sched_setscheduler(0, _USUAL[0], os.sched_param(_USUAL[1]))
            os.setpriority(os.PRIO_PROCESS, 0, _USUAL[2])
            pytest.fail(f"{item.nodeid}: policy, priority, niceness; expected {_USUAL}, got {found}")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.markexpr == _LONG:
        samples.try_the_whole()


def _is_sampled(item: pytest.Item) -> bool:
    """Tests of Hypothesis are, without the marker: their profile or their settings say how many examples."""
    drawn = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
    return drawn or item.get_closest_marker("sampled") is not None


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by marker
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if config.option.markexpr == _LONG and _is_sampled(item):
            item.add_marker(pytest.mark.long)
    # If tests are chosen by name, file or marker, all of them are run.
    chosen = config.option.markexpr or config.option.keyword or any(".py" in name for name in config.args)
    if not chosen:
        left_out = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("long")]
    for item in items:
        if item.nodeid.startswith(_ROS) and "workcell" in getattr(item, "fixturenames", ()):
            assert _scope(item.nodeid) == _SHARED, f"{item.nodeid} would make a workcell of its own: add it to _SHARING"
    # The largest group first: otherwise the other processes idle at the end. Then what needs no loop: if the cache is
    # empty, the first workcell compiles the loop meanwhile.
    order = (_SHARED, "test/unit/motion/", "test/unit/", _ROS, "")
    items.sort(key=lambda item: next(i for i, scope in enumerate(order) if _scope(item.nodeid).startswith(scope)))


_WITHOUT_PYBULLET = sys.version_info >= (3, 12) and importlib.util.find_spec("pybullet") is None
_NEEDS = {
    "pybullet": "needs PyBullet, which has no wheel for this Python",
    "pybullet_data": "needs a robot of pybullet_data, which comes with PyBullet",
}


def _lacks(report: Any, error: BaseException | None) -> str:
    """What of PyBullet is missing: in an error, in what led to it, or in what the test has printed. Empty: nothing."""
    while error is not None:
        if isinstance(error, ModuleNotFoundError) and error.name in _NEEDS:
            return error.name
        error = error.__cause__ or error.__context__
    printed = "\n".join([str(report.longrepr), *(text for _, text in report.sections)])
    return "pybullet_data" if "Install pybullet" in printed else ""


def _skip_without_pybullet(report: Any, call: pytest.CallInfo[Any] | None, place: str) -> None:
    if not (_WITHOUT_PYBULLET and report.failed and call is not None and call.excinfo is not None):
        return
    if missing := _lacks(report, call.excinfo.value):
        report.outcome = "skipped"
        # The tests of a file are one line of the summary, with their number.
        report.longrepr = (place.split("::")[0], 0, f"Skipped: {_NEEDS[missing]}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _skip_without_pybullet(report, call, item.nodeid)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _skip_without_pybullet(report, getattr(report, "call", None), collector.nodeid)
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler.loadscope import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _scope(nodeid)

    config.option.loadscopereorder = False
    return Scheduling(config, log)
