"""For all tests: in CI, Hypothesis draws the same examples in each run; at a desk, new ones.

`./run test` runs the tests in several processes. The tests of a file stay in one process, because they share what is
slow to make. All tests with real ROS nodes stay in one process, because they share a workcell.

Where PyBullet cannot be had (it has no wheel for Python 3.12 and newer), tests that need it are skipped, and counted.

Tests with the marker `long` are left to `./run prove`, or to whoever chooses them: `./run test -m long`. Each rule has
a shorter test, too.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import sys
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import settings
from watched_border import border_is_kept  # noqa: F401  (a fixture of all tests)

settings.register_profile("repeatable", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("repeatable")


_ROS = "test/ros/"
_last_file = ""


def pytest_runtest_logstart(nodeid: str) -> None:
    # A lockstep cell is a cycle of objects with 40 MB; left to itself, the collector lets processes grow to 3 GB.
    # What survives is not looked at again, so that this takes milliseconds.
    global _last_file
    file = nodeid.split("::")[0]
    if file != _last_file:
        _last_file = file
        gc.collect()
        gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # Whoever chooses tests by name, file or marker gets all of them.
    chosen = config.option.markexpr or config.option.keyword or any(".py" in name for name in config.args)
    if not chosen:
        left_out = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("long")]
    # The largest group first: otherwise the other processes idle at the end. Then what needs no loop: if the cache is
    # empty, the first workcell compiles the loop meanwhile.
    order = (_ROS, "test/unit/motion/", "test/unit/", "")
    items.sort(key=lambda item: next(i for i, folder in enumerate(order) if item.nodeid.startswith(folder)))


_WITHOUT_PYBULLET = sys.version_info >= (3, 12) and importlib.util.find_spec("pybullet") is None
_NEEDS_PYBULLET = "needs PyBullet, which has no wheel for this Python"


def _lacks_pybullet(report: Any, error: BaseException | None) -> bool:
    """Whether PyBullet is what is missing: in an error, in what led to it, or in what the test has printed."""
    while error is not None:
        if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("pybullet"):
            return True
        error = error.__cause__ or error.__context__
    return "Install pybullet" in "\n".join([str(report.longrepr), *(text for _, text in report.sections)])


def _skip_without_pybullet(report: Any, call: pytest.CallInfo[Any] | None, place: str) -> None:
    if not (_WITHOUT_PYBULLET and report.failed and call is not None and call.excinfo is not None):
        return
    if _lacks_pybullet(report, call.excinfo.value):
        report.outcome = "skipped"
        report.longrepr = (place, 0, f"Skipped: {_NEEDS_PYBULLET}")


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
            file = nodeid.split("::")[0]
            return _ROS if file.startswith(_ROS) else file

    config.option.loadscopereorder = False
    return Scheduling(config, log)
