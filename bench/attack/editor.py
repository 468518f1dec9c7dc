"""What another page, another user of the machine or a broken browser may send to the editor's server."""

from __future__ import annotations

from pathlib import Path
from random import Random

from bench.attack.attack import Attack

_REQUESTS, _MESSAGES = 150, 10


def _round(random: Random, folder: Path) -> int:
    from editor_attack import EditorAttack, StrictRobot, wrong_statuses
    from served_editor import served

    robot = StrictRobot(folder / "skills")
    try:
        with served(robot) as editor:
            keys = editor.server.keys
            attack = EditorAttack(editor.port, operate=editor.enter(keys.operate), watch=editor.enter(keys.watch))
            wrong = wrong_statuses(attack.requests(_REQUESTS, random))
            assert not wrong, f"kind of request, status, and how often: {wrong}"
            closed, kept = attack.messages(_MESSAGES, random)
            assert closed + kept == _MESSAGES
            status, answer = editor.post("me", cookie=attack.operate)
            assert status in (200, 429), f"everybody else is served as before: {status}, {answer}"
            assert not robot.runs and robot.speed == 1.0 and not robot.stopped, "a hostile request was carried out"
    finally:
        robot.close()
    return _REQUESTS + _MESSAGES


ATTACK = Attack(
    name="editor",
    promise="what comes from elsewhere, or without the link, is refused; the server lives and nothing starts",
    round=_round,
    unit="requests",
)
