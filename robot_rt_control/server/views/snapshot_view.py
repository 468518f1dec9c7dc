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
_SYSTEM = {
    offset_of(world_dtype, name): offset_of(snapshot_dtype, name) // 8 for name in ("time", "speed", "protective_stop")
}


def word_of(offset: int) -> int | None:
    """Which float64 of a snapshot is the variable of the system or of a part at this offset of the world; None: none.

    Args:
        offset: [bytes].
    """
    if offset in _SYSTEM:
        return _SYSTEM[offset]
    part, within = divmod(offset - _PARTS, part_dtype.itemsize)
    if not (0 <= part < capacities.MAX_PARTS and within < measured_dtype.itemsize):
        return None
    return (offset_of(snapshot_dtype, "parts", part, "measured") + within) // 8


class SnapshotView:
    """Args:
    snapshot: a copy (`layout.snapshot_dtype`), as `Channel.snapshot` gives it.
    """

    def __init__(self, snapshot: np.record) -> None:
        self._snapshot = snapshot
        self.words = np.frombuffer(memoryview(snapshot).cast("B"), np.float64)
        """All of it; only those of variables are float64."""
        self.tick = int(snapshot.tick)
        self.time = float(snapshot.time)
        """[s] since the first tick, in ticks times the period."""
        self.time_ns = int(snapshot.time_ns)
        self.speed = float(snapshot.speed)
        self.events_lost = int(snapshot.events_lost)
        self.protective_stop = bool(snapshot.protective_stop)
        n = int(snapshot.n_active)
        self._active = {int(identity): k for k, identity in enumerate(snapshot.active[:n])}

    @property
    def active_identities(self) -> tuple[int, ...]:
        """Identities of the active actions, in global order."""
        return tuple(self._active)

    def measured(self, part: int) -> np.record:
        """What is measured and commanded of the part at this index: `layout.measured_dtype`."""
        return self._snapshot.parts[part].measured

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

    def is_moving(self, part: int) -> bool:
        """Whether the part is known not to be at rest."""
        return bool(self._snapshot.parts[part].measured.at_rest == 0.0)

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

    @property
    def first_axes(self) -> tuple[int, ...]:
        """Index of the first degree of freedom of each active action that has strategies."""
        return tuple(self._snapshot.first_axis[: len(self._active)].tolist())

    def value(self, offset: int) -> float:
        """A variable of the system or of a part, by its offset in the world; NaN: unknown."""
        word = word_of(offset)
        return math.nan if word is None else float(self.words[word])

    def action_value(self, action: DefinedAction, variable: str) -> float:
        """A state variable of an action; NaN: unknown, as the action is not active or the snapshot does not show it."""
        word = self.action_word(action, variable)
        return math.nan if word is None else float(self.words[word])

    def action_word(self, action: DefinedAction, variable: str) -> int | None:
        """Which of `words` is a state variable of an action; None: it is not active, or the snapshot does not show it.

        The same for later snapshots with the same `active_identities` and `first_axes`.
        """
        k = self._active.get(action.entry.identity)
        if k is None:
            return None
        declared = action.type.declared
        if variable in (v.name for v in declared.action_variables):
            return offset_of(snapshot_dtype, variable, k) // 8
        axes, (axis, _, of_axis) = [x.name for x in action.prepared.axes], variable.rpartition(".")
        if axis in axes and of_axis in STRATEGY_VARIABLES:
            row = int(self._snapshot.first_axis[k]) + axes.index(axis)
            return offset_of(snapshot_dtype, "governed", row, list(STRATEGY_VARIABLES).index(of_axis)) // 8
        names = [v.name for v in declared.state_variables]
        i = names.index(variable) if variable in names else capacities.SNAPSHOT_VARIABLES
        return offset_of(snapshot_dtype, "values", k, i) // 8 if i < capacities.SNAPSHOT_VARIABLES else None
