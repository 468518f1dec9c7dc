"""The editor's process beside a workcell in simulation, its executor of blueprints, and a real browser."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from browser import FLAGS, NOT_RUN, browser_path
from pages import node, open_text
from served_editor import free_port

from robot_rt_control.application.demo_workcell import DemoWorkcell
from robot_rt_control.blueprint.remote import Blueprints
from robot_rt_control.client import Client

REPOSITORY = Path(__file__).resolve().parents[2]
PATIENCE_MS = 120_000
TOUR = """name: tour
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
    command = [sys.executable, "-m", "robot_rt_control.application.editor.main", "--port", str(port)]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found
            yield process, found[0]
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


@pytest.fixture
def page(cell: DemoWorkcell) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), headless=True, args=list(FLAGS))
        made = browser.new_page(viewport={"width": 1280, "height": 800})
        made.set_default_timeout(PATIENCE_MS)
        yield made
        browser.close()


def go_to(page: Any, link: str) -> None:
    for _ in range(50):
        try:
            page.goto(link)
            break
        except Exception:  # it does not listen yet
            time.sleep(0.2)
    page.wait_for_selector(".app")
    page.wait_for_function("() => document.querySelectorAll('.skill-item').length > 10", timeout=PATIENCE_MS)


def test_the_editor_is_a_process_of_the_workcell(page: Any, cell: DemoWorkcell) -> None:
    links = re.findall(r"Edit and operate: +(http://127.0.0.1:\d+/#token=\S+)", "\n".join(cell.last_lines(10_000)))
    assert links and len(set(links)) == 1, "once, or again when blueprints could be run"
    go_to(page, links[0])


def test_E10_a_blueprint_runs_on_the_simulation_and_the_editors_death_disturbs_nothing(
    page: Any, cell: DemoWorkcell
) -> None:
    port = free_port()
    with editor_process(port) as (process, link):
        go_to(page, link)
        open_text(page, TOUR)
        page.get_by_text("No mistakes.").wait_for()
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_text("Saved tour as version 1").wait_for()
        page.get_by_role("tab", name="Run").last.click()
        page.get_by_role("button", name="Start tour").click()
        page.get_by_role("button", name="again", exact=True).click()
        page.wait_for_selector(".react-flow__node[data-id=touch] .was-success")
        page.wait_for_selector(".react-flow__node[data-id=back] .was-success")
        page.wait_for_selector(".react-flow__node[data-id=long] .is-runs")
        os.kill(process.pid, signal.SIGKILL)
        page.get_by_text("This page has lost the editor").wait_for()
    with Client("looking", timeout_s=60.0) as client, Blueprints(client, timeout_s=60.0) as blueprints:
        state = blueprints.wait_for_state(lambda s: [n.path for n in s.nodes] == ["", "long"], 60)
        assert [n.state for n in state.nodes] == ["runs", "runs"]
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


def test_a_program_is_edited_kept_and_seen_live(page: Any, cell: DemoWorkcell) -> None:
    with editor_process(free_port()) as (_, link), Client("looking", timeout_s=60.0) as client:
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
        node(page, "a").dblclick()
        page.wait_for_selector(".react-flow__node[data-id=up] .is-runs")
        page.get_by_role("tab", name="Files").click()
        page.get_by_label("Find a program").fill("hold_on")
        page.screenshot(path=str(REPOSITORY / ".build" / "screenshots" / "program_of_a_real_run.png"))
        page.get_by_role("tab", name="Run").last.click()
        page.get_by_role("button", name="Cancel").click()
        page.wait_for_selector(".react-flow__node[data-id=up] .is-runs", state="detached")
        # A blueprint's node that runs a program that uses another one: down to the active states.
        for program in (DEEP, AROUND):
            client.programs.save(program)
        open_text(page, "name: outer_2\nstart: a\nnodes:\n  a: {skill: around}\n")
        page.get_by_text("No mistakes.").wait_for()
        page.get_by_role("tab", name="Run").last.click()
        page.get_by_role("button", name="Start outer_2").click()
        page.wait_for_selector(".react-flow__node[data-id=a] .is-runs")
        node(page, "a").dblclick()
        page.wait_for_selector(".react-flow__node[data-id=on] .is-runs")
        node(page, "on").dblclick()
        page.wait_for_selector(".react-flow__node[data-id=up] .is-runs")
        assert node(page, "down").locator(".is-runs").count() == 0
        page.get_by_role("tab", name="Run").last.click()
        page.get_by_role("button", name="Cancel", exact=True).click()
        page.wait_for_selector(".react-flow__node[data-id=up] .is-runs", state="detached")
