"""The blueprint editor in a real browser: events to pictures, the first page, 300 nodes, a mistake while one types.

A workcell on mock hardware (1 kHz), its executor of blueprints and the editor are processes of their own. All pages are
in one headless Chromium, which draws without a graphics card.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.report import Goal, Options, Report
from robot_rt_control.testing.ros_domain import claim_domain

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.append(str(REPOSITORY / "test" / "browser"))

from browser import FLAGS, NOT_RUN, PATIENCE_MS, browser_path  # noqa: E402  (needs the path)
from pages import large, open_text, settled  # noqa: E402  (needs the path)

if TYPE_CHECKING:
    from robot_rt_control.blueprint.remote import Blueprints

_PAGES = 20
_NODES = 300
_PORT = 8428
_STARTUP_S = 900.0
_TURN_S = 1.0
"""Between two events: longer than a browser is expected to need."""
_PYTHON = """
import time
from robot_rt_control.blueprint.makers import Handle, skill

@skill()
def turn(handle: Handle, path: str = "", node: str = "", seconds: float = 0.5) -> None:
    handle.sleep(seconds)
    with open(path, "a") as file:
        file.write(f"{node} {time.time()}\\n")
"""
_TURNS = """name: turns
nodes:
  a: {{skill: turn, with: {{path: {path}, node: a, seconds: {seconds}}}, then: b}}
  b: {{skill: turn, with: {{path: {path}, node: b, seconds: {seconds}}}, then: [{{when: b.count >= {times}, end: done}}, {{go: a}}]}}
"""  # noqa: E501
_SEEN = """() => {
    window.seen = [];
    const running = () => document.querySelector('.node.is-runs')?.closest('.react-flow__node').dataset.id ?? '';
    let before = running();
    new MutationObserver(() => {
        const now = running();
        if (now === before) return;
        before = now;
        // The first frame that shows it has been handed over when the next one begins.
        requestAnimationFrame(() => requestAnimationFrame(() => window.seen.push([now, Date.now() / 1000])));
    }).observe(document.body, {subtree: true, childList: true, attributes: true, attributeFilter: ['class']});
}"""
_FIRST_PAGE = """() => {
    const look = () => {
        if (document.querySelector('.left[aria-busy=false] .skill-item')) window.firstPage = performance.now();
        else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}"""
_AFTER = """([event, selector]) => {
    window.after = null;
    window.addEventListener(event, () => {
        const begin = window.began = performance.now();
        const look = () => {
            if (window.began !== begin) return;  // there was another one
            if (document.querySelector(selector)) window.after = performance.now() - begin;
            else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
    }, true);
}"""
"""Milliseconds from the last event of a kind until a frame in which there is something."""
_FRAMES = """() => {
    window.frames_ = [];
    const look = (time) => { if (window.frames_?.push(time)) requestAnimationFrame(look); };
    requestAnimationFrame(look);
}"""
_TYPED = """# A tour.
name: typed
nodes:
  look:  {skill: move_until_contact, then: [{on: contact, go: press}, {on: not_found, go: tell}]}
  press: {skill: act_on_object, retry: 1, with: {force: 5.0}, then: tell}
  tell:  {say: done}
"""


def measure(options: Options) -> Report:
    if browser_path() is None:
        raise RuntimeError(NOT_RUN)
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="editor-") as folder, _editor(options, Path(folder)) as (link, blueprints):
        from playwright.sync_api import sync_playwright

        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=browser_path(), headless=True, args=FLAGS)
            found["first page"] = first_pages(browser, link, options.amount(20))
            page = _page(browser, link)
            found["opened"] = opened(page, options.amount(10))
            found["dragged"] = dragged(page, options.amount(300))
            found["mistake"] = mistakes(page, options.amount(50))
            page.context.close()
            times, lost = pictures(browser, link, blueprints, Path(folder), options.amount(60))
            found["event"] = times
            browser.close()
    aims = [
        ("event", f"an event in the executor → the changed picture, {_PAGES} browsers", 150.0, 95),
        ("first page", "the first page", 1500.0, 50),
        ("opened", f"{_NODES} nodes opened", 2000.0, 50),
        ("dragged", f"dragging among {_NODES} nodes: time of a frame", 50.0, 95),
        ("mistake", "the last key → the mistake is shown", 300.0, 50),
    ]
    beside = f"{_PAGES} pages of one Chromium without a graphics card, workcell, executor and editor"
    rows, goals = [], []
    for key, figure, aim, percentile in aims:
        values = np.asarray(found[key])
        shown = {p: float(np.percentile(values, p)) for p in (50, 95, 99)}
        rows.append([f"{figure} [ms]", *(f"{x:,.0f}" for x in (*shown.values(), values.max())), str(len(values))])
        word = "median" if percentile == 50 else f"p{percentile}"
        met = shown[percentile] <= aim and not (key == "event" and lost)
        measured = f"{word} {shown[percentile]:,.0f} ms" + (f", {lost} never shown" if key == "event" and lost else "")
        goals.append(Goal(figure=figure, aim=f"{word} {aim:,.0f} ms", measured=measured, met=met,
                          beside=beside if key == "event" else "one page"))  # fmt: skip
    plot(options.output / "editor.png", [(figure, found[key], aim) for key, figure, aim, _ in aims])
    return Report(
        title="The blueprint editor in a browser",
        columns=["figure", "median", "p95", "p99", "max", "of"],
        rows=rows,
        goals=goals,
        notes=[
            f"An event: a Python skill returns. Shown: the frame after the next node is lit. {lost} of "
            f"{lost + len(found['event'])} were never shown, because the next one was there already.",
            f"plot: {options.output / 'editor.png'}",
        ],
        data={**found, "lost": lost},
    )


@contextmanager
def _editor(options: Options, folder: Path) -> Iterator[tuple[str, Blueprints]]:
    """The link of an editor beside a running workcell, and a client of its executor of blueprints."""
    os.environ |= {"ROS_DOMAIN_ID": str(claim_domain("bench")), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    from robot_rt_control.blueprint.remote import Blueprints
    from robot_rt_control.client import Client
    from robot_rt_control.demo.demo_workcell import DemoWorkcell

    (folder / "own_skills.py").write_text(_PYTHON)
    file = folder / "bench.yaml"
    file.write_text(f"capabilities: [own_skills.py]\n{(REPOSITORY / 'config' / 'bench.yaml').read_text()}")
    arguments = ["--workcell", str(file), "--hardware", "mock", "--controllers", "false", "--no-frames", "--blueprints"]
    log, cell_log = folder / "editor.log", options.output / "editor_workcell.log"
    with (
        DemoWorkcell(arguments, cell_log, environment={"XDG_DATA_HOME": str(folder)}) as cell,
        Client("bench", timeout_s=60.0) as client,
        Blueprints(client, timeout_s=60.0) as blueprints,
        log.open("wb") as output,
    ):
        cell.wait_until_ready(client, lambda _: None, _STARTUP_S)
        blueprints.wait_for_state(lambda state: not state.problem, 60.0)
        module = "robot_rt_control.editor.main"
        process = subprocess.Popen([sys.executable, "-m", module, "--port", str(_PORT)], stdout=output, stderr=output)
        try:
            deadline = time.monotonic() + 60.0
            while not (link := re.search(r"http://\S+", log.read_text())):
                assert time.monotonic() < deadline and process.poll() is None, log.read_text()
                time.sleep(0.1)
            time.sleep(2.0)  # it finds the executor
            yield link[0], blueprints
        finally:
            process.kill()
            process.wait()


def _page(browser: Any, link: str, *, script: str = "") -> Any:
    """A page of its own person."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    if script:
        page.add_init_script(f"({script})()")
    page.goto(link)
    page.wait_for_selector(".left[aria-busy=false] .skill-item")
    return page


def first_pages(browser: Any, link: str, n: int) -> list[float]:
    """From asking for the page until its shelves are full [ms]; nothing is kept in the browser."""
    found = []
    for _ in range(n):
        page = _page(browser, link, script=_FIRST_PAGE)
        found.append(float(page.wait_for_function("() => window.firstPage").json_value()))
        page.context.close()
    return found


def opened(page: Any, n: int) -> list[float]:
    """From the click on a kept blueprint until all its nodes are placed and drawn [ms]."""
    open_text(page, large(_NODES))
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved large as version").wait_for()
    page.get_by_role("tab", name="Files").click()
    page.evaluate(_AFTER, ["click", ".canvas[aria-busy=false] .react-flow__node[data-id^=n]"])
    found = []
    for _ in range(n):
        page.get_by_role("button", name="Close large").click()
        page.locator(".react-flow__node").first.wait_for(state="detached")
        page.locator(".skill-item:has(.skill-name:text-is('large'))").click()
        found.append(float(page.wait_for_function("() => window.after").json_value()))
    return found


def dragged(page: Any, moves: int) -> list[float]:
    """Times between frames while a node is dragged in the middle of all [ms]."""
    settled(page)
    nodes = page.locator(".react-flow__node")
    box = nodes.nth(nodes.count() // 2).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + 0.2 * box["height"]
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 10, y + 10)
    page.evaluate(_FRAMES)
    for i in range(moves):
        page.mouse.move(x + 10 + 100 * np.sin(0.1 * i), y + 10 + 60 * np.sin(0.07 * i))
    times = page.evaluate("() => { const found = window.frames_; window.frames_ = null; return found; }")
    page.mouse.up()
    return [float(x) for x in np.diff(times)]


def mistakes(page: Any, n: int) -> list[float]:
    """From the last key of a wrong value until the mistake is at its field [ms]."""
    open_text(page, _TYPED)
    page.locator(".react-flow__node[data-id=press]").click()
    field = page.get_by_label("force [N]", exact=True)
    page.evaluate(_AFTER, ["keydown", ".field .bad-hint"])
    found = []
    for _ in range(n):
        field.fill("5")
        page.locator(".bad-hint").wait_for(state="detached")
        settled(page)
        page.evaluate("() => { window.after = null; }")
        field.press("End")
        field.press_sequentially("000", delay=60.0)
        found.append(float(page.wait_for_function("() => window.after").json_value()))
    return found


def pictures(browser: Any, link: str, blueprints: Blueprints, folder: Path, turns: int) -> tuple[list[float], int]:
    """From each return of a skill until the next node is lit, in each browser [ms]; and how often it never was."""
    from robot_rt_control.blueprint.remote import StartRequest

    path = folder / "turns"
    text = _TURNS.format(path=path, seconds=_TURN_S, times=max(turns // 2, 2))
    pages = []
    for _ in range(_PAGES):
        page = _page(browser, link)
        open_text(page, text)
        page.evaluate(_SEEN)
        pages.append(page)
    run = blueprints.run(StartRequest(skill=text))
    while (end := run.wait(1.0)) is None:
        pages[0].wait_for_timeout(10)  # so that Playwright takes in what came
    assert end.success, end
    pages[0].wait_for_timeout(1000)
    events = [(node, float(at)) for node, at in (line.split() for line in path.read_text().splitlines())]
    found, lost = [], 0
    for page in pages:
        seen = page.evaluate("() => window.seen")
        for (node, at), (_, until) in zip(events[:-1], events[1:], strict=True):
            following = "b" if node == "a" else "a"
            shown = [t - at for lit, t in seen if lit == following and at - 0.002 <= t < until + _TURN_S]
            if shown:
                found.append(1e3 * max(shown[0], 0.0))
            else:
                lost += 1
        page.context.close()
    return found, lost


def plot(path: Path, figures: list[tuple[str, list[float], float]]) -> None:
    """How each figure is distributed, with its aim."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(figures), 1, figsize=(8, 2 * len(figures)), layout="constrained")
    for axis, (name, values, aim) in zip(axes, figures, strict=True):
        ordered = np.sort(values)
        axis.step(ordered, np.arange(1, len(ordered) + 1) / len(ordered), where="post")
        axis.axvline(aim, color="tab:red", linestyle="--", label="aim")
        axis.set(title=name, xlabel="ms", ylabel="share", xlim=(0, 1.1 * max(aim, ordered[-1])), ylim=(0, 1.02))
        axis.grid(alpha=0.3)
        axis.legend(loc="lower right")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
