"""Enabling and disabling the motion of parts, and clearing their faults."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence

from robot_rt_control.server.core.server_core import ServerCore
from robot_rt_control.server.events.reasons import fault_remedy
from robot_rt_control.server.link.executor_link import TIMEOUT_S
from robot_rt_control.server.views.snapshot_view import SnapshotView
from robot_rt_control.server.views.tool_refusals import not_confirmed
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.enums import Command, OperationalState, Refusal
from robot_rt_control.vocabulary.errors import ChannelError, CommandRefused, DefinitionError, unknown

_COMMANDS = {"enable": Command.ENABLE, "disable": Command.DISABLE, "clear_faults": Command.CLEAR_FAULTS}


class Motion:
    """All methods may be called from any thread."""

    def __init__(self, core: ServerCore) -> None:
        self._core, self._connection = core, core.connection
        self._clearing: dict[str, int] = {}
        """Part → last tick before its faults were asked to be cleared, where the loop ticks on request only."""

    def set_motion(self, parts: Sequence[str], command: str, *, secret: str | None = None) -> str:
        """Enable or disable the motion of parts, or clear their faults.

        Enabling a part that still brakes waits until it is at rest, and enabled. Where the loop ticks on request only,
        nothing waits here: the part is enabled in the tick in which it has come to rest.

        Args:
            parts: empty: all parts. `enable` and `clear_faults` then leave out parts of sessions with another secret;
                `disable` is refused there, so that its success always means that everything is disabled.
            command: enable, disable or clear_faults.
            secret: of the session that holds the parts; None: the caller is code of this process.

        Returns:
            A remark: which parts are still not enabled, or were left out; empty: none.

        Raises:
            DefinitionError: unknown part or command; nothing was done.
            SessionError: a session holds a part, and this is not its secret; nothing was done.
            CommandRefused: a part refused or is still faulted, or it did not come to rest, or was disabled;
                the other parts (if named: those before it) are done.
            ChannelError: there is no executor, or it is silent.
        """
        core = self._core
        if command not in _COMMANDS:
            raise DefinitionError("motion command", expected=unknown("command", command, _COMMANDS), got=repr(command))
        for part in parts:
            if part not in core.parts:
                raise DefinitionError("unknown part", expected=unknown("part", part, core.parts), got=repr(part))
        left_out = self._left_out(parts or core.parts, command, secret, refuse=bool(parts) or command == "disable")
        asked = list(parts) or [name for name in core.parts if name not in left_out]
        if parts:
            tick = max([self._set(name, command) for name in parts])
        elif left_out or self._connection.gated:
            refused = [error for name in asked if (error := self._attempt(name, command)) is not None]
            if self._connection.gated and refused:
                raise refused[0]
            tick = self._connection.at().now()[0]
        else:
            tick = self._connection.at().link.send(_COMMANDS[command], part=-1).tick
        if command == "enable" and not self._connection.gated:
            for name in asked:
                tick, enabled = self._comes_to_be_enabled(name, tick)
                if parts and not enabled:
                    raise self._refusal(name, command, self._connection.snapshot_after(tick))
        return "" if parts else self._remark(command, tick, asked, left_out)

    def _left_out(self, parts: Iterable[str], command: str, secret: str | None, *, refuse: bool) -> dict[str, str]:
        """Part → the session whose secret this is not."""
        found = {}
        for name in parts:
            holder = self._core.registry.holder_of(name)
            if holder is None or secret is None or holder.admits(secret):
                continue
            if refuse:
                holder.check_secret(secret, f"{command} part {name!r}")
            found[name] = holder.label
        return found

    def _attempt(self, name: str, command: str) -> CommandRefused | None:
        try:
            self._set(name, command)
        except CommandRefused as error:
            return error
        return None

    def _set(self, name: str, command: str) -> int:
        """Returns the tick. Raises CommandRefused: also where the loop is gated, and will refuse in the next step."""
        index = self._core.parts[name].index
        view = self._connection.snapshot() if self._connection.gated else None
        if view is not None:
            if command == "clear_faults":
                self._clearing[name] = view.tick
            faulted = view.operational_state(index) == OperationalState.FAULTED
            if command == "enable" and faulted and self._clearing.get(name, -1) < view.tick:
                raise self._refusal(name, command, view)
            if command == "enable" and view.operational_state(index) == OperationalState.DISABLED:
                by_tool = not_confirmed(self._core.parts[name].description, view)
                if by_tool is not None:
                    raise by_tool
        answer = self._connection.at().link.send(_COMMANDS[command], part=index)
        if answer.refusal != Refusal.NONE:
            raise self._refusal(name, command, self._connection.snapshot_after(answer.tick))
        return answer.tick

    def _comes_to_be_enabled(self, name: str, tick: int) -> tuple[int, bool]:
        """Wait until a part is enabled or faulted: one that still brakes comes to rest first, then motors are enabled.

        It only watches: a further ENABLE would undo a `disable`.

        Args:
            tick: of the command that enables it.

        Returns:
            The last tick that was seen, and whether the part was not left disabled or faulted.

        Raises:
            ChannelError: the executor is gone, or does not tick.
        """
        core, part = self._core, self._core.parts[name].description
        if not part.dof:
            return tick, True
        drives, period = core.workcell.device(part.device).drives, core.workcell.period
        last, heard = tick + math.ceil(part.rest_wait / period), time.monotonic()
        if drives is not None:
            last += drives.enable_ticks(period)
        while True:
            attachment = self._connection.at()
            if attachment.without_threads:  # nobody else can disable it, and each command lets the loop tick
                tick = attachment.link.send(Command.ENABLE, part=part.index).tick
            view = self._connection.snapshot_after(tick)
            if view is not None and view.tick >= tick:
                state = view.operational_state(part.index)
                if state != OperationalState.DISABLED or view.tick > last:
                    return view.tick, state == OperationalState.ENABLED
                tick, heard = view.tick + 1, time.monotonic()
            elif time.monotonic() - heard > TIMEOUT_S * defaults.SIMULATED_PATIENCE:
                raise ChannelError(f"enable of part {name!r}: the executor does not tick")

    def _refusal(self, name: str, command: str, view: SnapshotView | None) -> CommandRefused:
        index = self._core.parts[name].index
        fault = view.fault(index) if view is not None else ""
        remedy = fault_remedy(view.fault_reason(index)) if view is not None else ""
        log = self._connection.fault_file(name)
        if command == "enable" and not fault and view is not None:
            by_tool = not_confirmed(self._core.parts[name].description, view)
            if by_tool is not None:
                return by_tool
        if command == "enable" and not fault and view is not None and view.is_moving(index):
            return CommandRefused(
                f"enable of part {name!r} was refused",
                expected="a part that comes to rest",
                got=f"one that still moves after {self._core.parts[name].description.rest_wait:.3g} s",
                hint="Wait until it is at rest, or hold what moves it, then enable",
            )
        return CommandRefused(
            f"{command} of part {name!r} was refused",
            got=(fault or "a part whose position is not known, whose fault persists, or that was disabled meanwhile")
            + (f" (the last ticks: {log})" if log else ""),
            hint=f"Remove the cause{': ' + remedy if remedy else ''}, then clear_faults, then enable",
        )

    def _remark(self, command: str, tick: int, asked: Sequence[str], left_out: dict[str, str]) -> str:
        """What was not done for all parts.

        Raises:
            CommandRefused: a part that was to be enabled is faulted.
        """
        remarks = [f"left out: {name} ({label} holds it)" for name, label in left_out.items()]
        view = self._connection.snapshot_after(tick) if command == "enable" and not self._connection.gated else None
        if view is not None:
            states = {name: view.operational_state(self._core.parts[name].index) for name in asked}
            faulted = [name for name, state in states.items() if state == OperationalState.FAULTED]
            if faulted:
                raise CommandRefused(
                    f"enable was refused for {len(faulted)} of {len(self._core.parts)} parts",
                    expected="parts without a fault; the others are enabled",
                    got=", ".join(f"{n}: {view.fault(self._core.parts[n].index)}" for n in faulted),
                    hint="Remove the cause, then clear_faults, then enable",
                )
            left = [
                f"{n} ({self._why_not(n, view) or state.name.lower()})"
                for n, state in states.items()
                if state != OperationalState.ENABLED
            ]
            if left:
                remarks.insert(0, f"not enabled: {', '.join(left)}")
        return "; ".join(remarks)

    def _why_not(self, name: str, view: SnapshotView) -> str:
        by_tool = not_confirmed(self._core.parts[name].description, view)
        return "" if by_tool is None else f"disabled: {by_tool}"
