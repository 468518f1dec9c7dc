"""The view of a workcell in a real browser: the first picture of an arm with meshes, and what six moving arms cost.

Mock hardware, the editor's server in a process of its own, a headless Chromium that draws without a graphics card.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from bench.process_usage import processor_seconds
from bench.report import Goal, Options, Report
from robot_rt_control.testing.ros_domain import claim_domain

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.append(str(REPOSITORY / "test" / "browser"))

from browser import FLAGS, NOT_RUN, PATIENCE_MS, browser_path  # noqa: E402  (needs the path)

_STARTUP_S = 900.0
_FIRST_AIM_MS, _COST_AIM = 1500.0, 0.05
_SETTLING_S = 3.0
_VIEW = "document.querySelector('.robot-scene')?.view"
_STEPS = f"""() => {{
    window.steps = {{}};
    const reached = (name, holds) => {{
        if (holds) window.steps[name] ??= performance.now();
    }};
    const look = () => {{
        const view = {_VIEW};
        reached('toolbar', document.querySelector('.robot-tools'));
        reached('WebGL', view);
        reached('scene', view?.robots);
        reached('meshes', view?.robots?.loading === 0);
        if (view?.shown && view.robots.loading === 0) {{
            const begin = performance.now();
            view.paint();
            view.picture().then(() => {{
                window.steps['one picture'] = performance.now() - begin;
                window.steps['first picture'] = performance.now();
                window.firstPicture = true;
            }});
        }} else requestAnimationFrame(look);
    }};
    requestAnimationFrame(look);
}}"""
"""Milliseconds since the page was asked for; the last look reads the picture back, so it has been drawn."""
_RESOURCES = """() => performance.getEntriesByType('resource').map((entry) => [
    entry.name.replace(/.*\\//, ''), entry.startTime, entry.responseEnd])"""


def measure(options: Options) -> Report:
    if browser_path() is None:
        raise RuntimeError(NOT_RUN)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="view-")))
        os.environ |= {"ROS_DOMAIN_ID": str(claim_domain("bench")), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
        from playwright.sync_api import sync_playwright

        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=browser_path(), headless=True, args=list(FLAGS))
        first = first_pictures(browser, options, folder, max(3, options.amount(10)))
        cost = costs(browser, options, folder, seconds=3.0 * options.amount(10))
        browser.close()
    totals = np.array([steps["first picture"] for steps in first])
    names = list(first[0])
    median = float(np.median(totals))
    share = cost["a view, six arms move"]
    return Report(
        title="The view of a workcell in a browser",
        columns=["figure", "median", "min", "max"],
        rows=[
            *[[f"{name} [ms]", *_three([steps[name] for steps in first])] for name in names],
            *[[f"processor of the server: {name}", f"{100 * value:.1f} %", "", ""] for name, value in cost.items()],
        ],
        goals=[
            Goal(figure="first picture of an arm with meshes", aim=f"median ≤ {_FIRST_AIM_MS:,.0f} ms",
                 measured=f"{median:,.0f} ms", met=median <= _FIRST_AIM_MS, beside="one page"),
            Goal(figure="processor of the server, one view of six moving arms",
                 aim=f"< {100 * _COST_AIM:g} % of a core", measured=f"{100 * share:.1f} %", met=share < _COST_AIM,
                 beside="an absolute figure"),
        ],
        notes=["The times of the steps are since the page was asked for; the server's process made no scene before the "
               "first one. The last picture is read back: it has been drawn."],
        data={"first_picture_ms": first, "cost": cost},
    )  # fmt: skip


def _three(values: list[float]) -> list[str]:
    return [f"{value:,.0f}" for value in (np.median(values), min(values), max(values))]


@contextmanager
def _served(workcell: str, options: Options, folder: Path) -> Iterator[Any]:
    """A client of a workcell that is up."""
    from robot_rt_control.client import Client
    from robot_rt_control.demo.demo_workcell import DemoWorkcell

    arguments = ["--workcell", workcell, "--hardware", "mock", "--controllers", "false", "--no-frames"]
    log = options.output / "view_workcell.log"
    with (
        DemoWorkcell(arguments, log, environment={"XDG_DATA_HOME": str(folder)}) as cell,
        Client("bench", timeout_s=60.0) as client,
    ):
        cell.wait_until_ready(client, lambda _: None, _STARTUP_S)
        yield client


@contextmanager
def _server(folder: Path) -> Iterator[tuple[str, int]]:
    """The link of the view, and the number of the server's process."""
    log = folder / "view.log"
    with log.open("wb") as output:
        command = [sys.executable, "-m", "robot_rt_control.editor.main", "--view", "--port", "0"]
        process = subprocess.Popen(command, stdout=output, stderr=output)
        try:
            deadline = time.monotonic() + 60.0
            while not (link := re.search(r"http://\S+", log.read_text())):
                assert time.monotonic() < deadline and process.poll() is None, log.read_text()
                time.sleep(0.1)
            time.sleep(_SETTLING_S)
            yield link[0], process.pid
        finally:
            process.kill()
            process.wait()


def _page(browser: Any, link: str) -> Any:
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.add_init_script(f"({_STEPS})()")
    page.goto(link)
    page.wait_for_function("() => window.firstPicture")
    return page


def first_pictures(browser: Any, options: Options, folder: Path, n: int) -> list[dict[str, float]]:
    """The steps of each [ms], in order; each is the first page of a server of its own."""
    found = []
    with _served("iiwa", options, folder):
        for _ in range(n):
            with _server(folder) as (link, _pid):
                page = _page(browser, link)
                asked: dict[str, float] = {}
                for name, begin, end in page.evaluate(_RESOURCES):  # the scene again once its parts are known
                    for step, at in {f"{name} asked": begin, f"{name} answered": end}.items():
                        asked.setdefault(step, at)
                steps = dict(page.evaluate("() => window.steps"))
                found.append(dict(sorted((asked | steps).items(), key=lambda item: item[1])))
                page.context.close()
    order = sorted(found[0], key=lambda name: float(np.median([steps[name] for steps in found])))
    return [{name: steps[name] for name in order} for steps in found]


def costs(browser: Any, options: Options, folder: Path, seconds: float) -> dict[str, float]:
    """Share of a core that the server's process takes, by what is looked at."""
    from robot_rt_control.client import Action, Reaction

    down = np.array([0.0, 0.5236, 0.0, 1.5708, 0.0, 1.0472, 0.0])
    arms = [f"arm_{i}" for i in range(1, 7)]
    found = {}

    def share(pid: int) -> float:
        time.sleep(_SETTLING_S)
        before, began = processor_seconds(pid), time.monotonic()
        time.sleep(seconds)
        return (processor_seconds(pid) - before) / (time.monotonic() - began)

    with _served("six_arms", options, folder) as client, _server(folder) as (link, pid):
        found["nobody looks"] = share(pid)
        page = _page(browser, link)
        found["a view, all at rest"] = share(pid)
        with client.session(arms) as session:
            for arm in arms:
                there, back = f"{arm}_there", f"{arm}_back"
                session.add(
                    Action(there, "move_joint", parts=arm, position=(down + 0.4).tolist(), velocity_scale=0.05,
                           reactions=[Reaction("is_done", start=back)]),
                    Action(back, "move_joint", parts=arm, position=(down - 0.4).tolist(), velocity_scale=0.05,
                           reactions=[Reaction("is_done", start=there)]),
                )  # fmt: skip
            session.start(*(f"{arm}_there" for arm in arms))
            drawn = page.evaluate(f"() => {_VIEW}.drawn")
            began = time.monotonic()
            found["a view, six arms move"] = share(pid)
            pictures = page.evaluate(f"() => {_VIEW}.drawn") - drawn
            found["pictures in a second / 100"] = pictures / (time.monotonic() - began) / 100
        page.context.close()
        found["nobody looks any more"] = share(pid)
    return found
