"""What the tables hold of an action's streams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_rt_control.definitions import streams
from robot_rt_control.definitions.streams import Stream, StreamInput
from robot_rt_control.server.types.action_types import RegisteredType


@dataclass(frozen=True, eq=False, kw_only=True)
class StreamEntry:
    """One stream of an action with its place."""

    declared: Stream
    place: int
    """Number of its ring."""
    n_values: int
    method: int
    variables: int
    record: int
    settings: int

    @property
    def is_output(self) -> bool:
        """Whether the action writes it."""
        return not isinstance(self.declared, StreamInput)


def stream_entries(of: str, registered: RegisteredType, dof: int, places: Sequence[int]) -> tuple[StreamEntry, ...]:
    """The entries of an action's streams, in their order of declaration.

    Args:
        of: the action, for messages.
        dof: joints of the part in its first slot.
        places: numbers of their rings.

    Raises:
        DefinitionError: the part has no joints, and a stream has one value for each.
    """
    declared = registered.declared
    state, parameters = declared.state_record.offsets, declared.parameter_record.offsets
    methods = {s.name: i for i, s in enumerate(declared.stream_inputs) if s.name in declared.own_gaps}
    found = []
    for stream, place in zip(declared.streams, places, strict=True):
        n = streams.n_values(stream, dof)
        is_input = isinstance(stream, StreamInput)
        first_variable, first_setting = (
            f"{stream.name}_{streams.VARIABLES[0][0]}",
            f"{stream.name}_{streams.SETTINGS[0]}",
        )
        found.append(
            StreamEntry(
                declared=stream,
                place=place,
                n_values=n,
                method=methods.get(stream.name, -1),
                variables=state[first_variable] if is_input else 0,
                record=state[stream.name],
                settings=parameters[first_setting] if is_input else 0,
            )
        )
    return tuple(found)


def write_streams(entries: Sequence[StreamEntry], identity: int, slot: int, rows: np.ndarray) -> None:
    """Write an action's streams into rows of the tables (`layout.stream_dtype`), one for each."""
    for row, entry in zip(rows, entries, strict=True):
        row["identity"], row["action"], row["place"] = identity, slot, entry.place
        row["is_output"], row["method"], row["n_values"] = entry.is_output, entry.method, entry.n_values
        row["width"] = streams.width(entry.declared)
        quaternion = getattr(entry.declared, "quaternion", None)
        row["quaternion"] = -1 if quaternion is None else quaternion
        row["variables"], row["record"], row["settings"] = entry.variables, entry.record, entry.settings
