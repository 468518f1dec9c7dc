"""From an action's definition to its parameter record.

`create`, the constructor and `prepare_parameters` of an action type run here if the class is in this process; code of
users runs in a worker of the preparer.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from robot_rt_control.definitions.action_type import ActionType, ParameterValue, fill_parameters, parameter_dtype
from robot_rt_control.definitions.definitions import ActionDefinition
from robot_rt_control.definitions.definitions import ParameterValue as GivenValue
from robot_rt_control.definitions.parameters import check_parameters
from robot_rt_control.model.catalogue import joint_unit
from robot_rt_control.server.preparer.process import LIMIT_S, UserClass
from robot_rt_control.server.preparer.remote import RemoteAction, Worker
from robot_rt_control.server.preparer.user_code import run_user_code
from robot_rt_control.server.sessions import Session
from robot_rt_control.server.tables.part_view import PartView
from robot_rt_control.server.types.action_types import ActionTypes, RegisteredType
from robot_rt_control.validation.actions import slot_parts
from robot_rt_control.vocabulary.errors import SessionEnded


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedAction:
    """An action that is right in itself; it has no place in the tables yet."""

    id: str
    type: RegisteredType
    parts: tuple[PartView, ...]
    """In the order of the type's slots."""
    instance: ActionType | RemoteAction
    values: Mapping[str, ParameterValue]
    parameters: np.ndarray
    """The parameter record as bytes, shape (size,) of uint8."""
    time_limit: float
    """[s]; 0: none."""
    preparing: threading.Lock = field(default_factory=threading.Lock)
    """Held while the instance prepares: its author need not think of threads."""


class Preparer:
    """Prepares actions.

    Args:
        types: the action types.
        parts: all parts of the workcell, by name.
    """

    def __init__(self, types: ActionTypes, parts: Mapping[str, PartView]) -> None:
        self._types, self._parts = types, parts
        self._workers: dict[tuple[Session | None, RegisteredType], Worker] = {}
        self._changing = threading.Lock()

    def prepare(self, definition: ActionDefinition, session: Session | None) -> PreparedAction:
        """Make an action and fill its parameter record.

        Args:
            definition: found right by `validation`.
            session: whose action it is; its end ends the preparation. None: the system's, or that of a check; these
                have a limit.

        Raises:
            DefinitionError: the type's own code refuses it, or raised an exception.
        """
        of = f"action {definition.id!r}"
        registered = self._types.get(definition.type, of)
        slots = registered.declared.slots
        parts = tuple(self._parts[name] for name in slot_parts(of, registered.declared, definition.parts))
        values = self._values(definition.id, registered, parts[0], definition.parameters)
        by_slot = {s.name: p for s, p in zip(slots, parts, strict=True)}
        code = registered.code
        instance: ActionType | RemoteAction
        if isinstance(code, UserClass):
            names = {slot: part.name for slot, part in by_slot.items()}
            instance = self._worker(session, registered, code).create(of, names, parts[0].measured())
        else:
            instance = run_user_code(of, code, "create", lambda: code.create(by_slot))
        return PreparedAction(
            id=definition.id,
            type=registered,
            parts=parts,
            instance=instance,
            values=values,
            parameters=self.fill(definition.id, instance, values),
            time_limit=definition.time_limit or 0.0,
        )

    def new_values(
        self,
        action: str,
        registered: RegisteredType,
        part: str,
        present: Mapping[str, ParameterValue],
        given: Iterable[GivenValue],
    ) -> dict[str, ParameterValue]:
        """An action's values after some of them are changed.

        Args:
            part: in the action's first slot.
            present: its checked values so far.

        Raises:
            DefinitionError: a given value is not valid.
        """
        changed = self._values(action, registered, self._parts[part], given, only_given=True)
        merged = {**present, **changed}
        return {p.name: merged[p.name] for p in registered.declared.parameters if p.name in merged}

    def fill(
        self, action: str, instance: ActionType | RemoteAction, values: Mapping[str, ParameterValue]
    ) -> np.ndarray:
        """The parameter record for checked values, as bytes.

        Raises:
            DefinitionError: the type's own check refuses them, or its code raised an exception.
        """
        of = f"action {action!r}"
        if isinstance(instance, RemoteAction):
            measured = next(iter(self._parts.values())).measured()
            return np.frombuffer(instance.fill(of, values, measured), np.uint8)
        memory = np.zeros(1, parameter_dtype(type(instance)))
        run_user_code(
            of, type(instance), "prepare_parameters", lambda: fill_parameters(instance, values, memory[0])
        )
        return memory.view(np.uint8)

    def _worker(self, session: Session | None, registered: RegisteredType, code: UserClass) -> Worker:
        """The worker of a session and type: a new one if there is none, or if it has died."""
        with self._changing:
            if session is not None and session.end_reason:
                raise SessionEnded.of(session.id, session.name, session.end_reason)
            worker = self._workers.get((session, registered))
            if worker is None or worker.is_gone:
                parts = [part.description for part in self._parts.values()]
                worker = self._workers[session, registered] = Worker(
                    code, registered.declared, parts, LIMIT_S if session is None else None
                )
            return worker

    def leave(self, session: Session) -> None:
        """A session has ended: what is being prepared for it ends. Does not wait."""
        with self._changing:
            for key in [key for key in self._workers if key[0] is session]:
                self._workers.pop(key).leave()

    def close(self) -> None:
        """End all that is being prepared."""
        with self._changing:
            for worker in self._workers.values():
                worker.leave()
            self._workers.clear()

    def _values(
        self,
        action: str,
        registered: RegisteredType,
        first: PartView,
        given: Iterable[GivenValue],
        *,
        only_given: bool = False,
    ) -> dict[str, ParameterValue]:
        return check_parameters(
            action,
            registered.declared.parameters,
            given,
            dof=first.dof,
            joint_unit=joint_unit(first.description),
            only_given=only_given,
        )
