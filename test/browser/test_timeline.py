"""The timeline in a real browser: what is plotted is what the loop had, in its ticks; what is missing stays missing."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from memory_robot import MemoryRobot
from pages import bring, serious, until

from robot_rt_control.editor.robot import TimelineNews
from robot_rt_control.ros.tick_batches import TickBatch, TickNames

PAGE = "view.html"
TIMELINE = "document.querySelector('.timeline-panel')"
NAMES = TickNames(
    version=1, period=0.001, columns=5, variables={"arm.position[0]": 1, "arm.velocity[0]": 2, "deadline_misses": 3},
    actions={"arm": 4}, integers=frozenset({0, 3, 4}),
)  # fmt: skip
ACTIONS = {1: "arm_default_action", 2: "approach", 3: "retreat"}
SWITCHES = ((0, 1), (3000, 2), (6000, 3), (8000, 1))
"""From these ticks on, this action."""
LOST = range(4500, 4700)


def values(ticks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Position and velocity in each tick."""
    t = ticks * 1e-3
    position = np.sin(2.0 * t) + 0.002 * np.sin(173.0 * t)
    velocity = 2.0 * np.cos(2.0 * t)
    velocity[(ticks >= 7000) & (ticks < 7300)] = np.nan
    return position, velocity


def batch(first: int, last: int) -> TickBatch | None:
    ticks = np.array([tick for tick in range(first, last + 1) if tick not in LOST], np.int64)
    if not len(ticks):
        return None
    rows = np.zeros((len(ticks), 5), np.int64)
    rows[:, 0], rows[:, 3] = ticks, ticks // 2500
    rows.view(np.float64)[:, 1], rows.view(np.float64)[:, 2] = values(ticks)
    for tick, identity in SWITCHES:
        rows[ticks >= tick, 4] = identity
    return TickBatch(version=1, rows=rows, action_names=ACTIONS)


def event(tick: int, kind: str, **more: Any) -> dict[str, Any]:
    empty = dict.fromkeys(("session", "reaction", "event", "previous_action", "current_action", "part", "reason"), "")
    return {**empty, "kind": kind, "tick": tick, "values": {}, **more}


EVENTS = (
    event(3000, "action_started", session="s1", current_action="approach", part="arm"),
    event(6000, "reaction_fired", session="s1", reaction="near", event="too_close", previous_action="approach",
          current_action="retreat", part="arm", values={"rangefinder.distance": 0.1999}),
    event(8000, "part_faulted", session="s1", part="arm", reason="joint 3: following error"),
)  # fmt: skip


def feed(robot: MemoryRobot, first: int, last: int, *events: dict[str, Any], step: int = 500) -> None:
    """Ticks of a loop, as fast as they are taken."""
    for begin in range(first, last + 1, step):
        deadline = time.monotonic() + 120
        while robot.news.batches and time.monotonic() < deadline:
            time.sleep(0.005)
        found = batch(begin, min(begin + step - 1, last))
        happened = [each for each in events if begin <= each["tick"] < begin + step]
        robot.news = TimelineNews(names=NAMES, batches=[found] if found else [], events=happened)


@pytest.fixture
def watch(come: Callable[..., Any], robot: MemoryRobot) -> Callable[..., Any]:
    """Opens the view with its timeline: `watch(watching=True)`."""
    bring(robot, "iiwa")
    robot.news = TimelineNews(names=NAMES)
    described = {"arm.position[0]": "rad", "arm.velocity[0]": "rad/s"}
    robot.variables = lambda session="": [  # type: ignore[method-assign]
        {"name": name, "type": "float", "unit": unit, "description": f"measured {name}", "value": 0.0}
        for name, unit in described.items()
    ]

    def opening(**options: Any) -> Any:
        page = come(page_name=PAGE, **options)
        page.get_by_role("button", name="Timeline", exact=True).click()
        page.wait_for_function(f"() => {TIMELINE}?.source?.variables.length === 3")
        return page

    return opening


def plot(page: Any, *names: str) -> None:
    """Choose variables by typing."""
    for name in names:
        page.get_by_role("combobox", name="Plot a variable").fill(name)
        page.keyboard.press("Enter")
        page.get_by_role("list", name="Plotted variables").get_by_text(name, exact=True).wait_for()


def shown(page: Any, last: int) -> None:
    page.wait_for_function(f"last => {TIMELINE}.source.range?.last === last", arg=last)
    page.evaluate("() => new Promise(requestAnimationFrame)")


def stored(page: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Ticks and values of a variable, as the page has them."""
    found = page.evaluate(
        f"name => {{ const {{ticks, values}} = {TIMELINE}.source.samples(name, {{first: 0, last: 1e9}});"
        " return [[...ticks], Array.from(values, value => Number.isNaN(value) ? null : value)]; }",
        name,
    )
    return np.array(found[0]), np.array([math.nan if value is None else value for value in found[1]])


def test_E22_what_is_plotted_is_what_the_loop_had_in_each_tick(
    watch: Callable[..., Any], robot: MemoryRobot, picture: Any
) -> None:
    page = watch(watching=True)
    plot(page, "arm.position[0]", "arm.velocity[0]", "deadline_misses")
    feed(robot, 1, 9000, *EVENTS)
    shown(page, 9000)
    ticks, position = stored(page, "arm.position[0]")
    wanted = [tick for tick in range(1, 9001) if tick not in LOST]
    assert ticks.tolist() == wanted
    assert np.array_equal(position, values(ticks)[0]), "to the bit"
    assert np.array_equal(stored(page, "arm.velocity[0]")[1], values(ticks)[1], equal_nan=True)
    gaps = page.evaluate(f"() => {TIMELINE}.source.gaps({{first: 0, last: 1e6}})")
    assert gaps == [{"first": LOST[0], "last": LOST[-1]}]
    bars = page.evaluate(f"() => {TIMELINE}.source.bars({{first: 0, last: 1e6}})")
    assert [(bar["action"], bar["session"], bar["first"], bar["last"]) for bar in bars] == [
        ("arm_default_action", "", 1, 2999), ("approach", "s1", 3000, 4499), ("approach", "s1", 4700, 5999),
        ("retreat", "s1", 6000, 7999), ("arm_default_action", "", 8000, None),
    ]  # fmt: skip
    marks = page.evaluate(f"() => {TIMELINE}.source.marks({{first: 0, last: 1e6}})")
    assert [(mark["tick"], mark["kind"]) for mark in marks] == [(each["tick"], each["kind"]) for each in EVENTS]
    page.get_by_text("Events", exact=True).click()
    page.get_by_text("reaction (s1, arm): near").wait_for()
    picture(page, "timeline")
    assert page.evaluate(f"() => {TIMELINE}.panel.scope.chosen.map(each => each.unit)") == ["rad", "rad/s", ""]


def scope(page: Any) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(f"() => ({{...{TIMELINE}.panel.scope}})")
    return found


def place(page: Any, tick: float) -> tuple[float, float]:
    """x and y in the page, of a tick, in the middle of the plots."""
    box = page.locator(".timeline-canvas").bounding_box()
    x = page.evaluate(f"tick => {TIMELINE}.panel.plot.xAt(tick, {TIMELINE}.panel.scope)", tick)
    return box["x"] + x, box["y"] + 40


def value(page: Any, name: str) -> str:
    return str(page.locator(f".timeline-legend li[data-name='{name}'] .timeline-value").inner_text())


def test_reading_measuring_and_zooming_by_mouse(
    watch: Callable[..., Any], robot: MemoryRobot, picture: Any
) -> None:
    page = watch(watching=True)
    plot(page, "arm.position[0]", "deadline_misses")
    feed(robot, 1, 9000, *EVENTS)
    shown(page, 9000)
    page.mouse.click(*place(page, 2600))
    at = scope(page)["at"]
    assert abs(at - 2600) < 20
    wanted = values(np.array([at]))[0][0]
    until(page, lambda: value(page, "arm.position[0]") == f"{float(f'{wanted:.5g}'):g} rad")
    assert value(page, "deadline_misses") == "1"
    page.mouse.click(*place(page, 4600))
    until(page, lambda: value(page, "arm.position[0]") == "missing")
    page.mouse.move(*place(page, 1000))
    page.mouse.down()
    page.mouse.move(*place(page, 8000), steps=4)
    page.mouse.up()
    measured = scope(page)["measured"]
    until(page, lambda: value(page, "deadline_misses") == "Δ 3")
    ticks = measured["last"] - measured["first"]
    assert abs(ticks - 7000) < 40
    assert page.locator(".timeline-readout").inner_text() == f"Δt {ticks / 1000:.3f} s ({ticks} ticks)"
    before, after = (values(np.array([measured[end]]))[0][0] for end in ("first", "last"))
    shown_change = float(value(page, "arm.position[0]").split()[1])
    assert shown_change == pytest.approx(after - before, abs=1e-4)
    picture(page, "timeline_measured")
    x, y = place(page, 6000)
    page.mouse.move(x, y)
    for _ in range(6):
        page.mouse.wheel(0, -100)
    until(page, lambda: scope(page)["last"] - scope(page)["first"] < 3000)
    assert abs(place(page, 6000)[0] - x) < 5, "what is under the mouse stays there"


def test_it_goes_on_until_it_is_paused(watch: Callable[..., Any], robot: MemoryRobot) -> None:
    page = watch(watching=True)
    plot(page, "arm.position[0]")
    feed(robot, 1, 1000)
    shown(page, 1000)
    assert scope(page)["last"] == 1000
    page.get_by_role("button", name="Pause").click()
    feed(robot, 1001, 2000)
    shown(page, 2000)
    assert scope(page)["last"] == 1000 and len(stored(page, "arm.position[0]")[0]) == 2000
    page.get_by_role("button", name="Go on").click()
    until(page, lambda: scope(page)["last"] == 2000)


def test_it_is_used_by_keys_and_read_by_all(watch: Callable[..., Any], robot: MemoryRobot, picture: Any) -> None:
    page = watch(watching=True)
    plot(page, "arm.position[0]", "arm.velocity[0]")
    feed(robot, 1, 9000, *EVENTS)
    shown(page, 9000)
    page.get_by_role("group", name="Plots").focus()
    page.keyboard.press("End")
    page.keyboard.press(",")
    until(page, lambda: scope(page)["at"] == 8000)
    page.keyboard.press(",")
    until(page, lambda: scope(page)["at"] == 6000)
    page.keyboard.press("Control+ArrowLeft")
    until(page, lambda: scope(page)["at"] == 5999)
    page.keyboard.press("Shift+Control+ArrowRight")
    page.keyboard.press("Shift+Control+ArrowRight")
    until(page, lambda: scope(page)["measured"] == {"first": 5999, "last": 6001})
    page.keyboard.press("Escape")
    span = scope(page)["last"] - scope(page)["first"]
    page.keyboard.press("+")
    until(page, lambda: scope(page)["last"] - scope(page)["first"] == pytest.approx(span / 2))
    page.keyboard.press("2")
    assert page.get_by_text("View 2 is empty").count() == 0, "these are not the keys of the scene"
    page.get_by_text("Events", exact=True).click()
    assert serious(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    shown(page, 9000)
    picture(page, "timeline_390")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert serious(page) == []
    page.get_by_role("button", name="Take out arm.velocity[0]").click()
    until(page, lambda: len(scope(page)["chosen"]) == 1)
    page.keyboard.press("Control+.")
    until(page, lambda: robot.stopped)


def test_E25_a_click_on_a_reaction_shows_why_it_is_true_now_or_not(
    watch: Callable[..., Any], robot: MemoryRobot, picture: Any
) -> None:
    robot.variable_values = {"rangefinder.distance": 0.15}
    page = watch(watching=True)
    listed = {"rangefinder.distance": 0.15, "gripper.closed": math.nan, "approach.is_done": 0.0}
    robot.variables = lambda session="": [  # type: ignore[method-assign]
        {"name": name, "type": "float", "unit": "", "description": "", "value": value} for name, value in listed.items()
    ]
    empty = {"stop": False, "signal": "", "event": "", "fire_once": False, "keep_owner": False, "capture": [],
             "place": "/home/ann/pick.py:31"}  # fmt: skip
    near = {"name": "near", "condition": "rangefinder.distance < 0.2 and (gripper.closed or is_done)",
            "start": "retreat", **empty}  # fmt: skip
    robot.defined["s1"] = {
        "actions": [{"id": "approach", "type": "move_joint", "parts": ["arm"], "reactions": [near]}],
        "reactions": [],
    }
    plot(page, "arm.position[0]")
    feed(robot, 1, 9000, *EVENTS)
    shown(page, 9000)
    x, _ = place(page, 6000)
    top = page.evaluate(f"() => {TIMELINE}.panel.plot.marksTop")
    page.mouse.click(x, page.locator(".timeline-canvas").bounding_box()["y"] + top + 9)
    until(page, lambda: scope(page)["at"] == 6000)
    page.get_by_text("near fired at 6.000 s.", exact=True).wait_for()
    terms = page.get_by_role("list", name="Condition of near", exact=True)
    then = page.get_by_role("list", name="Condition of near when it fired")

    def said() -> list[str]:
        return [str(text) for text in terms.get_by_role("listitem").all_inner_texts()]

    whole = "rangefinder.distance < 0.2 and (gripper.closed or is_done)"
    until(page, lambda: said() == [
        f"? unknown {whole}", "✓ true rangefinder.distance < 0.2 rangefinder.distance = 0.15",
        "? unknown gripper.closed or is_done", "? unknown gripper.closed gripper.closed = unknown",
        "✗ false is_done is_done = 0",
    ])  # fmt: skip
    page.get_by_text("near (s1/approach): starts retreat").wait_for()
    page.get_by_text("Defined in pick.py:31").wait_for()
    assert then.get_by_role("listitem").all_inner_texts() == [
        f"– not listed {whole}", "✓ true rangefinder.distance < 0.2 rangefinder.distance = 0.1999",
        "– not listed gripper.closed or is_done", "– not listed gripper.closed", "– not listed is_done",
    ], "the event has captured the distance alone"  # fmt: skip
    picture(page, "timeline_reaction")
    assert serious(page) == []
    listed["rangefinder.distance"] = 0.7
    until(page, lambda: said()[0] == f"✗ false {whole}")
    del robot.defined["s1"]
    page.get_by_text("s1: unknown session 's1'").wait_for()


def test_what_was_plotted_comes_back_and_a_closed_timeline_costs_nothing(
    watch: Callable[..., Any], robot: MemoryRobot
) -> None:
    page = watch(watching=True)
    plot(page, "arm.position[0]")
    page.reload()
    page.wait_for_function(f"() => {TIMELINE}?.source?.variables.length === 3")
    page.get_by_role("list", name="Plotted variables").get_by_text("arm.position[0]").wait_for()
    feed(robot, 1, 500)
    shown(page, 500)
    assert len(stored(page, "arm.position[0]")[0]) == 500 and robot.timeline_followed
    page.get_by_role("button", name="Timeline", exact=True).click()
    until(page, lambda: not robot.timeline_followed)
    page.get_by_text("Plot a variable").wait_for(state="detached")


def test_it_is_in_the_editors_tab_too_and_loaded_when_it_is_opened(
    come: Callable[..., Any], robot: MemoryRobot, picture: Any
) -> None:
    bring(robot, "iiwa")
    robot.news = TimelineNews(names=NAMES)
    page = come()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_role("button", name="Robot", exact=True).click()
    page.get_by_role("button", name="Timeline", exact=True).wait_for()
    assert not any("timeline.js" in url for url in asked)
    page.get_by_role("button", name="Timeline", exact=True).click()
    page.wait_for_function(f"() => {TIMELINE}?.source?.variables.length === 3")
    assert any("timeline.js" in url for url in asked)
    plot(page, "arm.position[0]")
    feed(robot, 1, 9000, *EVENTS)
    shown(page, 9000)
    picture(page, "timeline_tab")
    page.get_by_role("button", name="Robot", exact=True).click()
    until(page, lambda: not robot.timeline_followed)


def test_another_executor_begins_anew(watch: Callable[..., Any], robot: MemoryRobot) -> None:
    page = watch(watching=True)
    plot(page, "arm.position[0]")
    feed(robot, 5000, 6000)
    shown(page, 6000)
    other = batch(1, 300)
    assert other is not None
    names = TickNames(**{**vars(NAMES), "version": 2})
    robot.news = TimelineNews(
        names=names, batches=[TickBatch(version=2, rows=other.rows, action_names=other.action_names)]
    )
    shown(page, 300)
    assert stored(page, "arm.position[0]")[0].tolist() == list(range(1, 301))
