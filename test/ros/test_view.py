"""`robot-rt view` beside a workcell: a real browser shows where the arm really is."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from browser import FLAGS, NOT_RUN, PATIENCE_S, browser_path, watch_over

from robot_rt_control.client import Action, Client
from robot_rt_control.demo.demo_workcell import DemoWorkcell

REPOSITORY = Path(__file__).resolve().parents[2]
VIEW = "document.querySelector('.robot-scene')?.view"
TOOL = [f"arm.tool.{axis}" for axis in "xyz"]


@contextmanager
def view_process() -> Iterator[str]:
    """Yields the link that it prints first."""
    command = [sys.executable, "-m", "robot_rt_control.command_line.main", "view", "--port", "0"]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.match(r"See the robot: +(http://\S+)", process.stdout.readline())
            assert found
            yield found[1]
        finally:
            process.send_signal(signal.SIGINT)
            try:
                assert process.wait(PATIENCE_S) == 0
            except subprocess.TimeoutExpired:
                process.kill()


def test_the_page_shows_the_arm_where_it_is_and_what_it_does(own_domain: None, tmp_path: Path) -> None:
    if (path := browser_path()) is None:
        pytest.skip(NOT_RUN)
    from playwright.sync_api import sync_playwright

    complaints: list[str] = []
    arguments = ["--workcell", "arm7", "--controllers", "false", "--no-frames"]
    with (
        DemoWorkcell(arguments, tmp_path / "workcell.log", environment={"XDG_DATA_HOME": str(tmp_path)}) as cell,
        Client("looking", timeout_s=60.0) as client,
        sync_playwright() as playwright,
    ):
        cell.wait_until_ready(client, lambda _: None)
        client.enable()
        with view_process() as link:
            browser = playwright.chromium.launch(executable_path=path, headless=True, args=list(FLAGS))
            page = browser.new_page(viewport={"width": 1280, "height": 800})
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
                session.add(Action("down", "move_linear", offset=[0.0, 0.1, -0.1], speed=0.2))
                motion = session.follow("down")
                page.wait_for_function(f"() => {VIEW}.shapes.drawn.some(each => each.userData.namespace === 'path')")
                assert motion.wait(PATIENCE_S).end == "reached"
            assert np.linalg.norm(np.subtract([client.value(name) for name in TOOL], begin)) > 0.1
            page.wait_for_timeout(1000)
            assert differs() < 1e-4
            page.get_by_role("button", name="STOP", exact=True).click()
            page.get_by_role("button", name="STOPPED").wait_for()
            assert [stop.source for stop in client.stops()] == ["editor"]
            browser.close()
    assert complaints == []
