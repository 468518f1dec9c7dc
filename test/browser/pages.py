"""What a person does on the editor's page."""

from __future__ import annotations

import json
from typing import Any

SEARCH = "Find a skill; Enter adds the first one found"


def text_of(page: Any) -> str:
    """The text of the document that is shown."""
    kept = json.loads(page.evaluate("localStorage.getItem('robot_rt_control.drafts')"))
    return str(kept["docs"][kept["active"]]["text"])


def new(page: Any, name: str) -> None:
    page.get_by_role("button", name="New blueprint").last.click()
    page.get_by_role("dialog").get_by_label("Name").fill(name)
    page.get_by_role("button", name="Make it").click()


def open_text(page: Any, text: str) -> None:
    """As if it had been kept as a draft in this browser."""
    doc = {"text": text, "savedName": "", "basedOn": 0, "savedText": "", "readOnly": False}
    kept = json.dumps({"docs": [doc], "active": 0})
    page.evaluate("kept => localStorage.setItem('robot_rt_control.drafts', kept)", kept)
    page.reload()
    page.wait_for_selector(".node")
    settled(page)


def program_state(program: str, *active: str, strategies: tuple[tuple[str, str, str], ...] = ()) -> dict[str, Any]:
    """A program that runs."""
    named = [dict(zip(("action", "degree_of_freedom", "strategy"), each, strict=True)) for each in strategies]
    return {"session": "s1", "program": program, "active": list(active), "strategies": named, "last_reaction": "",
            "last_event": ""}  # fmt: skip


def settled(page: Any) -> None:
    """The layout is done, and the check has answered."""
    page.wait_for_timeout(200)
    page.wait_for_function("() => !document.querySelector('.good-line')?.textContent.startsWith('Checking')")
    page.wait_for_timeout(250)


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
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{v['id']}: {v['help']}: {v['nodes'][0]['html'][:200]}"
        for v in found
        if v["impact"] in ("serious", "critical")
    ]
