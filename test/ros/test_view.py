"""`robot-rt view` beside a workcell: a real browser shows where the arm really is, and what it did in each tick."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import NOT_RUN, PATIENCE_S, TEST_FLAGS, browser_path, watch_over
from pages import until

from robot_rt_control.client import Action, Client, Event, Reaction, variable
from robot_rt_control.demo.demo_workcell import DemoWorkcell
from robot_rt_control.recording.tick_reader import TickFile

REPOSITORY = Path(__file__).resolve().parents[2]
VIEW = "document.querySelector('.robot-scene')?.view"
TIMELINE = "document.querySelector('.timeline-panel')"
TOOL = [f"arm.tool.{axis}" for axis in "xyz"]


@contextmanager
def view_process() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Yields the link that it prints first, and the process."""
    command = [sys.executable, "-m", "robot_rt_control.command_line.main", "view", "--port", "0"]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.match(r"See the robot: +(http://\S+)", process.stdout.readline())
            assert found
            yield found[1], process
        finally:
            process.send_signal(signal.SIGINT)
            try:
                assert process.wait(PATIENCE_S) == 0
            except subprocess.TimeoutExpired:
                process.kill()


@pytest.fixture(scope="module")
def client(own_domain: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Of a workcell in real time."""
    folder = tmp_path_factory.mktemp("view")
    arguments = ["--workcell", "arm7", "--controllers", "false", "--no-frames"]
    environment = {"XDG_DATA_HOME": str(folder), "ROBOT_RT_CONTROL_RECORDINGS": str(folder / "recordings")}
    log = folder / "workcell.log"
    with DemoWorkcell(arguments, log, environment=environment) as cell, Client("looking", timeout_s=60.0) as made:
        cell.wait_until_ready(made, lambda _: None)
        yield made


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    if (path := browser_path()) is None:
        pytest.skip(NOT_RUN)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=TEST_FLAGS)
        yield browser
        browser.close()


def test_the_page_shows_the_arm_where_it_is_and_what_it_does(chromium: Any, client: Client) -> None:
    complaints: list[str] = []
    client.enable()
    with view_process() as (link, _):
        page = chromium.new_page(viewport={"width": 1280, "height": 800})
        watch_over(page, link.partition("/view.html")[0], complaints)
        page.goto(link)
        page.wait_for_function(f"() => {VIEW}?.shown && {VIEW}.robots.scene.parts.length > 0")
        parts = page.evaluate(f"() => {VIEW}.robots.scene.parts")
        assert parts[0]["name"] == "arm" and len(parts[0]["links"]) >= 7

        def differs() -> float:
            """[m] Between the tool in the picture and that of the loop, which is at rest."""
            X = np.reshape(page.evaluate(f"() => {VIEW}.pose('arm_tool')"), (4, 4)).T
            return float(np.linalg.norm(X[:3, 3] - [client.value(name) for name in TOOL]))

        begin = [client.value(name) for name in TOOL]
        assert differs() < 1e-4
        with client.session("arm") as session:
            session.add(Action("down", "move_linear", offset=[0.0, -0.1, -0.1], speed=0.2))
            motion = session.follow("down")
            page.wait_for_function(f"() => {VIEW}.shapes.drawn.some(each => each.userData.namespace === 'path')")
            assert motion.wait(PATIENCE_S).end == "reached"
        assert np.linalg.norm(np.subtract([client.value(name) for name in TOOL], begin)) > 0.1
        page.wait_for_timeout(1000)
        assert differs() < 1e-4
        page.get_by_role("button", name="STOP", exact=True).click()
        page.get_by_role("button", name="STOPPED").wait_for()
        assert [stop.source for stop in client.stops()] == ["editor"]
        page.close()
    client.release("editor")
    assert complaints == []


def test_the_timeline_has_what_the_workcell_had_in_each_tick(chromium: Any, client: Client) -> None:
    """Its values are compared with a recording of the same ticks, its bars and marks with the events."""
    complaints: list[str] = []
    events: list[Event] = []
    names = ["arm.position[0]", "arm.commanded_position[0]", "arm.operational_state", "interval", "deadline_misses",
             "lateness"]  # fmt: skip
    client.enable()
    client.add_listener(events.append)
    with view_process() as (link, process):
        page = chromium.new_page(viewport={"width": 1280, "height": 800})
        watch_over(page, link.partition("/view.html")[0], complaints)
        page.goto(link)
        page.get_by_role("button", name="Timeline", exact=True).click()
        page.wait_for_function(f"() => {TIMELINE}?.source?.variables.some(each => each.unit === 'rad')")
        for name in names:
            page.get_by_role("combobox", name="Plot a variable").fill(name)
            page.keyboard.press("Enter")
        page.wait_for_function(f"() => {TIMELINE}.source.range !== null")
        client.record(True)
        with client.session("arm") as session:
            far = variable("arm.position[0]") > 0.1
            position = [client.value(f"arm.position[{i}]") for i in range(7)]
            session.add(
                Action("out", "move_joint", position=[position[0] + 0.5, *position[1:]],
                       reactions=[Reaction(far, start="back", event="far", capture=["arm.position[0]"])]),
                Action("back", "move_joint", position=position,
                       reactions=[Reaction(variable("arm.position[0]") > 5.0, stop=True)]),
            )  # fmt: skip
            page.get_by_text("Reactions", exact=True).click()
            session.start("out")
            until(page, lambda: any(each.name == "far" for each in list(events)))
            at_rest = "arm.at_rest"
            until(page, lambda: client.value(at_rest) and client.value("arm.position[0]") < position[0] + 1e-3)
            page.get_by_role("listitem").filter(has_text="arm.position[0] > 5").get_by_text("✗ false").wait_for()
        recorded = TickFile(client.record(False)).arrays()
        ticks, last = recorded["tick"], int(recorded["tick"][-1])
        page.wait_for_function(f"last => {TIMELINE}.source.range.last > last", arg=last)
        within = {"first": int(ticks[0]), "last": last}
        seen = ~of_gaps(page, ticks, within)
        assert seen.mean() > 0.5, "most of it has come, also on a busy machine"
        for name, column in (
            ("arm.position[0]", recorded["arm.position"][:, 0]),
            ("arm.commanded_position[0]", recorded["arm.commanded_position"][:, 0]),
            ("arm.operational_state", recorded["arm.state"]),
            ("deadline_misses", recorded["deadline_misses"]),
        ):
            found = samples(page, name, within)
            assert found[0].tolist() == ticks[seen].tolist(), name
            assert np.array_equal(found[1], column[seen]), f"{name}, to the bit"
        found = samples(page, "interval", within)
        own = np.diff(recorded["time_ns"], prepend=np.nan)[seen] * 1e-9
        known = ~np.isnan(found[1]) & ~np.isnan(own)
        assert np.allclose(found[1][known], own[known], rtol=0, atol=1e-12) and known.sum() > 0.9 * len(own)

        late = samples(page, "lateness", within)[1]
        assert np.isfinite(late).all() and (late >= 0.0).all() and late.max() > 0.0
        started = next(each for each in events if each.kind == "action_started" and each.current_action == "out")
        fired = next(each for each in events if each.kind == "reaction_fired" and each.reaction)
        page.wait_for_function(f"tick => {TIMELINE}.source.marks({{first: tick, last: tick}}).length > 0",
                               arg=fired.tick)  # fmt: skip
        marks = of_page(page, f"marks({{first: {fired.tick}, last: {fired.tick}}})")
        mark = next(each for each in marks if each["kind"] == "reaction_fired")
        assert (mark["event"], mark["previousAction"], mark["currentAction"]) == ("far", "out", "back")
        assert mark["values"] == dict(fired.values) and mark["values"]["arm.position[0]"] > 0.1
        bars = [bar for bar in of_page(page, f"bars({json.dumps(within)})") if bar["part"] == "arm"]
        named = {bar["action"]: bar for bar in bars if not bar["began"]}
        assert named["out"]["first"] == started.tick and named["out"]["last"] == fired.tick - 1
        assert named["back"]["first"] == fired.tick and named["out"]["session"] == started.session
        page.get_by_text("Events", exact=True).click()
        page.get_by_text("; event far; out → back").click()
        page.get_by_text("what follows is true now").wait_for()
        page.locator(".timeline-reactions").get_by_text(f"{started.session}: ").wait_for()  # it has ended

        # What a process that stands still has missed is a gap; nothing is drawn there.
        before = of_page(page, "range.last")
        process.send_signal(signal.SIGSTOP)
        try:
            while client.value("time") < (before + 12_000) * 1e-3:
                time.sleep(0.1)
        finally:
            process.send_signal(signal.SIGCONT)
        page.wait_for_function(f"tick => {TIMELINE}.source.range.last > tick", arg=before + 12_000)
        lost = {"first": before, "last": before + 12_000}
        gaps = of_page(page, f"gaps({json.dumps(lost)})")
        assert gaps and sum(gap["last"] - gap["first"] + 1 for gap in gaps) > 1000
        after = samples(page, "arm.position[0]", lost)[0]
        missing = of_gaps(page, np.arange(before, before + 12_001), lost)
        assert after.tolist() == (before + np.flatnonzero(~missing)).tolist()
        page.get_by_role("button", name="Now", exact=True).click()
        page.close()
    assert [text for text in complaints if "WebSocket" not in text] == []


def of_page(page: Any, expression: str) -> Any:
    """What the timeline's source says."""
    return page.evaluate(f"() => {TIMELINE}.source.{expression}")


def samples(page: Any, name: str, within: dict[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """Ticks and values of a variable, as the page has them."""
    found = page.evaluate(
        f"([name, range]) => {{ const {{ticks, values}} = {TIMELINE}.source.samples(name, range);"
        " return [[...ticks], Array.from(values, value => Number.isNaN(value) ? null : value)]; }",
        [name, within],
    )
    return np.array(found[0], np.int64), np.array([np.nan if value is None else value for value in found[1]])


def of_gaps(page: Any, ticks: np.ndarray, within: dict[str, int]) -> np.ndarray:
    """Which ticks the page says it misses."""
    found = np.zeros(len(ticks), bool)
    for gap in of_page(page, f"gaps({json.dumps(within)})"):
        found |= (ticks >= gap["first"]) & (ticks <= gap["last"])
    return found
