"""What a person does on the editor's page."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from browser import PATIENCE_S
from memory_robot import MemoryRobot

from robot_rt_control.model.paths import find_workcell
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell

KEY = "'robot_rt_control.drafts.' + sessionStorage.getItem('robot_rt_control.tab')"
"""Under which a page keeps its drafts."""
SEARCH = "Find a skill; Enter adds the first one found"


def bring(robot: MemoryRobot, name: str) -> Workcell:
    """The robot is this workcell, all its joints at 0.1."""
    workcell = load_workcell(find_workcell(name))
    robot.description_text = workcell.robot_description()
    robot.positions = {joint: 0.1 for joints in workcell.joint_state_names().values() for joint in joints}
    parts = [{"name": part.name, "joint_names": list(part.joint_names)} for part in workcell.parts]
    robot.parts = lambda: parts  # type: ignore[method-assign]
    return workcell


def text_of(page: Any) -> str:
    """The text of the document that is shown."""
    kept = json.loads(page.evaluate(f"localStorage.getItem({KEY})"))
    return str(kept["docs"][kept["active"]]["text"])


def new(page: Any, name: str) -> None:
    page.get_by_role("button", name="New blueprint").last.click()
    page.get_by_role("dialog").get_by_label("Name").fill(name)
    page.get_by_role("button", name="Make it").click()


def open_text(page: Any, text: str) -> None:
    """As if it had been kept as a draft in this browser."""
    doc = {"text": text, "savedName": "", "basedOn": 0, "savedText": "", "readOnly": False}
    kept = json.dumps({"docs": [doc], "active": 0})
    page.evaluate(f"kept => localStorage.setItem({KEY}, kept)", kept)
    page.reload()
    page.wait_for_selector(".node")
    settled(page)


def program_state(program: str, *active: str, strategies: tuple[tuple[str, str, str], ...] = ()) -> dict[str, Any]:
    """A program that runs."""
    named = [dict(zip(("action", "degree_of_freedom", "strategy"), each, strict=True)) for each in strategies]
    return {"session": "s1", "program": program, "active": list(active), "strategies": named, "last_reaction": "",
            "last_event": "", "suspended": False}  # fmt: skip


def settled(page: Any) -> None:
    """What the page needs of the server is there, the picture is laid out and drawn, and the check has answered."""
    page.wait_for_function("() => !document.querySelector('[aria-busy=true]')")


def until(page: Any, holds: Callable[[], object]) -> None:
    """Wait until something holds that the page does not show."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        page.wait_for_timeout(20)


def tab_to(page: Any, name: str, *, back: bool = False) -> None:
    """Press Tab until what has the focus has this name: its label, or else its text."""
    for _ in range(300):
        page.keyboard.press("Shift+Tab" if back else "Tab")
        focused = page.evaluate(
            "() => { const it = document.activeElement;"
            " return it.ariaLabel ?? it.labels?.[0]?.textContent ?? it.textContent; }"
        )
        if focused == name:
            return
    raise AssertionError(f"no Tab leads to {name!r}")


def drag_skill(page: Any, name: str, x: float, y: float) -> None:
    """Drag a skill from its shelf to a place of the picture."""
    page.get_by_label(SEARCH).fill(name)
    box = page.locator(".canvas").bounding_box()
    page.drag_and_drop(f".skill-item:has(.skill-name:text-is('{name}'))", ".canvas",
                       target_position={"x": x - box["x"], "y": y - box["y"]})  # fmt: skip
    page.get_by_label(SEARCH).fill("")


def node(page: Any, id: str) -> Any:
    return page.locator(f".react-flow__node[data-id='{id}']")


def draw_link(page: Any, source: str, result: str, target: str) -> None:
    """Draw from a result of a node to another node's upper edge."""
    begin = node(page, source).locator(f".react-flow__handle[data-handleid='{result}']").bounding_box()
    end = node(page, target).locator(".react-flow__handle[data-handleid='in']").bounding_box()
    page.mouse.move(begin["x"] + begin["width"] / 2, begin["y"] + begin["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + 30, end["y"] - 20, steps=4)
    page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=4)
    page.mouse.up()


def large(n: int) -> str:
    """A blueprint of n nodes; each leads to the next one, and to another one anywhere."""
    lines = [
        f"  n{i}: {{wait: 1, then: [{{when: n{i}.count < 2, go: n{(i * 7) % n}}}, {{go: n{(i + 1) % n}}}]}}\n"
        for i in range(n)
    ]
    return f"name: large\nstart: n0\nnodes:\n{''.join(lines)}"


def overlaps(page: Any) -> list[str]:
    """Pairs of nodes that lie on each other."""
    boxes = page.evaluate(
        "() => [...document.querySelectorAll('.react-flow__node')].map(n => {"
        " const r = n.getBoundingClientRect(); return [n.dataset.id, r.left, r.top, r.right, r.bottom]; })"
    )
    return [
        f"{a[0]} {b[0]}"
        for i, a in enumerate(boxes)
        for b in boxes[:i]
        if a[1] < b[3] - 1 and b[1] < a[3] - 1 and a[2] < b[4] - 1 and b[2] < a[4] - 1
    ]


def serious(page: Any) -> list[str]:
    """What axe finds that hinders people seriously."""
    from axe_playwright_python.base import AXE_SCRIPT

    if not page.evaluate("'axe' in window"):  # reading it takes longer than what it does
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate(
        "() => axe.run({resultTypes: ['violations']}).then(({violations}) => violations"
        ".map(each => [each.impact, each.id, each.help, each.nodes[0].html.slice(0, 200)]))"
    )
    return [": ".join(words) for impact, *words in found if impact in ("serious", "critical")]
