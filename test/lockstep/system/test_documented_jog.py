"""The jog of docs/io.md, copied from the page: it moves while it is written, and otherwise rests."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from robot_rt_control.client import Action
from robot_rt_control.testing.lockstep_client import LockstepClient

REPOSITORY = Path(__file__).parents[3]
BENT = [0.0, 0.4, 0.0, -1.4, 0.0, 1.2, 0.0]  # [rad] the tool looks obliquely down


class Button:
    """Pressed for this number of reads."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def is_pressed(self) -> bool:
        self.looks -= 1
        return self.looks >= 0


def test_the_jog_of_the_page_moves_the_tool_and_rests_when_the_button_is_released():
    section = (REPOSITORY / "docs" / "io.md").read_text().split("\n## Streams")[1]
    snippet = re.findall(r"```python\n(.*?)```", section, re.DOTALL)[0]
    with LockstepClient(REPOSITORY / "config" / "iiwa.yaml") as client, client.session("arm") as session:
        session.add(Action("begin", "move_joint", parts="arm", position=BENT))
        session.start("begin")
        session.wait_until("begin.is_settled", timeout_s=60)

        def tool() -> np.ndarray:
            return np.array([client.value(f"arm.tool.{axis}") for axis in "xyz"])

        before = tool()
        time = SimpleNamespace(sleep=client.sleep)
        exec(snippet, {"session": session, "Action": Action, "button": Button(50), "time": time})
        session.wait_until("jog.is_following", timeout_s=0.01)
        moved = np.linalg.norm(tool() - before)
        assert 0.04 < moved < 0.055, "[m] 1 s at 50 mm/s"
        session.wait_until("not jog.is_following and arm.at_rest", timeout_s=2)
        rest = tool()
        client.sleep(1.0)
        assert np.linalg.norm(tool() - rest) < 1e-4, "[m]"
        assert not client.cell.kinds("part_faulted", "action_failed", "stream_refused")
