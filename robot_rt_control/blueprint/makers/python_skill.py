"""A Python function under way, in a thread of its own."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from robot_rt_control.blueprint.graph import events
from robot_rt_control.blueprint.graph.results import CANCELLED, DONE, FAILED, Outcome, Results
from robot_rt_control.blueprint.makers.capability_files import file_of, shown, where
from robot_rt_control.blueprint.makers.handle import Handle, SkillCancelled, View
from robot_rt_control.blueprint.runs.robot import Robot
from robot_rt_control.definitions.parameter_value import Value
from robot_rt_control.vocabulary.errors import DefinitionError, unknown


class PythonWork:
    """One call of a function. All methods are called in the driver's thread.

    Args:
        results, outputs: those that it declares.
    """

    def __init__(
        self,
        activity: int,
        function: Callable[..., Any],
        arguments: Mapping[str, Any],
        handle: Handle,
        view: View,
        robot: Robot,
        results: Results,
        outputs: Mapping[str, Any],
    ) -> None:
        handle.view = view
        self._activity, self._function, self._arguments = activity, function, arguments
        self._handle, self._view, self._robot = handle, view, robot
        self._results, self._outputs = results, outputs
        self._ended: events.Ended | None = None
        name = f"skill {function.__name__}"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)  # one that hangs must not hold us
        self._thread.start()

    def _run(self) -> None:
        turns, handle = self._handle.turns, self._handle
        if turns is not None:
            turns.wait(first=True)
        try:
            returned = self._function(handle, **self._arguments)
            self._ended = self._ending(returned)
        except SkillCancelled:
            self._ended = events.Ended(activity=self._activity, result=CANCELLED)
        except BaseException as error:  # whatever it is, the run goes on with `failed`
            place = where(error, file_of(self._function))
            self._ended = events.Ended(activity=self._activity, result=FAILED, reason=f"{place}: {shown(error)}")
        finally:
            if turns is not None:
                turns.back()
            self._robot.on_change()

    def _ending(self, returned: Any) -> events.Ended:
        reason = ""
        if isinstance(returned, Outcome):
            returned, reason = (returned.result, returned.outputs), returned.reason
        result, outputs = returned if isinstance(returned, tuple) and len(returned) == 2 else (returned, None)
        if isinstance(result, Mapping) and outputs is None:
            result, outputs = None, result
        result = DONE if result is None else result
        line = getattr(getattr(self._function, "__code__", None), "co_firstlineno", 0)
        place = f"{file_of(self._function).name}:{line}: {self._function.__name__}()"
        if not isinstance(result, str) or result not in self._results:
            known = unknown("result", str(result), self._results)
            error = DefinitionError(f"{place} returned the unknown result {result!r}", expected=known)
            return events.Ended(activity=self._activity, result=FAILED, reason=str(error))
        try:
            found = {name: _plain(place, name, value, self._outputs) for name, value in (outputs or {}).items()}
        except DefinitionError as error:
            return events.Ended(activity=self._activity, result=FAILED, reason=str(error))
        if not reason and self._results[result]:
            reason = f"{place} returned it"
        return events.Ended(activity=self._activity, result=result, reason=reason, outputs=found)

    # --- as Work --------------------------------------------------------------------------------

    def poll(self) -> events.EngineEvent | None:
        if self._ended is None and self._handle.turns is not None:
            self._handle.turns.give()
        if self._handle.told:
            return self._handle.told.popleft()
        if self._ended is None:
            return None
        self._view.close()
        return self._ended if self._view.is_at_rest else None

    def cancel(self) -> None:
        self._handle.cancel()

    def answer(self, text: str) -> None:
        self._handle.answer(text)

    def abandon(self) -> str:
        """Its view is closed, and what it says from now on is ignored. Returns where it hangs."""
        self._view.close()
        frame = sys._current_frames().get(self._thread.ident or 0)
        file = file_of(self._function)
        lines = [line for f, line in traceback.walk_stack(frame) if f.f_code.co_filename == str(file)] if frame else []
        place = f"{file.name}:{lines[0]}" if lines else file.name
        return f"{place}: {self._function.__name__}() did not end, and was abandoned"

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing that it started moves."""
        return self._view.is_at_rest


def _plain(place: str, name: str, value: Any, declared: Mapping[str, Any]) -> Value:
    """An output as a plain value. Raises DefinitionError: not declared, or not of its type."""
    if name not in declared:
        raise DefinitionError(f"{place}: unknown output {name!r}", expected=unknown("output", name, declared))
    kind = declared[name].type
    wanted: dict[str, Any] = {"float": float, "int": int, "bool": bool, "text": str}
    try:
        if hasattr(value, "tolist"):  # of numpy
            value = value.tolist()
        if isinstance(value, list | tuple):
            return tuple(wanted[kind](item) for item in value)
        if (kind == "text") != isinstance(value, str):
            raise TypeError(f"{value!r} is no {kind}")
        found: Value = wanted[kind](value)
    except (TypeError, ValueError) as error:
        raise DefinitionError(f"{place}: output {name!r}", expected=f"a {kind}", got=str(error)) from None
    return found
