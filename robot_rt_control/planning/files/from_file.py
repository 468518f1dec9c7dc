"""Planning from a task file, in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robot_rt_control.planning.files.settings_keys import changed_by_names
from robot_rt_control.planning.files.task_file import read_task
from robot_rt_control.planning.optimise.settings import Settings
from robot_rt_control.planning.solve.engines import require_engines
from robot_rt_control.planning.task import Start, Task
from robot_rt_control.vocabulary.errors import DefinitionError

if TYPE_CHECKING:
    from robot_rt_control.planning.solve.planner import Cancel, Progress, Result


def plan_file(
    source: Path | str,
    *,
    workcell: Path | None = None,
    start: Start | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
    cancel: Cancel | None = None,
    options: Mapping[str, Any] | None = None,
    **parameters: Any,
) -> Result:
    """Plan what a task file says, and verify it: `plan_file("push_box.yaml", distance=0.3, progress=print)`.

    Args:
        source: path of a task file, name of a task that comes with the package, or the text of a task.
        workcell: its file, in place of what the task says.
        start: where robot and body are, in place of where the task begins; a task that starts from what is measured
            needs it.
        settings: name → value, in place of what the task says: {"penalty.schedule": "additive"}.
        progress, cancel: as of `verified.solve`.
        options: further ones of `verified.solve`.
        parameters: values of the task's parameters.

    Raises:
        DefinitionError: mistakes in the task, each with its line; or as from `verified.solve`.
        RobotControlError: MuJoCo or PIQP is not installed.
    """
    require_engines()
    from robot_rt_control.planning.solve.verified import solve

    task, its_settings = prepared(source, parameters, workcell=workcell, start=start, settings=settings)
    return solve(task, its_settings, progress=progress, cancel=cancel, **(options or {}))


def prepared(
    source: Path | str,
    parameters: Mapping[str, Any],
    *,
    workcell: Path | None = None,
    start: Start | None = None,
    settings: Mapping[str, Any] | None = None,
) -> tuple[Task, Settings]:
    """What `planner.plan` takes, of a task file; arguments and errors as of `plan_file`."""
    file = read_task(source, parameters, workcell=workcell)
    if file.start_from == "measured" and start is None:
        raise DefinitionError(
            f"task {file.task.name!r}: start",
            expected="where the robot and the body are, as the task starts from what is measured",
            got="nothing",
            hint="Give `start`, or let the planner's node plan beside the running workcell",
        )
    task = file.task if start is None else file.started(start)
    return task, changed_by_names(file.settings, settings or {})
