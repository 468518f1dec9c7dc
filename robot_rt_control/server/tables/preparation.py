"""From an action's definition to its parameter record.

`create`, the constructor and `prepare_parameters` of an action type run here if the class is in this process; code of
users runs in a worker of the preparer.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from robot_rt_control.definitions.action_type import ActionType, ParameterValue, fill_parameters, parameter_dtype
from robot_rt_control.definitions.definitions import ActionDefinition, AxisDefinition, StrategyDefinition
from robot_rt_control.definitions.definitions import ParameterValue as GivenValue
from robot_rt_control.definitions.parameters import check_parameters
from robot_rt_control.memory.layout import degree_dtype
from robot_rt_control.model.workcell.catalogue import joint_unit
from robot_rt_control.model.workcell.part_facts import PartFacts
from robot_rt_control.server.preparer.axis_view import AxisView, degree_limits, degree_views, joint_views
from robot_rt_control.server.preparer.part_view import PartView
from robot_rt_control.server.preparer.process import LIMIT_S, UserClass
from robot_rt_control.server.preparer.remote import RemoteAction, Worker
from robot_rt_control.server.preparer.user_code import run_user_code
from robot_rt_control.server.sessions import Session
from robot_rt_control.server.tables.group_preparation import PreparedGroup, prepare_group
from robot_rt_control.server.tables.long_trajectory import as_group
from robot_rt_control.server.types.action_types import ActionTypes, RegisteredType
from robot_rt_control.validation.actions import slot_parts
from robot_rt_control.validation.strategies import find_axis
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.errors import SessionEnded

StreamKey = tuple[int, str]
"""Identity of an action, and name of one of its streams."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedLaw:
    """The law of a strategy."""

    definition: StrategyDefinition
    type: RegisteredType
    parts: tuple[PartView, ...]
    """The parts that it reads, in the order of its slots after the first."""
    unit: str
    """Unit of the position that it governs."""
    instance: ActionType | RemoteAction
    values: Mapping[str, ParameterValue]
    parameters: np.ndarray
    """The parameter record as bytes, shape (size,) of uint8."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedAxis:
    """A degree of freedom with its strategies, in order of priority."""

    name: str
    part: PartView
    joint: int
    """Index of the joint, or among the degrees of freedom that the action's type declares."""
    record: int | None
    """Offset of its `layout.degree_dtype` in the action's state [bytes]; None: it is a joint."""
    laws: tuple[PreparedLaw, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedAction:
    """An action that is right in itself; it has no place in the tables yet."""

    id: str
    type: RegisteredType
    parts: tuple[PartView, ...]
    """In the order of the type's slots."""
    axes: tuple[PreparedAxis, ...] = ()
    within: tuple[str, ...] = ()
    """The used programs that contain it, outermost first."""
    instance: ActionType | RemoteAction
    values: Mapping[str, ParameterValue]
    parameters: np.ndarray
    """The parameter record as bytes, shape (size,) of uint8."""
    time_limit: float
    """[s]; 0: none."""
    definition: ActionDefinition | None
    """As it was given, without values of parameters. None: it is not known which of them the loop has."""
    group: PreparedGroup | None = None
    """None: it is not a motion group."""
    preparing: threading.Lock = field(default_factory=threading.Lock)
    """Held while the instance prepares: its author need not think of threads."""


class Preparer:
    """Prepares actions.

    Args:
        types: the action types.
        parts: all parts of the workcell, by name.
        period: of the loop [s].
    """

    def __init__(self, types: ActionTypes, parts: Mapping[str, PartView], period: float) -> None:
        self._types, self._parts, self._period = types, parts, period
        self._workers: dict[tuple[Session | None, RegisteredType, StreamKey | None], Worker] = {}
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
        of, definition = f"action {definition.id!r}", as_group(definition, self._parts)
        registered = self._types.get(definition.type, of)
        slots = registered.declared.slots
        parts = tuple(self._parts[name] for name in slot_parts(of, registered.declared, definition.parts))
        values = self._values(definition.id, registered, parts[0], definition.parameters)
        by_slot = {s.name: p for s, p in zip(slots, parts, strict=not registered.declared.each_part)}
        instance = self._create(of, registered, by_slot, session)
        group = None
        if registered.declared.each_part:
            group, parameters = prepare_group(of, definition.commands, parts, values, self._period)
        else:
            parameters = self.fill(of, instance, values)
        return PreparedAction(
            id=definition.id,
            type=registered,
            parts=parts,
            axes=self._axes(definition, registered, parts, instance, parameters, session),
            within=definition.within,
            instance=instance,
            values=values,
            parameters=parameters,
            time_limit=definition.time_limit or 0.0,
            definition=replace(definition, parameters=()),
            group=group,
        )

    def again(self, present: PreparedAction, definition: ActionDefinition) -> PreparedAction | None:
        """An action of a type of this package with the values of another definition that differs in nothing else.
        None: it does, or has streams, strategies or set points, which a new definition begins anew; or it is not known
        what the loop has.

        Args:
            definition: need not be right.

        Raises:
            as `prepare`.
        """
        definition = as_group(definition, self._parts)
        registered = present.type
        if present.group is not None or present.axes or registered.declared.streams:
            return None
        if isinstance(present.instance, RemoteAction) or replace(definition, parameters=()) != present.definition:
            return None
        of = f"action {definition.id!r}"
        if self._types.get(definition.type, of) is not registered:
            return None
        values = self._values(definition.id, registered, present.parts[0], definition.parameters)
        with present.preparing:
            return replace(present, values=values, parameters=self.fill(of, present.instance, values))

    def _create(
        self,
        of: str,
        registered: RegisteredType,
        slots: Mapping[str, PartFacts],
        session: Session | None,
        stream: StreamKey | None = None,
    ) -> ActionType | RemoteAction:
        code = registered.code
        if isinstance(code, UserClass):
            given = {slot: part.axis if isinstance(part, AxisView) else part.name for slot, part in slots.items()}
            return self._worker(session, registered, code, stream).create(of, given, self._measured())
        return run_user_code(of, code, "create", lambda: code.create(slots))

    def for_stream(
        self, of: str, stream: StreamKey, action: PreparedAction, session: Session
    ) -> ActionType | RemoteAction:
        """An object of an action that resamples one of its streams: code of users in a process for this stream alone.

        Args:
            of: the stream, for messages.

        Raises:
            DefinitionError: the type's own code refuses it, or raised an exception.
        """
        slots = {s.name: p for s, p in zip(action.type.declared.slots, action.parts, strict=True)}
        return self._create(of, action.type, slots, session, stream)

    def _axes(
        self,
        definition: ActionDefinition,
        registered: RegisteredType,
        parts: Sequence[PartView],
        instance: ActionType | RemoteAction,
        parameters: np.ndarray,
        session: Session | None,
    ) -> tuple[PreparedAxis, ...]:
        if not definition.strategies:
            return ()
        degrees = registered.declared.degrees_of_freedom
        if degrees:
            limits = self._degree_limits(f"action {definition.id!r}", instance, parameters)
            views = {parts[0].name: degree_views(parts[0], degrees, limits)}
        else:
            views = {p.name: joint_views(p) for p in parts[: len(registered.moving_slots)]}
        axes = []
        for axis in definition.strategies:
            of = f"action {definition.id!r}: {axis.label}"
            part, joint = find_axis(of, axis.axis, views, by_index=not degrees)
            assert joint is not None  # the joints are known
            view = list(views[part].values())[joint]
            laws = tuple(self._law(definition.id, view, axis, strategy, session) for strategy in axis.strategies)
            record = None
            if degrees:
                record = registered.declared.state_record.offsets["degrees"] + joint * degree_dtype.itemsize
            axes.append(PreparedAxis(name=axis.axis, part=self._parts[part], joint=joint, record=record, laws=laws))
        return tuple(axes)

    def _degree_limits(
        self, of: str, instance: ActionType | RemoteAction, parameters: np.ndarray
    ) -> np.ndarray:
        if isinstance(instance, RemoteAction):
            return instance.degree_limits(of, parameters.tobytes(), self._measured())
        params = parameters.view(parameter_dtype(type(instance)))[0]
        return run_user_code(of, type(instance), "prepare_degrees", lambda: degree_limits(instance, params))

    def _law(
        self, action: str, view: AxisView, axis: AxisDefinition, strategy: StrategyDefinition, session: Session | None
    ) -> PreparedLaw:
        of = f"action {action!r}: strategy {strategy.name!r} of {axis.axis!r}"
        registered = self._types.get(strategy.law, of)
        declared = registered.declared
        unit = view.joint_units[0]
        values = check_parameters("", declared.parameters, strategy.parameters, dof=1, joint_unit=unit, of=of)
        parts = tuple(self._parts[name] for name in strategy.parts)
        by_slot = {s.name: p for s, p in zip(declared.slots, (view, *parts), strict=True)}
        instance = self._create(of, registered, by_slot, session)
        return PreparedLaw(
            definition=strategy,
            type=registered,
            parts=parts,
            unit=unit,
            instance=instance,
            values=values,
            parameters=self.fill(of, instance, values),
        )

    def changed_law(self, of: str, law: PreparedLaw, given: Iterable[GivenValue]) -> PreparedLaw:
        """A law after some of its values are changed.

        Raises:
            DefinitionError: a given value is not valid, or the law's own code refuses it.
        """
        declared = law.type.declared.parameters
        changed = check_parameters("", declared, given, dof=1, joint_unit=law.unit, of=of, only_given=True)
        merged = {**law.values, **changed}
        values = {p.name: merged[p.name] for p in declared if p.name in merged}
        return replace(law, values=values, parameters=self.fill(of, law.instance, values))

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
        self, of: str, instance: ActionType | RemoteAction, values: Mapping[str, ParameterValue]
    ) -> np.ndarray:
        """The parameter record for checked values, as bytes.

        Args:
            of: what has these parameters, for messages: "action 'approach'".

        Raises:
            DefinitionError: the type's own check refuses them, or its code raised an exception.
        """
        if isinstance(instance, RemoteAction):
            return np.frombuffer(instance.fill(of, values, self._measured()), np.uint8)
        memory = np.zeros(1, parameter_dtype(type(instance)))
        run_user_code(
            of, type(instance), "prepare_parameters", lambda: fill_parameters(instance, values, memory[0])
        )
        return memory.view(np.uint8)

    def _measured(self) -> np.ndarray | None:
        """What was measured of all parts in the last tick; None: there was none."""
        return next(iter(self._parts.values())).measured()

    def _worker(
        self, session: Session | None, registered: RegisteredType, code: UserClass, stream: StreamKey | None
    ) -> Worker:
        """The worker of a session and type, or of one stream: a new one if there is none, or if it has died."""
        with self._changing:
            if session is not None and session.end_reason:
                raise SessionEnded.of(session.id, session.name, session.end_reason)
            worker = self._workers.get((session, registered, stream))
            if worker is None or worker.is_gone:
                parts = [part.description for part in self._parts.values()]
                limit = defaults.RESAMPLE_LIMIT_S if stream else LIMIT_S if session is None else None
                worker = Worker(code, registered.declared, parts, limit)
                self._workers[session, registered, stream] = worker
            return worker

    def leave_stream(self, stream: StreamKey, action: PreparedAction, session: Session) -> None:
        """Nobody resamples this stream any more. Does not wait."""
        with self._changing:
            worker = self._workers.pop((session, action.type, stream), None)
        if worker is not None:
            worker.leave()

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
