"""What jogs of arms and bases by controllers share, without ROS."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from robot_rt_control.client import Action, Client
from robot_rt_control.client import jogger as client_jogger
from robot_rt_control.definitions.action_type import ActionType, stream_inputs
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.vocabulary.errors import DefinitionError, unknown


class Jogger(client_jogger.Jogger):
    """Jogs a described part.

    Args:
        as `client.jogger.Jogger`, but for the part.
    """

    def __init__(
        self,
        name: str,
        part: PartDescription,
        client: Client,
        *,
        actions: Sequence[Action],
        timeout: float,
        idle_time: float,
        on_event: Callable[[], None],
    ) -> None:
        super().__init__(
            name, part.name, client, actions=actions, timeout=timeout, idle_time=idle_time, on_event=on_event
        )
        self._part = part


_Axes = TypeVar("_Axes")


def axes_of(frame: str, frames: Mapping[str, _Axes]) -> _Axes:
    """What is known of a frame. Raises DefinitionError: it is none of these."""
    if frame not in frames:
        named = [name for name in frames if name]
        raise DefinitionError("frame_id", expected=f"empty, or {unknown('frame', frame, named)}", got=repr(frame))
    return frames[frame]


def finite(what: str, values: Sequence[float]) -> np.ndarray:
    """The values as an array. Raises DefinitionError: one is not finite."""
    found = np.array(values, float)
    if not np.isfinite(found).all():
        raise DefinitionError(what, expected="finite numbers", got=", ".join(f"{x:g}" for x in found))
    return found


def largest(action_type: type[ActionType]) -> np.ndarray:
    """The largest values of an action type's stream `goal`."""
    (goal,) = stream_inputs(action_type)
    return np.array(goal.maximum)


def in_range(twist: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """A twist [m/s, rad/s], the last value of which is angular. Raises DefinitionError: it is beyond these limits."""
    if (np.abs(twist) > limits).any():
        raise DefinitionError(
            "twist",
            expected=f"at most {limits[0]:g} m/s and {limits[-1]:g} rad/s",
            got=", ".join(f"{x:g}" for x in twist),
            hint="Are they in mm/s or degrees/s, or unitless?",
        )
    return twist
