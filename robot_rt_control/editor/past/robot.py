"""The robot of a recording, for its scene: what was recorded of it, and nothing that moves."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from robot_rt_control.editor.robot import Jogging, Json, Robot, TimelineNews
from robot_rt_control.vocabulary.errors import CommandRefused


class RecordedRobot(Robot):
    """See `Robot`. Whatever would reach a robot is refused: there is none.

    Args:
        path: of the recording.
        description: its robot_description.
    """

    def __init__(self, path: Path, description: str) -> None:
        self._path, self._description = path, description

    def description(self) -> str:
        return self._description

    def parts(self) -> list[Json]:
        return []

    def joint_positions(self) -> Mapping[str, float]:
        """None: each page asks for those of its own tick."""
        return {}

    def shapes(self) -> list[Json]:
        return []

    def objects(self) -> list[Json]:
        return []

    def forget_scene(self) -> None: ...

    def timeline(self) -> TimelineNews:
        """None: a page asks for the samples of a time itself."""
        return TimelineNews()

    def forget_timeline(self) -> None: ...

    def status(self) -> Json:
        return {"recording": str(self._path)}

    def on_state(self, callback: Callable[[Json], None]) -> None: ...

    def close(self) -> None: ...

    # --- of a robot that is there -------------------------------------------------------------

    def _none(self) -> NoReturn:
        raise CommandRefused(f"recording {self._path.name}: there is no robot here, only what was recorded of one")

    def call(self, service: str, request: Mapping[str, Any]) -> Json:
        self._none()

    def run(self, goal: Mapping[str, Any]) -> Json:
        self._none()

    def list_programs(self, request: Mapping[str, Any]) -> Json:
        self._none()

    def save_program(self, request: Mapping[str, Any]) -> Json:
        self._none()

    def delete_program(self, request: Mapping[str, Any]) -> Json:
        self._none()

    def action_types(self) -> list[Json]:
        self._none()

    def variables(self, session: str = "") -> list[Json]:
        self._none()

    def actions(self, session: str) -> Json:
        self._none()

    def values(self, names: Iterable[str]) -> Json:
        self._none()

    def set_motion(self, part: str, command: str) -> None:
        self._none()

    def jogger(self, part: Json, name: str, on_event: Callable[[], None]) -> Jogging:
        self._none()

    def run_action(
        self, type: str, parts: list[str], values: Mapping[str, Any], *, until: str, limit_s: float,
        cancelled: threading.Event, on_progress: Callable[[], None],
    ) -> Json:  # fmt: skip
        self._none()

    def set_speed(self, speed: float) -> None:
        self._none()

    def protective_stop(self, stop: bool, reason: str, who: str) -> None:
        self._none()

    def resume(self, session: str, who: str) -> None:
        self._none()
