"""The control server's services: each request is one call of the ControlServer, each refusal a message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import std_srvs.srv
from rclpy.node import Node

from robot_rt_control import srv
from robot_rt_control.ros.conversions import action_definition, parameter_values, reaction_definition, time_message
from robot_rt_control.ros.refusals import answer_to
from robot_rt_control.ros.request_sizes import check_sizes
from robot_rt_control.ros.requests import Served
from robot_rt_control.ros.stop_messages import stop_messages, stop_remark
from robot_rt_control.server.control_server import ControlServer
from robot_rt_control.server.core.programs import find_programs, save_program
from robot_rt_control.server.node.conversions import (
    action_messages,
    action_type_messages,
    part_message,
    reaction_messages,
    session_messages,
    variable_messages,
)
from robot_rt_control.server.node.program_messages import deleted_remark, program_message
from robot_rt_control.server.runs import shared
from robot_rt_control.server.runs.recovery import Recoveries
from robot_rt_control.server.runs.runs import upload_prefixed
from robot_rt_control.vocabulary.errors import ChannelError

QUEUED = "queued for the next step"
"""The remark of an answer where the loop ticks on request only."""


class Services:
    """Offers all services of a node under `~/`, until `close`. Each request has a thread of its own: what runs code of
    users, or waits for a later tick, holds up no renewal of a lease and no stop.

    Args:
        node: a `ListeningNode`.
        server: gives the control server; None: it is not configured.
        recoveries: gives its recoveries.
        stamp: a tick's start [ns] → builtin_interfaces/Time on the ROS clock.
    """

    def __init__(
        self,
        node: Node,
        server: Callable[[], ControlServer | None],
        recoveries: Callable[[], Recoveries],
        stamp: Callable[[int], Any] = time_message,
    ) -> None:
        self._node, self._get, self._recoveries, self._stamp = node, server, recoveries, stamp
        handlers: dict[str, tuple[type, Callable[[ControlServer, Any, Any], str]]] = {
            "open_session": (srv.OpenSession, self._open_session),
            "renew_session": (srv.RenewSession, self._renew_session),
            "close_session": (srv.CloseSession, self._close_session),
            "list_sessions": (srv.ListSessions, self._list_sessions),
            "list_actions": (srv.ListActions, self._list_actions),
            "define_actions": (srv.DefineActions, self._define_actions),
            "replace_actions": (srv.ReplaceActions, self._replace_actions),
            "upload_program": (srv.UploadProgram, self._upload_program),
            "save_program": (srv.SaveProgram, self._save_program),
            "list_programs": (srv.ListPrograms, self._list_programs),
            "delete_program": (srv.DeleteProgram, self._delete_program),
            "remove_actions": (srv.RemoveActions, self._remove_actions),
            "set_action_parameters": (srv.SetActionParameters, self._set_action_parameters),
            "start_actions": (srv.StartActions, self._start_actions),
            "stop_actions": (srv.StopActions, self._stop_actions),
            "load_action_types": (srv.LoadActionTypes, self._load_action_types),
            "unload_action_types": (srv.UnloadActionTypes, self._unload_action_types),
            "raise_signal": (srv.RaiseSignal, self._raise_signal),
            "open_stream": (srv.OpenStream, self._open_stream),
            "set_speed": (srv.SetSpeed, self._set_speed),
            "set_motion": (srv.SetMotion, self._set_motion),
            "protective_stop": (srv.ProtectiveStop, self._protective_stop),
            "change_tool": (srv.ChangeTool, self._change_tool),
            "resume_session": (srv.ResumeSession, self._resume_session),
            "recover_parts": (srv.RecoverParts, self._recover_parts),
            "workcell_digest": (std_srvs.srv.Trigger, self._workcell_digest),
            "list_parts": (srv.ListParts, self._list_parts),
            "list_action_types": (srv.ListActionTypes, self._list_action_types),
            "list_state_variables": (srv.ListStateVariables, self._list_state_variables),
        }
        served = Served()
        self._services = [
            node.create_service(kind, f"~/{name}", self._guarded(name, kind, handler), callback_group=served)
            for name, (kind, handler) in handlers.items()
        ]

    def close(self) -> None:
        """Take the services back."""
        for service in self._services:
            self._node.destroy_service(service)
        self._services = []

    def _guarded(
        self, name: str, kind: Any, handler: Callable[[ControlServer, Any, Any], str]
    ) -> Callable[[Any, Any], Any]:
        """A service's callback: whatever happens becomes an answer, and nothing ends the node.

        A request with a session and a secret is a command: the secret is checked here, so that no handler forgets it.
        A stop is never refused: its texts are cut.
        """
        fields = kind.Request.get_fields_and_field_types()
        commands = "session" in fields and "secret" in fields
        operator = kind is srv.ResumeSession

        def call(request: Any, response: Any) -> Any:
            def do() -> str:
                server = self._get()
                if server is None:
                    raise ChannelError("the control server is not active", hint="Configure and activate it")
                if not (kind is srv.ProtectiveStop and request.stop):
                    check_sizes(name, request)
                if commands:
                    server.authorize(request.session, request.secret, name, operator=operator)
                return handler(server, request, response)

            return answer_to(name, do, response, self._node.get_logger().error)

        return call

    @staticmethod
    def _remark(server: ControlServer) -> str:
        return QUEUED if server.gated else ""

    # --- sessions -------------------------------------------------------------------------------

    def _open_session(self, server: ControlServer, request: Any, response: Any) -> str:
        session = server.open_session(
            request.name,
            list(request.parts),
            request.lease,
            read_only=request.read_only,
            deadline=request.deadline,
            unprotected=request.unprotected,
            detached=request.detached,
            yielding=request.yielding,
        )
        response.session, response.lease, response.secret = session.id, session.lease, session.secret
        if request.unprotected:
            self._node.get_logger().warning(f"{session.label} is unprotected: anybody may command it")
        if request.detached:
            self._node.get_logger().warning(
                f"{session.label} is detached: it may go on for {request.detached:g} s without client and server"
            )
        return ""

    def _renew_session(self, server: ControlServer, request: Any, response: Any) -> str:
        server.renew_session(request.session)
        return ""

    def _close_session(self, server: ControlServer, request: Any, response: Any) -> str:
        server.close_session(request.session)
        return self._remark(server)

    def _list_sessions(self, server: ControlServer, request: Any, response: Any) -> str:
        response.sessions = session_messages(server)
        return ""

    def _list_actions(self, server: ControlServer, request: Any, response: Any) -> str:
        contents = server.contents(server.session(request.session))
        response.actions = action_messages(contents)
        response.reactions = reaction_messages(contents.reactions.values())
        return ""

    # --- definitions ----------------------------------------------------------------------------

    def _define_actions(self, server: ControlServer, request: Any, response: Any) -> str:
        actions = [action_definition(a) for a in request.actions]
        server.define(request.session, actions, [reaction_definition(r) for r in request.reactions])
        return self._remark(server)

    def _replace_actions(self, server: ControlServer, request: Any, response: Any) -> str:
        actions = [action_definition(a) for a in request.actions]
        response.tick = server.replace(request.session, actions, list(request.start))
        return self._remark(server)

    def _upload_program(self, server: ControlServer, request: Any, response: Any) -> str:
        session = server.session(request.session)
        values, parts = parameter_values(request.parameters), list(request.parts)
        if request.prefix:
            response.actions = upload_prefixed(server, session, request.program, values, parts, request.prefix)
            return self._remark(server)
        template = server.programs.template(request.program)
        program = template.fill(parameters=values, parts=parts, defined=server.contents(session).actions)
        warnings = server.install_program(request.session, program)
        response.actions = [a.id for a in program.definition.actions]
        return "\n".join([*warnings, *filter(None, [self._remark(server)])])

    def _save_program(self, server: ControlServer, request: Any, response: Any) -> str:
        saved = save_program(
            server.core,
            request.program,
            name=request.name,
            check_only=request.check_only,
            based_on=request.based_on,
        )
        response.version, response.warnings = saved.version, list(saved.warnings)
        return ""

    def _list_programs(self, server: ControlServer, request: Any, response: Any) -> str:
        programs = find_programs(server.core, request.name, request.search, request.tags)
        response.programs = [program_message(p, with_text=request.with_text) for p in programs]
        return ""

    def _delete_program(self, server: ControlServer, request: Any, response: Any) -> str:
        return deleted_remark(server.programs.delete(request.name))

    def _remove_actions(self, server: ControlServer, request: Any, response: Any) -> str:
        if request.actions or request.reactions:
            ids = shared.remove(server, server.session(request.session), request.actions)
            if ids or request.reactions:
                server.remove(request.session, ids, list(request.reactions))
        else:
            server.clear(request.session)
        return self._remark(server)

    def _set_action_parameters(self, server: ControlServer, request: Any, response: Any) -> str:
        values = parameter_values(request.parameters)
        response.tick = server.set_parameters(request.session, request.action, values)
        return self._remark(server)

    # --- commands -------------------------------------------------------------------------------

    def _start_actions(self, server: ControlServer, request: Any, response: Any) -> str:
        response.tick = server.start(request.session, list(request.actions), int(request.target_tick))
        return self._remark(server)

    def _stop_actions(self, server: ControlServer, request: Any, response: Any) -> str:
        response.tick = server.stop(request.session, list(request.actions))
        return self._remark(server)

    def _raise_signal(self, server: ControlServer, request: Any, response: Any) -> str:
        response.tick = server.signal(request.session, request.action, request.signal)
        return self._remark(server)

    def _open_stream(self, server: ControlServer, request: Any, response: Any) -> str:
        opened = server.open_stream(request.session, request.action, request.stream)
        response.length, response.tick = opened.length, opened.tick
        response.period, response.delay = opened.period, opened.delay
        response.token = opened.token
        return ""

    def _set_speed(self, server: ControlServer, request: Any, response: Any) -> str:
        server.set_speed(request.speed, secret=request.secret)
        if request.who:
            self._node.get_logger().info(f"speed override {request.speed:g}, by {request.who}")
        return self._remark(server)

    def _set_motion(self, server: ControlServer, request: Any, response: Any) -> str:
        return server.set_motion(list(request.parts), request.command, secret=request.secret) or self._remark(server)

    def _protective_stop(self, server: ControlServer, request: Any, response: Any) -> str:
        response.tick = server.protective_stop(
            request.stop,
            request.reason,
            source=request.source,
            who=request.who,
            secret=request.secret,
            everything=request.all,
        )
        stops = server.stops()
        response.stops = stop_messages(stops, self._stamp)
        return self._remark(server) or stop_remark(request, response.tick, stops)

    def _change_tool(self, server: ControlServer, request: Any, response: Any) -> str:
        response.tick = server.change_tool(request.session, request.part, request.tool)
        return self._remark(server)

    def _resume_session(self, server: ControlServer, request: Any, response: Any) -> str:
        response.tick = server.resume(request.session, request.who)
        return self._remark(server)

    def _recover_parts(self, server: ControlServer, request: Any, response: Any) -> str:
        response.sessions = self._recoveries().recover(list(request.parts))
        return self._remark(server)

    # --- looking --------------------------------------------------------------------------------

    def _workcell_digest(self, server: ControlServer, request: Any, response: Any) -> str:
        return f"{server.workcell.digest:x}"

    def _list_parts(self, server: ControlServer, request: Any, response: Any) -> str:
        view = server.snapshot()
        response.parts = [part_message(server, part, view) for part in server.workcell.parts]
        return "" if view is not None else "there is no executor: states are not known"

    def _list_action_types(self, server: ControlServer, request: Any, response: Any) -> str:
        response.action_types = action_type_messages(server, request.name)
        return ""

    def _load_action_types(self, server: ControlServer, request: Any, response: Any) -> str:
        response.names = server.load_action_types(
            request.source, code=request.code, file=request.file, replace=request.replace, stranger=True
        )
        return ""

    def _unload_action_types(self, server: ControlServer, request: Any, response: Any) -> str:
        server.unload_action_types(list(request.names))
        return ""

    def _list_state_variables(self, server: ControlServer, request: Any, response: Any) -> str:
        response.variables = variable_messages(server, request.filter, request.session)
        return ""
