"""A robot for tests of the page with a loop that ticks: a lockstep cell that a thread keeps near real time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from memory_robot import Json, MemoryRobot

from robot_rt_control.client import Action
from robot_rt_control.client.jogger import Jogger
from robot_rt_control.editor.client_use import part_jogger, set_motion
from robot_rt_control.editor.robot import SOURCE
from robot_rt_control.editor.ros_robot import as_json
from robot_rt_control.editor.server import plain
from robot_rt_control.testing.lockstep_client import LockstepClient

CONFIG = Path(__file__).parents[2] / "config"
_TURN_S = 0.005


class CellRobot(MemoryRobot):
    """A `Robot` that moves. Its client has one thread at a time.

    Args:
        folder: of kept skills.
        workcell: name of its file.
    """

    def __init__(self, folder: Path, workcell: str = "arm7") -> None:
        self.client = LockstepClient(CONFIG / f"{workcell}.yaml")
        self.turn = threading.RLock()
        super().__init__(folder)
        self.description_text = self.client.cell.workcell.robot_description()
        self._ticking = threading.Thread(target=self._tick, daemon=True)
        self._ticking.start()

    def close(self) -> None:
        super().close()
        self._ticking.join(60)
        self.client.close()

    def _tick(self) -> None:
        period = self.client.cell.workcell.period
        due = time.monotonic()
        while not self._end.is_set():
            due = max(due + _TURN_S, time.monotonic())
            with self.turn:
                self.client.step(round(_TURN_S / period))
            time.sleep(max(due - time.monotonic(), 0.001))

    @property
    def q(self) -> list[float]:
        """[rad or m] Commanded positions of the arm."""
        with self.turn:
            return [float(q) for q in self.client.cell.part("arm").commanded_position[:7]]

    def parts(self) -> list[Json]:
        with self.turn:
            return [as_json(part) for part in self.client.parts()]

    def set_motion(self, part: str, command: str) -> None:
        with self.turn:
            set_motion(self.client, part, command)

    def jogger(self, part: Json, name: str, on_event: Callable[[], None]) -> Jogger:  # type: ignore[override]
        made = part_jogger(self.client, part, name, on_event)
        process, close = made.process, made.close

        def in_turn(work: Callable[[], None]) -> Callable[[], None]:
            def do() -> None:
                with self.turn:
                    work()

            return do

        made.process, made.close = in_turn(process), in_turn(close)  # type: ignore[method-assign]
        return made

    def action_types(self) -> list[Json]:
        with self.turn:
            return [plain(as_json(each)) for each in self.client.action_types()]

    def run_action(
        self, type: str, parts: list[str], values: Mapping[str, Any], *, until: str, limit_s: float,
        cancelled: threading.Event, on_progress: Callable[[], None],
    ) -> Json:  # fmt: skip
        """As the control server does over ROS, in a thread that lets others have their turns."""
        session = None
        try:
            with self.turn:
                session = self.client.session([part.split("=")[1] for part in parts], name="start")
                session.add(Action("run", type, parts=dict(part.split("=") for part in parts), **values))
                followed = session.follow("run", until=until)
            on_progress()
            while not cancelled.wait(0.01):
                with self.turn:
                    ending = followed.poll()
                if ending is not None:
                    return {"success": True, "message": ""}
            return {"success": False, "message": "it was cancelled"}
        finally:
            with self.turn:
                if session is not None:
                    session.close()

    def variables(self, session: str = "") -> list[Json]:
        with self.turn:
            return [plain(as_json(each)) for each in self.client.state_variables(session=session)]

    def values(self, names: Iterable[str]) -> Json:
        wanted = list(names)
        with self.turn:
            found = self.client.backend.state_values(wanted, "")
        return {name: found.get(name) for name in wanted}

    def protective_stop(self, stop: bool, reason: str, who: str) -> None:
        with self.turn:
            if stop:
                self.client.protective_stop(reason, source=SOURCE, who=who)
            else:
                self.client.release(SOURCE, who=who)
        super().protective_stop(stop, reason, who)

    def status(self) -> Json:
        with self.turn:
            parts: list[Any] = self.client.parts()
        shown = [{"name": p.name, "operational_state": p.operational_state, "fault": p.fault} for p in parts]
        return {**super().status(), "parts": shown}

    def joint_positions(self) -> dict[str, float]:
        self.joints_followed = True
        names = self.client.cell.workcell.joint_state_names()
        with self.turn:
            found = {part: [float(q) for q in self.client.cell.part(part).position] for part in names}
        return {name: found[part][j] for part, joints in names.items() for j, name in enumerate(joints)}
