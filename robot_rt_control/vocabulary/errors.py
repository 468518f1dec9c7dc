"""The one exception hierarchy of the non-real-time side. Real-time code returns Status codes instead."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

from robot_rt_control.vocabulary.capacities import MAX_ERROR_LENGTH, MAX_MISTAKES, MAX_NAME_LENGTH, MAX_SHOWN_LENGTH


class RobotControlError(Exception):
    """Base class of all errors: a refused request, or a failure.

    Args:
        what: what failed, naming the item. It and `hint` have at most MAX_ERROR_LENGTH characters.
        expected: valid values. It and `got` have at most MAX_SHOWN_LENGTH characters.
        got: the actual value.
        hint: what to do next.
    """

    def __init__(self, what: str, *, expected: str = "", got: str = "", hint: str = "") -> None:
        what, hint = _cut(what, MAX_ERROR_LENGTH), _cut(hint, MAX_ERROR_LENGTH)
        expected, got = _cut(expected, MAX_SHOWN_LENGTH), _cut(got, MAX_SHOWN_LENGTH)
        self.what, self.expected, self.got, self.hint = what, expected, got, hint
        parts = [what]
        if expected:
            parts.append(f"expected {expected}")
        if got:
            parts.append(f"got {got}")
        text = "; ".join(parts)
        super().__init__(f"{text}. {hint}" if hint else text)


def _cut(text: str, length: int) -> str:
    """A message may contain any input: only a bounded part of it."""
    left_out = len(text) - length
    return text if left_out <= 0 else f"{text[:length]}… ({left_out} more characters)"


class DefinitionError(RobotControlError):
    """A workcell, action, reaction, parameter or program is not valid."""

    line: int = 0
    """Line in the file that the message names; 0: no file is named."""
    item: tuple[str | int, ...] = ()
    """Which item of what was checked is wrong, as keys and indices: ("commands", 1)."""


class ProgramError(DefinitionError):
    """Several mistakes in one text or request, one below the other; in a text each with its line.

    Args:
        mistakes: at least one, in the order of the message.
    """

    def __init__(self, mistakes: Iterable[DefinitionError]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(str(mistake) for mistake in self.mistakes))
        self.line = self.mistakes[0].line


def raise_all(mistakes: Iterable[DefinitionError]) -> None:
    """Raise all mistakes at once, sorted by line; do nothing if there are none.

    Args:
        mistakes: the first MAX_MISTAKES are taken, and no further ones looked for.

    Raises:
        DefinitionError: there is exactly one.
        ProgramError: there are several.
    """
    found = sorted(islice(mistakes, MAX_MISTAKES), key=lambda mistake: mistake.line)
    if len(found) == 1:
        raise found[0]
    if found:
        raise ProgramError(found)


class ConditionError(DefinitionError):
    """A condition's text is not valid; the message points at the character.

    Args:
        text: the whole condition. Its line with the fault is shown below the message.
        position: index of the faulty character in `text`; a caret marks it.
    """

    def __init__(
        self, what: str, *, text: str = "", position: int = 0, expected: str = "", got: str = "", hint: str = ""
    ) -> None:
        super().__init__(what, expected=expected, got=got, hint=hint)
        self.text, self.position = text, position
        if text:
            self.args = (f"{self.args[0]}\n{_pointed_at(text, position)}",)


class Overtaken(DefinitionError):
    """A text was made from a version that is not the last one any more.

    Args:
        version: the last one; 0: there is none.
        text: of that version.
    """

    def __init__(
        self, what: str, *, version: int = 0, text: str = "", expected: str = "", got: str = "", hint: str = ""
    ) -> None:
        super().__init__(what, expected=expected, got=got, hint=hint)
        self.version, self.text = version, text


class CapacityError(DefinitionError):
    """A documented capacity is exceeded (see capacities.py)."""


class SessionError(RobotControlError):
    """The session is unknown, closed or lost, or it may not do this."""


class SessionEnded(SessionError):
    """The session has ended.

    Args:
        what: the message that names the session and the reason, see `of`.
        reason: why the session ended.
    """

    def __init__(self, what: str, *, reason: str = "", expected: str = "", got: str = "", hint: str = "") -> None:
        super().__init__(what, expected=expected, got=got, hint=hint)
        self.reason = reason

    @classmethod
    def of(cls, id: str, name: str, reason: str, file: str = "") -> SessionEnded:
        """The error for an ended session; all callers use this message.

        Args:
            id, name: of the session; the name may be empty.
            reason: why it ended.
            file: log of the last ticks before its end; empty: there is no log.
        """
        log = f"The last ticks before it are in {file}. " if file else ""
        return cls(
            f"{session_label(id, name)} has ended: {reason}",
            reason=reason,
            hint=f"{log}Open a new session and define its actions again",
        )


class InternalError(RobotControlError):
    """A bug in robot_rt_control itself, in the process that served the request; its log has the traceback."""

    @classmethod
    def of(cls, what: str, error: BaseException) -> InternalError:
        """The message for an unexpected exception in `what`."""
        return cls(f"internal error in {what}: {type(error).__name__}: {error}", hint="The log has the details")


class CompileError(DefinitionError):
    """An action type's real-time code was refused; the message gives file, line, operation and hint."""


class ChannelError(RobotControlError):
    """The shared-memory channel is missing, has another layout, or has another owner."""


class HardwareError(RobotControlError):
    """A hardware plugin failed or broke its contract."""


class NoAnswer(RobotControlError):
    """A node of the workcell is not there, or does not answer in time."""


class CommandRefused(RobotControlError):
    """The executor refused a command; no part of it was executed."""


def error_class(name: str) -> type[RobotControlError]:
    """The exception class of this name; RobotControlError if this version does not know it."""
    found = globals().get(name)
    return found if isinstance(found, type) and issubclass(found, RobotControlError) else RobotControlError


def session_label(id: str, name: str) -> str:
    """The name of a session in messages."""
    return f"session {id!r} ({name})" if name else f"session {id!r}"


def _pointed_at(text: str, position: int, width: int = 100) -> str:
    """The line of `text` with a caret under `position`; a long line is cut around it."""
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    line = "".join(c if c.isprintable() else " " for c in text[start : len(text) if end < 0 else end])
    column = position - start
    if len(line) > width:
        first = min(max(column - width // 2, 0), len(line) - width)
        before, after = "…" if first else "", "…" if first + width < len(line) else ""
        line, column = before + line[first : first + width] + after, column - first + len(before)
    return f"  {line}\n  {' ' * column}^"


def shortened(text: str, length: int = 80) -> str:
    """The text, cut off for a message."""
    return text if len(text) <= length else text[: length - 1] + "…"


def refuse_nul(text: str, what: str) -> None:
    """Refuse a path that the operating system cannot take, before it raises a ValueError.

    Args:
        what: names it, for the message.

    Raises:
        DefinitionError: the character NUL is in it.
    """
    if "\0" in text:
        raise DefinitionError(f"{what}: {text!r}", expected="a text without the character NUL", got="one with it")


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """The `expected` text for an unknown name: near matches if there are any, else all known names."""
    names = sorted(known)
    if not names:
        return f"a known {kind}, but there is none"
    near = get_close_matches(name[:MAX_NAME_LENGTH], names, n=3, cutoff=0.6)
    if near:
        return "one of the known names; did you mean " + " or ".join(repr(n) for n in near)
    shown = ", ".join(names[:12]) + (f", … ({len(names)} in all)" if len(names) > 12 else "")
    return f"one of: {shown}"
