"""All that is drawn of a cell in one tick."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from robot_rt_control.drawing.shape import Shape
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.server.markers.fault_shapes import fault_shapes
from robot_rt_control.server.markers.goals import goal_shapes, goals_of, has_tool, planned_shapes
from robot_rt_control.server.markers.limit_shapes import limit_shapes
from robot_rt_control.server.markers.sensor_shapes import force_shapes, ray_shapes
from robot_rt_control.server.markers.tool_trail import ToolTrail
from robot_rt_control.server.tables.entities import DefinedAction
from robot_rt_control.server.views.snapshot_view import SnapshotView
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import ChannelError

if TYPE_CHECKING:
    from robot_rt_control.server.core.server_core import ServerCore
    from robot_rt_control.server.tables.preparation import PreparedAction


@dataclass(frozen=True, kw_only=True)
class Picture:
    """What is drawn of one tick."""

    tick: int
    shapes: tuple[Shape, ...]


class Scene:
    """Makes shapes of what a snapshot says: of what is unknown, none. One thread at a time.

    It remembers the tools' ways, and the planned ways of the active actions.

    Args:
        workcell: the cell.
    """

    def __init__(self, workcell: Workcell) -> None:
        frames, joint_frames = workcell.frame_names(), workcell.joint_frames()
        self._placed = [(part, frames[part.name]) for part in workcell.parts if part.name in frames]
        # Fingers are at a limit whenever they are open or closed.
        self._jointed = [
            (part, joint_frames[part.name])
            for part in workcell.parts
            if part.name in joint_frames and part.kind != PartKind.GRIPPER
        ]
        self._fault_frames = {
            part: next(filter(None, (frames.get(part.name, ""), *joint_frames.get(part.name, ()))), "")
            for part in workcell.parts
        }
        self._trails = {part.index: ToolTrail() for part in workcell.parts if has_tool(part)}
        self._planned: dict[int, tuple[PreparedAction, list[Shape]]] = {}

    def forget(self) -> None:
        """Forget the tools' ways: nobody looks."""
        for index in self._trails:
            self._trails[index] = ToolTrail()
        self._planned.clear()

    def shapes(self, view: SnapshotView, active: Iterable[DefinedAction]) -> list[Shape]:
        """All shapes of a tick.

        Args:
            view: of the tick's snapshot.
            active: the actions that are active in it.
        """
        actions, found = list(active), []
        for action in actions:
            found += [shape for goal in goals_of(action, view) for shape in goal_shapes(goal)]
        found += self._planned_shapes(actions)
        for index, trail in self._trails.items():
            trail.add(view.time, view.measured(index).tool_position)
            found += trail.shapes()
        for part, frame in self._placed:
            if part.kind == PartKind.FORCE_TORQUE_SENSOR:
                found += force_shapes(frame, view.measured(part.index))
            elif part.kind == PartKind.RANGEFINDER:
                found += ray_shapes(part, frame, view.measured(part.index))
        for part, joints in self._jointed:
            found += limit_shapes(part, joints, view.measured(part.index))
        for part, frame in self._fault_frames.items():
            if frame:
                found += fault_shapes(part.name, frame, view.fault(part.index))
        return found

    def _planned_shapes(self, actions: list[DefinedAction]) -> list[Shape]:
        before, self._planned = self._planned, {}
        for action in actions:
            identity, prepared = action.entry.identity, action.prepared
            known = before.get(identity)
            if known is None or known[0] is not prepared:
                known = prepared, planned_shapes(action)
            self._planned[identity] = known
        return [shape for _, shapes in self._planned.values() for shape in shapes]


class ScenePictures:
    """Draws the last tick of the loop, from the snapshot that the loop writes in any case. One thread at a time.

    Args:
        core: of the control server.
    """

    def __init__(self, core: ServerCore) -> None:
        self._core, self._scene = core, Scene(core.workcell)

    def look(self) -> Picture | None:
        """The last tick; None: there is no executor, or no tick yet."""
        try:
            at = self._core.connection.at()
        except ChannelError:
            return None
        view = self._core.connection.snapshot()
        if view is None:
            return None
        active = [action for _, action in at.store.among(view.active_identities)]
        return Picture(tick=view.tick, shapes=tuple(self._scene.shapes(view, active)))

    def forget(self) -> None:
        """See `Scene.forget`."""
        self._scene.forget()
