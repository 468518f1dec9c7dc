"""The one exception hierarchy of the non-real-time side. Real-time code returns Status codes instead."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class RobotControlError(Exception):
    """Anything that robot_rt_control refuses or that failed.

    Args:
        what: what failed, naming the item.
        expected: what would have been right.
        got: what came.
        hint: what to do next.
    """

    def __init__(self, what: str, *, expected: str = "", got: str = "", hint: str = "") -> None:
        self.what, self.expected, self.got, self.hint = what, expected, got, hint
        parts = [what]
        if expected:
            parts.append(f"expected {expected}")
        if got:
            parts.append(f"got {got}")
        text = "; ".join(parts)
        super().__init__(f"{text}. {hint}" if hint else text)


class DefinitionError(RobotControlError):
    """A workcell, action, reaction, parameter or program is not valid."""


class ConditionError(DefinitionError):
    """A condition's text is not valid; the message points at the character."""


class CapacityError(DefinitionError):
    """A documented capacity is exceeded (see capacities.py)."""


class SessionError(RobotControlError):
    """The session is unknown, closed, lost, or may not do that."""


class CompileError(DefinitionError):
    """An action type's real-time code was refused; the message gives file, line, operation and hint."""


class ChannelError(RobotControlError):
    """The shared-memory channel is missing, of another layout, or owned by somebody else."""


class HardwareError(RobotControlError):
    """A hardware plugin failed or broke its contract."""


class CommandRefused(RobotControlError):
    """The executor refused a command; nothing of it was done."""


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """The `expected` text for an unknown name: near matches first, else all known names."""
    names = sorted(known)
    if not names:
        return f"no {kind} is defined, so {name!r} cannot be one"
    near = get_close_matches(name, names, n=3, cutoff=0.6)
    if near:
        return "one of the known names; did you mean " + " or ".join(repr(n) for n in near)
    shown = ", ".join(names[:12]) + (f", … ({len(names)} in all)" if len(names) > 12 else "")
    return f"one of: {shown}"
