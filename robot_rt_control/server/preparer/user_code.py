"""What an author's code raises becomes a refusal with the author's line; and where in it a process was."""

from __future__ import annotations

import inspect
import logging
import os
import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError, RobotControlError

_log = logging.getLogger(__name__)

_Result = TypeVar("_Result")

_MAX_TRACE_BYTES = 1 << 11
_FRAME = re.compile(r'File "(.*?)", line (\d+)')
CORRECT = "Correct the action type's code and load it again"


def run_user_code(of: str, action_type: type[ActionType], method: str, call: Callable[[], _Result]) -> _Result:
    """Run code of an action type's author.

    Args:
        of: what is being prepared, for messages: "action 'approach'".
        method: the name of what is called.

    Raises:
        DefinitionError: the code refused, with its own text; or it raised something else, with the place.
    """
    try:
        return call()
    except CapacityError as error:
        raise CapacityError(f"{of}: {error.what}", expected=error.expected, got=error.got, hint=error.hint) from error
    except RobotControlError as error:
        raise DefinitionError(f"{of}: {error.what}", expected=error.expected, got=error.got, hint=error.hint) from error
    except BaseException as error:  # also SystemExit and KeyboardInterrupt: the request gets an answer
        if not isinstance(error, Exception):
            _log.warning("%s of action type %r raised %s", method, action_type.name, type(error).__name__)
        raise DefinitionError(
            f"{of}: {method} of action type {action_type.name!r} failed with {type(error).__name__}: {error}",
            got=f"the exception at {_place(error, action_type)}",
            hint=CORRECT,
        ) from error


def _place(error: BaseException, action_type: type[ActionType]) -> str:
    """File and line of the user's code: the last step of the traceback beside the class, or the last one at all."""
    steps = traceback.extract_tb(error.__traceback__)
    folder = Path(inspect.getfile(action_type)).resolve().parent
    own = [s for s in steps[1:] if Path(s.filename).resolve().parent == folder]
    last = (own or list(steps))[-1]
    return f"{last.filename}:{last.lineno}"


def frames_of(trace: int) -> list[tuple[str, str]]:
    """File and line of each frame that `faulthandler` has written to a file descriptor, the innermost first."""
    return _FRAME.findall(os.pread(trace, _MAX_TRACE_BYTES, 0).decode(errors="replace"))
