"""Plans, played through the real tick loop by another engine: in a process beside this one, which holds the loop.

The engines are PyBullet where it is installed, and MuJoCo as its plugin simulates: hard contacts, motors in place of
servos, another integrator and step than the planner's. `ROBOT_RT_CONTROL_SIMULATOR` chooses which one comes first.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from robot_rt_control.model.workcell.simulators import default_simulator, installed_simulators
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.processes.errors import error_of
from robot_rt_control.processes.python import import_path
from robot_rt_control.processes.python_process import ProcessEnded, PythonProcess
from robot_rt_control.vocabulary.errors import RobotControlError

MODULE = "robot_rt_control.testing.plan_player"
"""By its name: it stands above the planner."""
_LOOK_S = 0.02
_LONGEST_S = 300.0
"""[s] after which a replay counts as hanging, also on a busy machine."""


class Player:
    """Plays plans. A context manager: its process is started at once, so that it loads while something is planned."""

    def __init__(self, module: str = MODULE) -> None:
        # In a group of its own: a terminal's Ctrl-C does not reach it.
        self._process = PythonProcess(module, own_group=True)

    def __enter__(self) -> Player:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.close(0.0)

    @property
    def others(self) -> tuple[str, ...]:
        """Names of the installed simulators that `play` does not take by itself."""
        return tuple(name for name in installed_simulators() if name != default_simulator())

    def play(
        self,
        plan: Plan,
        workcell: Path,
        *,
        speeds: Sequence[float] = (1.0,),
        simulator: str = "",
        finer: bool = False,
        check: Callable[[], None] = lambda: None,
    ) -> list[dict[str, Any]]:
        """What a replay at each speed found: `Replay.summary()`.

        Args:
            simulator: empty: the default one.
            finer: with half of the simulation's step.
            check: called often; an exception from it breaks the replay off.

        Raises:
            RobotControlError: it could not be played, or did not come to its end.
        """
        with tempfile.TemporaryDirectory(prefix="plan") as folder:
            file = Path(folder) / "played.plan"
            plan.save(file)
            job = {
                "plan": str(file), "workcell": str(workcell), "speeds": list(speeds), "simulator": simulator,
                "finer": finer,
            }  # fmt: skip
            self._process.send({"path": import_path(), "question": job})
            answer, looks = None, 0
            try:
                while (answer := self._process.receive(_LOOK_S)) is None:
                    check()
                    looks += 1
                    if looks * _LOOK_S > _LONGEST_S:
                        raise ProcessEnded(f"has not answered within {_LONGEST_S:g} s")
            except ProcessEnded as ended:
                raise RobotControlError(f"the process that plays plans {ended}") from None
        if "error" in answer:
            raise error_of(answer["error"])
        return list(answer["answer"])
