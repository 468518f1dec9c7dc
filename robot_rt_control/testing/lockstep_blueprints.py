"""The node `blueprints` without ROS: all runs, commands and sensors of an executor beside a `LockstepClient`.

with LockstepClient("config/welcome.yaml") as client, LockstepBlueprints(client, folder) as blueprints:
    blueprints.save_skill(text)
    blueprints.give_command("welcome the guest")
    client.sleep(20.0)  # whatever waits lets the executor work
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from robot_rt_control.blueprint.makers.capability_files import capabilities_of
from robot_rt_control.blueprint.makers.makers import Makers
from robot_rt_control.blueprint.runs.control_request import ControlRequest
from robot_rt_control.blueprint.runs.executor import Executor, ExecutorState
from robot_rt_control.blueprint.runs.robot import Robot
from robot_rt_control.blueprint.skills.skill_library import Saved, SkillLibrary
from robot_rt_control.blueprint.skills.store import SkillStore
from robot_rt_control.server.offline_catalogue import offline_catalogue
from robot_rt_control.testing.lockstep_client import LockstepClient


class LockstepBlueprints:
    """The methods of `blueprint.remote.Blueprints` that a program needs, with the same names and arguments.

    Args:
        client: whose cell ticks; the executor looks after each tick in which somebody waits.
        folder: for skills and logs.

    Attributes:
        executor: everything else that the node has.
        said: texts for the speech output.
    """

    def __init__(self, client: LockstepClient, folder: Path) -> None:
        self._client, self.said = client, list[str]()
        workcell = client.cell.workcell
        capabilities = capabilities_of(workcell)
        library = SkillLibrary(
            SkillStore(folder / "skills"),
            offline_catalogue(workcell.path),
            client.backend,
            made=capabilities.templates,
        )
        robot = Robot(client.backend, say=self.said.append)
        self.executor = Executor(robot, library, folder / "runs", makers=Makers(capabilities, workcell=workcell.path))
        self._seen, self._looks = -1, False
        self.is_done = False
        client.cell.serve(self)  # type: ignore[arg-type]  # as a queue whose item is the new tick

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.is_done = True
        self.executor.close()

    @property
    def is_ready(self) -> bool:
        """Whether the cell has ticked since the last look."""
        return not self._looks and self._seen != self._client.cell.tick

    def call_waiting(self) -> list[Exception]:
        """One look; the cell calls it between two ticks."""
        self._looks = True
        try:
            self.executor.update()
        finally:
            self._seen, self._looks = self._client.cell.tick, False
        return []

    def save_skill(self, text: str) -> Saved:
        """Raises as `SkillLibrary.save`."""
        return self.executor.library.save(text)

    def give_command(self, text: str, *, gesture: bool = False, source: str = "") -> str:
        """Returns a remark. Raises as `Executor.give_command`."""
        return self.executor.give_command(text, gesture=gesture, source=source)[2]

    def control(self, command: str, **fields: Any) -> str:
        """Raises as `Executor.control`."""
        return self.executor.control(ControlRequest(command=command, **fields))

    @property
    def state(self) -> ExecutorState:
        """What the executor does now."""
        return self.executor.state()

    def wait_for_state(self, happens: Callable[[ExecutorState], object], timeout_s: float) -> ExecutorState:
        """Let the cell tick until `happens(state)` is true.

        Raises:
            TimeoutError: it did not come within this time [s of the loop].
        """
        until = self._client.backend.present()[1] + timeout_s
        while not happens(state := self.state):
            if state.time > until:
                raise TimeoutError(f"no such state within {timeout_s:g} s; the last: {state}")
            self._client.cell.step()
        return state
