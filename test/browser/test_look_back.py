"""Back in time while the robot runs, in a real browser: the past is shown, is told apart from now, and is let go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from fed_ticks import FAULT, LAST, SWITCH, Cell, wave
from memory_robot import MemoryRobot
from pages import bring, node, open_text, serious, text_of, until

from robot_rt_control.model.paths import find_workcell

VIEW = "document.querySelector('.robot-scene')?.view"
PANEL = "document.querySelector('.timeline-panel')"
TOUR = """name: tour
nodes:
  look: {wait: 0.3, then: grip}
  grip: {wait: 0.3, then: place}
  place: {wait: 0.3}
"""


@pytest.fixture
def cell(robot: MemoryRobot) -> Cell:
    return Cell(robot, bring(robot, "iiwa").joint_state_names()["arm"])


@pytest.fixture
def watch(come: Callable[..., Any], cell: Cell) -> Callable[..., Any]:
    """Opens the view with the bar of the past, once all ticks have come: `watch(watching=True)`."""

    def opening(**options: Any) -> Any:
        page = come(page_name="view.html", **options)
        page.wait_for_function(f"() => {VIEW}?.shown && {VIEW}.robots.loading === 0")
        page.get_by_role("button", name="Back in time").click()
        page.get_by_text("No ticks have come yet.").wait_for()
        cell.feed(1, LAST)
        grown(page, LAST)
        return page

    return opening


def grown(page: Any, last: int) -> None:
    page.wait_for_function(
        "last => document.querySelector('[aria-label=Moment]')?.max === String(last)", arg=last
    )  # fmt: skip


def at(page: Any, tick: int) -> None:
    """Wait until the joints of a tick are drawn."""
    n = page.evaluate(f"() => {VIEW}.positions.length")
    wanted = [wave(tick, joint) for joint in range(n)]
    page.wait_for_function(f"q => {VIEW}.positions.every((value, i) => Math.abs(value - q[i]) < 1e-5)", arg=wanted)


def behind(page: Any, seconds: float) -> None:
    """Wait until the banner says so; it adds the time for which no tick has come, of a slow machine as well."""
    said = "parseFloat(document.querySelector('.past-behind')?.textContent)"
    page.wait_for_function(f"seconds => {said} >= seconds - 0.051 && {said} < seconds + 300", arg=seconds)


def go(page: Any, tick: int) -> None:
    page.get_by_label("Moment").fill(str(tick))


def test_H16_the_slider_shows_a_moment_of_the_robot_that_runs_and_now_returns(
    watch: Callable[..., Any], cell: Cell, picture: Any
) -> None:
    page = watch(watching=True)
    at(page, LAST)
    assert page.get_by_text("THE PAST").count() == 0
    picture(page, "look_back_now")
    model = pin.buildModelFromXML(cell.robot.description_text)
    for tick in (1, 2999, 4321):
        go(page, tick)
        at(page, tick)
        data = model.createData()
        pin.framesForwardKinematics(model, data, np.array([wave(tick, joint) for joint in range(model.nq)]))
        tip = data.oMf[model.getFrameId("lbr_iiwa_link_7")].translation
        X = np.reshape(page.evaluate(f"() => {VIEW}.pose('lbr_iiwa_link_7')"), (4, 4)).T
        assert np.linalg.norm(X[:3, 3] - tip) < 1e-4, "[m]"
        behind(page, (LAST - tick) / 1000)
        parts = page.get_by_role("region", name="Parts").get_by_role("row")
        assert parts.nth(1).inner_text().split() == ["arm", "approach" if tick < SWITCH else "retreat", "enabled"]
    picture(page, "look_back_past")
    assert serious(page) == []
    # The robot goes on unseen.
    cell.feed(LAST + 1, LAST + 1000)
    grown(page, LAST + 1000)
    at(page, 4321)
    behind(page, (LAST + 1000 - 4321) / 1000)
    page.get_by_role("status").get_by_role("button", name="Now").click()
    at(page, LAST + 1000)
    page.get_by_text("THE PAST").wait_for(state="detached")
    cell.feed(LAST + 1001, LAST + 1500)
    at(page, LAST + 1500)


def test_H16_events_and_why_it_stopped_lead_back_and_the_timeline_follows(
    watch: Callable[..., Any], cell: Cell, picture: Any
) -> None:
    page = watch()
    page.get_by_role("button", name="Timeline", exact=True).click()
    page.wait_for_function(f"() => {PANEL}?.panel")
    page.get_by_role("button", name="Why did it stop?").click()
    at(page, FAULT)
    page.get_by_text("arm faulted: joint 3: following error.").wait_for()
    page.get_by_text("was faulted: the measured position left its range").wait_for()
    assert page.evaluate(f"() => {VIEW}.colorOf('lbr_iiwa_link_3')")[0] > 0.4, "red, as it was then"
    page.wait_for_function(f"tick => {PANEL}.panel.scope.at === tick", arg=FAULT)
    picture(page, "look_back_fault")
    page.get_by_role("button", name="Show all that is kept").click()
    page.get_by_role("button", name="too_close").click()
    at(page, SWITCH)
    page.get_by_role("button", name="A tick back").click()
    at(page, SWITCH - 1)
    page.get_by_label("Speed").select_option("10")
    page.get_by_role("button", name="Play", exact=True).click()
    page.get_by_text("THE PAST").wait_for(state="detached")
    at(page, LAST)
    page.wait_for_function(f"() => {PANEL}.panel.scope.at === null")
    # A click into the plots leads back, too.
    page.evaluate(f"() => {PANEL}.panel.read(8500)")
    at(page, 8500)
    page.get_by_text("THE PAST").wait_for()


def test_H16_nothing_is_kept_once_nobody_looks_back(watch: Callable[..., Any], cell: Cell, editor: Any) -> None:
    page = watch(watching=True)
    recent = editor.server._timelines.recent
    assert recent.first == 1 and recent.last == LAST
    go(page, 100)
    at(page, 100)
    page.get_by_role("button", name="Back in time").click()
    at(page, LAST)
    page.get_by_text("THE PAST").wait_for(state="detached")
    until(page, lambda: recent.last == 0 and not len(recent._ticks))


def test_H18_the_blueprint_moves_with_the_slider(
    come: Callable[..., Any], robot: MemoryRobot, cell: Cell, picture: Any
) -> None:
    page = come()
    open_text(page, TOUR)
    page.get_by_role("button", name="Robot", exact=True).click()
    page.wait_for_function(f"() => {VIEW}?.shown && {VIEW}.robots.loading === 0")
    page.get_by_role("button", name="Back in time").click()
    page.get_by_text("No ticks have come yet.").wait_for()
    cell.feed(1, 1000, ())
    grown(page, 1000)
    assert robot.run({"skill": TOUR})["success"]
    until(page, lambda: robot.runs[0].outcome is not None)
    records = robot.runs[0].records
    last = records[-1]["tick"] + 2000
    cell.feed(1001, last, (), step=4000)
    grown(page, last)

    def shown(id: str, css: str) -> None:
        node(page, id).locator(f".node{css}").wait_for()

    begun = {record["path"]: record["tick"] for record in records if record["what"] == "node"}
    go(page, begun["look"] - 1)
    log = page.get_by_role("region", name="The run then")
    page.get_by_role("region", name="The blueprint then").wait_for()
    for id in ("look", "grip", "place"):
        shown(id, ":not(.is-runs):not(.was-success)")
    go(page, begun["grip"])
    shown("look", ".was-success")
    shown("grip", ".is-runs")
    shown("place", ":not(.is-runs):not(.was-success)")
    log.locator("li.now").get_by_text("grip begins").wait_for()
    picture(page, "look_back_blueprint")
    assert serious(page) == []
    page.get_by_role("button", name="A tick back").click()
    shown("look", ".is-runs")
    shown("grip", ":not(.is-runs)")
    # The log leads to its tick, which the robot shows as well.
    log.get_by_role("button", name="place begins").click()
    at(page, begun["place"])
    shown("place", ".is-runs")
    # Nothing of then is left, and what is told goes to the run of now.
    page.get_by_role("status").get_by_role("button", name="Now").click()
    log.wait_for(state="detached")
    page.get_by_test_id("run-state").get_by_text("Ended").wait_for()
    at(page, last)


LIFT = """name: lift
nodes:
  stay: {wait: 3, then: up}
  up: {skill: move_joint, parts: {part: arm}, with: {position: [0.4, 0.5, 0.3, 1.0, 0.2, 0.6, 0.1]}}
"""


@pytest.mark.timeout(2400)  # two simulations, in processes that come last
def test_E34_what_if_from_a_moment_is_shown_as_a_ghost_and_kept_or_taken_back(
    come: Callable[..., Any], robot: MemoryRobot, cell: Cell, editor: Any, picture: Any
) -> None:
    editor.server._what_ifs._workcell = find_workcell("iiwa")
    page = come()
    open_text(page, LIFT)
    page.get_by_role("button", name="Robot", exact=True).click()
    page.wait_for_function(f"() => {VIEW}?.shown && {VIEW}.robots.loading === 0")
    page.get_by_role("button", name="Back in time").click()
    cell.feed(1, 1000, ())
    grown(page, 1000)
    assert robot.run({"skill": LIFT})["success"]
    until(page, lambda: robot.runs[0].outcome is not None)
    records = robot.runs[0].records
    last = records[-1]["tick"] + 6000
    cell.feed(1001, last, (), step=4000)
    grown(page, last)
    begun = next(record["tick"] for record in records if record["what"] == "node" and record["path"] == "stay")
    go(page, begun + 100)
    page.locator(".past-run li.now").get_by_text("stay begins").wait_for()
    changed = LIFT.replace("wait: 3", "wait: 0.5")
    node(page, "stay").click()
    page.get_by_label("Seconds").fill("0.5")
    until(page, lambda: "wait: 0.5" in text_of(page))
    page.get_by_role("button", name="What if from here").click()
    panel = page.get_by_role("region", name="What if")
    panel.get_by_text("Ended: done").wait_for(timeout=1_000_000)
    picture(page, "what_if")
    assert "'stay' begins anew" in panel.text_content()
    # The slider moves the ghost, and the nodes of what was simulated.
    page.wait_for_function(f"() => {VIEW}.ghost !== null")
    go(page, begun + 100 + 5000)
    model = pin.buildModelFromXML(robot.description_text)
    data = model.createData()
    pin.framesForwardKinematics(model, data, np.array([0.4, 0.5, 0.3, 1.0, 0.2, 0.6, 0.1]))
    tip = data.oMf[model.getFrameId("lbr_iiwa_link_7")].translation
    ghost = f"{VIEW}.ghost?.link('lbr_iiwa_link_7')?.matrixWorld.toArray().slice(12, 15)"
    page.wait_for_function(f"p => Math.hypot(...({ghost} ?? [9]).map((x, i) => x - p[i])) < 5e-3", arg=tip.tolist())
    node(page, "up").locator(".node.was-success").wait_for()
    picture(page, "what_if_ended")
    assert serious(page) == []
    # Before its moment there is no ghost; the form of the node stays, whichever run the slider shows.
    go(page, begun + 50)
    page.wait_for_function(f"() => {VIEW}.ghost === null")
    page.get_by_text("The run is not drawn here.").wait_for()  # it is another text that ran then
    go(page, begun + 100 + 5000)
    page.wait_for_function(f"() => {VIEW}.ghost !== null")
    node(page, "up").locator(".node.was-success").wait_for()
    assert page.get_by_label("Seconds").is_visible()
    panel.get_by_role("button", name="Keep the change").click()
    page.wait_for_function(f"() => {VIEW}.ghost === null")
    assert text_of(page) == changed
    assert page.evaluate("() => document.activeElement.ariaLabel") == "What if", "the focus is kept"
    # What ran is opened as it was; a copy of it can be changed.
    go(page, begun + 100)
    page.get_by_role("button", name="Show what ran").first.click()
    panel.get_by_text("This text cannot be changed.").wait_for()
    assert panel.get_by_role("button", name="What if from here").is_disabled() and text_of(page) == LIFT
    picture(page, "what_if_read_only")
    panel.get_by_role("button", name="Open a copy that can be changed").click()
    panel.get_by_text("Change a node and simulate").wait_for()
    # Another time the text that ran is put back, in the document that was asked about.
    page.locator(".doc-tab").first.get_by_role("button").first.click()
    until(page, lambda: text_of(page) == changed)
    page.get_by_role("button", name="What if from here").click()
    panel.get_by_text("Ended: done").wait_for(timeout=1_000_000)
    back = panel.get_by_role("button", name="Back to the text that ran")
    back.wait_for()
    page.locator(".doc-tab").last.get_by_role("button").first.click()
    panel.get_by_role("button", name="Close").wait_for()
    assert back.count() == 0 and text_of(page) == LIFT, "another document's change is not undone here"
    page.locator(".doc-tab").first.get_by_role("button").first.click()
    back.click()
    until(page, lambda: text_of(page) == LIFT)
    assert len(robot.runs) == 1, "nothing was started on the robot"
    assert all(not name.startswith(("run", "start")) for name, _ in robot.calls), "nothing was told to the robot"
