"""How large a request may be: checked before anything is parsed, kept or repeated in a message."""

from __future__ import annotations

from typing import Any

from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.errors import CapacityError

_TEXTS = {
    "program": capacities.MAX_PROGRAM_BYTES,
    "task": capacities.MAX_PROGRAM_BYTES,
    "previous_plan": capacities.MAX_TEXT_LENGTH,
    "skill": capacities.MAX_PROGRAM_BYTES,
    "node": capacities.MAX_PATH_LENGTH,
    "start_at": capacities.MAX_PATH_LENGTH,
    "breakpoints": capacities.MAX_PATH_LENGTH + len("before "),
    "search": capacities.MAX_TEXT_LENGTH,
    "code": capacities.MAX_PROGRAM_BYTES,
    "condition": capacities.MAX_CONDITION_LENGTH,
    "until": capacities.MAX_CONDITION_LENGTH,
    "text": capacities.MAX_TEXT_LENGTH,
    "reason": capacities.MAX_TEXT_LENGTH,
    "file": capacities.MAX_TEXT_LENGTH,
    "source": capacities.MAX_TEXT_LENGTH,
    "filter": capacities.MAX_TEXT_LENGTH,
    "start": capacities.MAX_ACTIONS_PER_COMMAND * (capacities.MAX_NAME_LENGTH + 2),
    "inputs": capacities.MAX_NAME_LENGTH + 1 + capacities.MAX_DOTTED_NAME_LENGTH,
}
"""Field → characters that it may have; all others are names."""


def check_sizes(what: str, message: Any) -> None:
    """Refuse a request with a text or list that is too long.

    Args:
        what: the request, for the message: "define_actions".
        message: a ROS message, or a part of one.

    Raises:
        CapacityError: names the field, the bound and the size.
    """
    for name in message.get_fields_and_field_types():
        _check(f"{what}: {name}", name, getattr(message, name))


def _check(what: str, name: str, value: Any) -> None:
    if isinstance(value, str):
        at_most = _TEXTS.get(name, 2 * capacities.MAX_NAME_LENGTH)  # two names: slot=part, action.signal
        if len(value) > at_most:
            raise CapacityError(
                f"{what} is too long: {value[:40] + '…'!r}",
                expected=f"at most {at_most} characters",
                got=str(len(value)),
            )
    elif isinstance(value, list):  # of texts or messages; numbers come as arrays
        if len(value) > capacities.MAX_REACTIONS:
            raise CapacityError(
                f"{what}: too many", expected=f"at most {capacities.MAX_REACTIONS} (MAX_REACTIONS)", got=str(len(value))
            )
        for i, one in enumerate(value):
            _check(f"{what}[{i}]", name, one)
    elif hasattr(value, "get_fields_and_field_types"):
        check_sizes(what, value)
