"""The editor's process beside a workcell in simulation, its executor of blueprints, and a real browser."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from browser import NOT_RUN, PATIENCE_S, TEST_FLAGS, browser_path, watch_over
from pages import node, open_text, settled
from served_editor import free_port
from std_msgs.msg import String
from tutorial_steps import follow, steps

from robot_rt_control.blueprint.remote import Blueprints
from robot_rt_control.client import Client
from robot_rt_control.demo.demo_workcell import DemoWorkcell

REPOSITORY = Path(__file__).resolve().parents[2]
TOUCHING = """name: touching
parameters: {speed: {unit: m/s, default: 0.05}}
start: touch
nodes:
  touch:
    skill: move_until_contact
    with: {speed: $speed}
    then: [{on: contact, go: back}, {on: not_found, go: nothing}]
  back:  {skill: move_linear, with: {offset: [0.0, 0.0, 0.05]}, parts: {arm: arm}, then: ask}
  nothing: {say: nothing there, then: ask}
  ask: {ask: {text: Once more?, answers: [again, enough]}, then: [{on: again, go: long}, {on: enough, end: done}]}
  long: {wait: 1000}
"""


@pytest.fixture(scope="module")
def cell(own_domain: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoWorkcell]:
    if browser_path() is None:
        pytest.skip(NOT_RUN)
    folder = tmp_path_factory.mktemp("editor")
    arguments = ["--workcell", "bench", "--controllers", "false", "--no-frames", "--blueprints"]
    arguments += ["--editor", "--editor-port", "0"]
    with DemoWorkcell(
        arguments, folder / "workcell.log", environment={"XDG_DATA_HOME": str(folder)}
    ) as made:
        with Client("starting", timeout_s=60.0) as starting:
            made.wait_until_ready(starting, lambda _: None)
            starting.enable()
        yield made


@contextmanager
def editor_process(port: int) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The editor, and its link."""
    command = [sys.executable, "-m", "robot_rt_control.editor.main", "--port", str(port)]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found
            yield process, found[0]
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()


@pytest.fixture(scope="module")
def chromium(cell: DemoWorkcell) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), headless=True, args=TEST_FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def link(cell: DemoWorkcell) -> str:
    """Of the workcell's own editor."""
    links = re.findall(r"Edit and operate: +(http://127.0.0.1:\d+/#token=\S+)", "\n".join(cell.last_lines(10_000)))
    assert links and len(set(links)) == 1, "once, or again when blueprints could be run"
    return str(links[0])


@pytest.fixture
def port() -> int:
    """Of an editor of the test's own, which dies: its page meets the next one there."""
    return free_port()


@pytest.fixture
def page(chromium: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A page for the workcell's editor, or for the test's own. At the end it may not have complained, or have asked
    another origin for anything. What belongs to an editor that is not there, or has forgotten who came, is allowed."""
    has_own = "port" in request.fixturenames
    origin = f"http://127.0.0.1:{request.getfixturevalue('port')}" if has_own else request.getfixturevalue("link")
    complaints: list[str] = []
    made = chromium.new_page(viewport={"width": 1280, "height": 800})
    watch_over(made, origin.partition("/#")[0], complaints, allow="api/|403|ERR_(CONNECTION|EMPTY_RESPONSE)")
    yield made
    if not has_own:  # the next test's person operates
        made.evaluate(
            "() => fetch('/api/operate', {method: 'POST', headers: {'Content-Type': 'application/json'},"
            " body: JSON.stringify({take: false})})"
        )
    made.close()
    assert complaints == []


def under_way(state: Any) -> list[Any]:
    """The nodes of runs that have not ended: those of earlier tests are shown as well."""
    ended = {node.run for node in state.nodes if node.state == "ended"}
    return [node for node in state.nodes if node.run not in ended]


def go_to(page: Any, link: str) -> None:
    host, port = re.findall(r"//([^/]+):(\d+)/", link)[0]
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            socket.create_connection((host, int(port)), timeout=PATIENCE_S).close()
            break
        except OSError:  # it does not listen yet
            assert time.monotonic() < deadline
            time.sleep(0.1)
    page.goto(link)
    page.wait_for_selector(".left[aria-busy=false] .skill-item")
    settled(page)


def test_the_tutorials_steps_move_the_arm(page: Any, link: str) -> None:
    with Client("looking", timeout_s=60.0) as client:
        go_to(page, link)
        begin = client.value("arm.tool.z")
        for step in steps()[:5]:
            follow(page, step)
        assert "rehearsed" in page.locator(".run-status").inner_text()
        assert client.value("arm.tool.z") == pytest.approx(begin, abs=1e-3)
        for step in steps()[5:]:
            follow(page, step)
        with Blueprints(client, timeout_s=60.0) as blueprints:
            runs, _ = blueprints.read_runs(blueprint="tour")
        assert [run["result"] for run in runs] == ["done"] * 3


def test_the_editor_is_a_process_of_the_workcell(page: Any, link: str) -> None:
    assert len(processes("robot_rt_control.editor.main")) == 1
    go_to(page, link)


def test_E10_a_blueprint_runs_on_the_simulation_and_the_editors_death_disturbs_nothing(
    page: Any, cell: DemoWorkcell, port: int
) -> None:
    with editor_process(port) as (process, link):
        go_to(page, link)
        open_text(page, TOUCHING)
        page.get_by_text("No mistakes.").wait_for()
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_text("Saved touching as version 1").wait_for()
        page.get_by_role("tab", name="Run").last.click()
        page.get_by_role("button", name="Start touching").click()
        page.get_by_role("button", name="again", exact=True).click()
        page.wait_for_selector(".react-flow__node[data-id=touch] .was-success")
        page.wait_for_selector(".react-flow__node[data-id=back] .was-success")
        page.wait_for_selector(".react-flow__node[data-id=long] .is-runs")
        os.kill(process.pid, signal.SIGKILL)
        page.get_by_text("This page has lost the editor").wait_for()
    with Client("looking", timeout_s=60.0) as client, Blueprints(client, timeout_s=60.0) as blueprints:
        state = blueprints.wait_for_state(lambda s: [n.path for n in under_way(s)] == ["", "long"], PATIENCE_S)
        assert [n.state for n in under_way(state)] == ["runs", "runs"]
    with editor_process(port) as (_, link):
        page.get_by_text("open the link that the editor printed").wait_for()
        go_to(page, link)
        page.wait_for_selector(".react-flow__node[data-id=long] .is-runs")
        page.wait_for_selector(".react-flow__node[data-id=back] .was-success")
        page.get_by_role("button", name="STOP", exact=True).click()
        page.get_by_role("button", name="STOPPED").wait_for()
        page.get_by_text("After the protective stop, say how to go on").wait_for()
        page.get_by_role("button", name="Operate", exact=True).click()
        page.get_by_role("button", name="Release the protective stop").click()
        page.get_by_role("button", name="STOP", exact=True).wait_for()
        settled(page)
        node(page, "nothing").click(button="right")
        page.get_by_role("menuitem", name="Jump here after").click()
        page.get_by_role("tab", name="Run").last.click()
        page.get_by_role("button", name="enough").click()
        page.get_by_test_id("run-state").get_by_text("Ended: done").wait_for()


HOLD = """name: hold_on
start: down   # at rest
actions:
  down:
    type: hold
    parts: arm
    reactions: [{when: elapsed > 2, start: up}]
  up: {type: hold, parts: arm, reactions: [{when: elapsed > 3000, stop: true, event: held}]}
"""


DEEP = """name: deep
start: down
actions:
  down: {type: hold, parts: arm, reactions: [{when: elapsed > 0.2, start: up}]}
  up: {type: hold, parts: arm, final: true, reactions: [{when: elapsed > 3000, stop: true, event: held}]}
"""
AROUND = """name: around
start: on
actions:
  on: {use: deep, exits: {held: rest}}
  rest: {type: hold, parts: arm, final: true}
"""


def test_a_program_is_edited_kept_and_seen_live(page: Any, link: str) -> None:
    with Client("looking", timeout_s=60.0) as client:
        for program in (DEEP, AROUND):  # before the page lists what there is
            client.programs.save(program)
        go_to(page, link)
        open_text(page, HOLD)
        page.get_by_text("No mistakes.").wait_for()
        node(page, "down").click()
        page.get_by_label("Condition 1").fill("elapsed > 0.5 and nothing.known > 1")
        page.locator(".candidate .bad-hint").wait_for()  # the server's check, at its reaction
        page.get_by_label("Condition 1").fill("elapsed > 0.5")
        page.get_by_text("No mistakes.").wait_for()
        page.get_by_label("Name of the state").fill("rest")
        page.get_by_label("Name of the state").press("Enter")
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_text("Saved hold_on").wait_for()
        text = HOLD.replace("start: down", "start: rest").replace("  down:", "  rest:").replace("> 2", "> 0.5")
        assert client.programs.text("hold_on") == text
        with client.session("arm") as session:  # of another user
            session.upload("hold_on")
            session.start("rest")
            page.wait_for_selector(".react-flow__node[data-id=up] .is-runs")
        page.wait_for_selector(".react-flow__node[data-id=up] .is-runs", state="detached")
        # As the node of a blueprint, which opens it.
        open_text(page, "name: outer\nstart: a\nnodes:\n  a: {skill: hold_on}\n")
        page.get_by_text("No mistakes.").wait_for()
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_text("Saved outer").wait_for()
        page.get_by_role("tab", name="Run").last.click()
        page.get_by_role("button", name="Start outer").click()
        page.wait_for_selector(".react-flow__node[data-id=a] .is-runs")
        settled(page)
        node(page, "a").dblclick()
        page.wait_for_selector(".react-flow__node[data-id=up] .is-runs")
        page.get_by_role("tab", name="Files").click()
        page.get_by_label("Find a program").fill("hold_on")
        page.screenshot(path=str(REPOSITORY / ".build" / "screenshots" / "program_of_a_real_run.png"))
        page.get_by_role("tab", name="Run").last.click()
        page.get_by_role("button", name="Cancel").click()
        page.wait_for_selector(".react-flow__node[data-id=up] .is-runs", state="detached")
        # A blueprint's node that runs a program that uses another one: down to the active states.
        open_text(page, "name: outer_2\nstart: a\nnodes:\n  a: {skill: around}\n")
        page.get_by_text("No mistakes.").wait_for()
        page.get_by_role("tab", name="Run").last.click()
        page.get_by_role("button", name="Start outer_2").click()
        page.wait_for_selector(".react-flow__node[data-id=a] .is-runs")
        settled(page)
        node(page, "a").dblclick()
        page.wait_for_selector(".react-flow__node[data-id=on] .is-runs")
        settled(page)  # its states are lit before they have their places: a double click would meet one that moves
        node(page, "on").dblclick()
        page.wait_for_selector(".react-flow__node[data-id=up] .is-runs")
        assert node(page, "down").locator(".is-runs").count() == 0
        page.get_by_role("tab", name="Run").last.click()
        page.get_by_role("button", name="Cancel", exact=True).click()
        page.wait_for_selector(".react-flow__node[data-id=up] .is-runs", state="detached")


def choose(page: Any, label: str, value: str) -> None:
    page.get_by_label(label, exact=True).select_option(value)


def test_N54_a_face_at_the_door_starts_what_was_built_from_forms_and_a_distance_is_stored_and_said(
    page: Any, link: str
) -> None:
    with Client("looking", timeout_s=60.0) as client, Blueprints(client, timeout_s=60.0) as blueprints:
        said: list[str] = []
        client.node.create_subscription(String, "blueprints/say", lambda m: said.append(m.data), 10)
        faces = client.node.create_publisher(String, "door/face", 10)
        go_to(page, link)
        page.get_by_role("button", name="New blueprint").last.click()
        page.get_by_role("dialog").get_by_label("Name").fill("welcome")
        page.get_by_role("button", name="Make it").click()
        settled(page)
        for adder, name in (("New parameter", "guest"), ("New value", "height")):
            page.locator("summary").filter(has_text=adder.split()[1].capitalize() + "s").first.click()
            page.get_by_label(adder, exact=True).fill(name)
            page.get_by_label(adder, exact=True).press("Enter")
        choose(page, "Type of guest", "text")
        page.locator("summary").filter(has_text="What starts it").click()
        choose(page, "Add a start", "topic")
        page.get_by_label("Topic, start 1").fill("door/face")
        page.get_by_role("button", name="Add a field of text").click()
        page.get_by_label("Is one of 1, start 1").fill("anna, ben")
        choose(page, "Fill a parameter, start 1", "guest")
        choose(page, "While its parts are taken, start 1", "wait")
        for skill in ("set", "say"):
            page.get_by_label("Find a skill; Enter adds the first one found").fill(skill)
            page.get_by_label("Find a skill; Enter adds the first one found").press("Enter")
            settled(page)
            if skill == "set":
                page.get_by_label("height", exact=True).fill("arm.tool.z")
            else:
                page.get_by_label("Text", exact=True).fill("Hello ${guest}, I am at ${height}")
                page.keyboard.press("Escape")
        page.get_by_text("No mistakes.").wait_for()
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_text("Saved welcome as version 1").wait_for()
        page.get_by_role("button", name="Operate", exact=True).or_(page.get_by_text("You operate")).first.click()
        page.get_by_role("tab", name="Run").last.click()
        page.locator("summary").filter(has_text="Commands").click()
        page.get_by_role("button", name="Arm sensors for 10 min").click()
        page.get_by_text("sensors armed").wait_for()
        deadline = time.monotonic() + PATIENCE_S
        while not said:  # its subscription may not be matched yet: a recogniser says it again and again as well
            for name in ("carl", "Anna"):
                faces.publish(String(data=name))
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert said[0] == f"Hello Anna, I am at {client.value('arm.tool.z'):g}"
        page.get_by_test_id("run-state").get_by_text("Ended: done").wait_for()
        runs, _ = blueprints.read_runs(blueprint="welcome")
        assert runs[0]["source"] == "topic: door/face"
        page.screenshot(path=str(REPOSITORY / ".build" / "screenshots" / "started_by_a_face.png"))
        blueprints.control("disarm")


def test_E33_a_program_is_started_and_ended_from_its_page(page: Any, link: str) -> None:
    text = HOLD.replace("hold_on", "hold_for").replace("parts: arm", "parts: robot").replace("> 2", "> $wait")
    text += "roles: {robot: {kinds: [arm]}}\nparameters: {wait: {unit: s, default: 1000.0, minimum: 0.0}}\n"
    with Client("looking", timeout_s=60.0) as client:
        client.programs.save(text)
        go_to(page, link)
        page.get_by_role("tab", name="Files").click()
        page.get_by_label("Find a program").fill("hold_for")
        page.get_by_role("button", name="hold_for").first.click()
        page.wait_for_selector(".react-flow__node[data-id=down]")
        page.get_by_role("button", name="Operate", exact=True).or_(page.get_by_text("You operate")).first.click()
        page.get_by_role("tab", name="Run").last.click()
        page.get_by_label("robot (part)").select_option("arm")
        page.get_by_label("wait [s]").fill("-1")
        page.get_by_role("button", name="Start hold_for").click()
        page.get_by_text("out of range").first.wait_for()
        assert "hold_for" not in [state.program for state in client.program_states.values()]
        page.get_by_label("wait [s]").fill("0.2")
        page.get_by_role("button", name="Start hold_for").click()
        page.wait_for_selector(".react-flow__node[data-id=up] .is-runs")
        page.screenshot(path=str(REPOSITORY / ".build" / "screenshots" / "program_started_from_its_page.png"))
        page.get_by_role("button", name="Cancel", exact=True).click()
        page.get_by_test_id("run-state").get_by_text("Ended: cancelled").wait_for()
        page.wait_for_selector(".react-flow__node[data-id=up] .is-runs", state="detached")


def processes(module: str) -> list[int]:
    """Of this module in our domain."""
    found, domain = [], f"ROS_DOMAIN_ID={os.environ['ROS_DOMAIN_ID']}".encode()
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if module.encode() in words and domain in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except (OSError, ValueError):
            continue
    return found


def test_E16_a_page_says_that_an_executor_is_silent_and_stop_goes_on_without_the_blueprints(
    page: Any, cell: DemoWorkcell, port: int
) -> None:
    """The last one of this file: it kills the workcell's processes."""
    stop = page.get_by_role("button", name="STOP", exact=True)
    with editor_process(port) as (_, link), Client("looking", timeout_s=60.0) as client:
        go_to(page, link)
        page.wait_for_selector(".lost", state="detached")
        (blueprints,) = processes("robot_rt_control.blueprint.node.node")
        os.kill(blueprints, signal.SIGSTOP)  # it hangs: DDS still holds it for alive
        page.get_by_text("No word from the blueprint executor for").wait_for()
        stop.click()
        page.get_by_role("button", name="STOPPED").wait_for()
        assert client.value("protective_stop") == 1.0
        os.kill(blueprints, signal.SIGCONT)
        page.wait_for_selector(".lost", state="detached")
        page.get_by_role("button", name="Operate", exact=True).or_(page.get_by_text("You operate")).first.click()
        page.get_by_role("button", name="Release the protective stop").click()
        stop.wait_for()
        (executor,) = processes("robot_rt_control.realtime.executor.node")
        os.kill(executor, signal.SIGKILL)
        page.get_by_text("No word from the robot’s real-time executor for").wait_for()
        stop.click()
        page.get_by_text("STOP is not confirmed yet; it is sent again").wait_for()
        page.get_by_text("STOP was not confirmed: use another stop").wait_for()
