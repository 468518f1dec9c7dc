"""What the last tick's snapshot says, by part, action and variable."""

from __future__ import annotations

import math

import numpy as np

from robot_rt_control.memory.layout import measured_dtype, offset_of, part_dtype, snapshot_dtype, world_dtype
from robot_rt_control.server.events.reasons import fault_text
from robot_rt_control.server.tables.entities import DefinedAction
from robot_rt_control.validation.scope import STRATEGY_VARIABLES
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import OperationalState

_PARTS = offset_of(world_dtype, "parts")
_TIME, _SPEED = offset_of(world_dtype, "time"), offset_of(world_dtype, "speed")
_PROTECTIVE_STOP = offset_of(world_dtype, "protective_stop")


class SnapshotView:
    """Args:
    snapshot: a copy (`layout.snapshot_dtype`), as `Channel.snapshot` gives it.
    """

    def __init__(self, snapshot: np.record) -> None:
        self._snapshot = snapshot
        self._bytes = np.frombuffer(memoryview(snapshot).cast("B"), np.uint8)
        self.tick = int(snapshot.tick)
        self.time = float(snapshot.time)
        """[s] since the first tick, in ticks times the period."""
        self.time_ns = int(snapshot.time_ns)
        self.speed = float(snapshot.speed)
        self.protective_stop = bool(snapshot.protective_stop)
        n = int(snapshot.n_active)
        self._active = {int(identity): k for k, identity in enumerate(snapshot.active[:n])}

    @property
    def active_identities(self) -> tuple[int, ...]:
        """Identities of the active actions, in global order."""
        return tuple(self._active)

    def operational_state(self, part: int) -> OperationalState:
        """The state of the part at this index."""
        return OperationalState(int(self._snapshot.parts[part].measured.operational_state))

    def fault(self, part: int) -> str:
        """Why the part is faulted, in words; empty: it is not."""
        return fault_text(int(self._snapshot.parts[part].fault))

    def position_known(self, part: int) -> bool:
        """Whether the positions of all joints of the part are measured."""
        measured = self._snapshot.parts[part].measured
        return bool(np.isfinite(measured.position[: int(measured.dof)]).all())

    def fault_reason(self, part: int) -> int:
        """Why the part is faulted (`vocabulary.FaultReason`)."""
        return int(self._snapshot.parts[part].fault)

    def fault_log(self, part: int) -> int:
        """Number of the log of the last ticks before its fault; 0: none."""
        return int(self._snapshot.parts[part].fault_log)

    def active_action(self, part: int) -> int:
        """Identity of the action that commands the part; 0: none."""
        return int(self._snapshot.parts[part].active_action)

    def active_since(self, action: int) -> int | None:
        """The tick in which the action of this identity started; None: it is not active."""
        k = self._active.get(action)
        return None if k is None else int(self._snapshot.active_since[k])

    def value(self, offset: int) -> float:
        """A variable of the system or of a part, by its offset in the world; NaN: unknown."""
        if offset == _TIME:
            return self.time
        if offset == _SPEED:
            return self.speed
        if offset == _PROTECTIVE_STOP:
            return float(self.protective_stop)
        part, within = divmod(offset - _PARTS, part_dtype.itemsize)
        if not (0 <= part < capacities.MAX_PARTS and within < measured_dtype.itemsize):
            return math.nan
        start = offset_of(snapshot_dtype, "parts", part, "measured") + within
        return float(self._bytes[start : start + 8].view(np.float64)[0])

    def action_value(self, action: DefinedAction, variable: str) -> float:
        """A state variable of an action; NaN: unknown, as the action is not active or the snapshot does not show it."""
        k = self._active.get(action.entry.identity)
        if k is None:
            return math.nan
        declared = action.type.declared
        if variable in (v.name for v in declared.action_variables):
            return float(self._snapshot[variable][k])
        axes, (axis, _, of_axis) = [x.name for x in action.prepared.axes], variable.rpartition(".")
        if axis in axes and of_axis in STRATEGY_VARIABLES:
            row = int(self._snapshot.first_axis[k]) + axes.index(axis)
            return float(self._snapshot.governed[row, list(STRATEGY_VARIABLES).index(of_axis)])
        names = [v.name for v in declared.state_variables]
        i = names.index(variable) if variable in names else capacities.SNAPSHOT_VARIABLES
        return float(self._snapshot.values[k, i]) if i < capacities.SNAPSHOT_VARIABLES else math.nan
