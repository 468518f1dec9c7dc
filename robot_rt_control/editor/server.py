"""The editor's HTTP server: the page, the robot's interfaces as JSON, and a socket that shows what is true now.

It runs no code from the browser, and reads no file that a request names.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import math
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from aiohttp import web

from robot_rt_control.blueprint.text.node_kinds import NODE_KINDS
from robot_rt_control.blueprint.text.phrases import is_stop
from robot_rt_control.editor.goals import Goals, TooMany
from robot_rt_control.editor.installed import PAGE
from robot_rt_control.editor.keys import Bucket, Keys, Person, allowed_hosts, cookie_name
from robot_rt_control.editor.layout import graph_layout
from robot_rt_control.editor.motion_keys import motion_command_keys
from robot_rt_control.editor.operating import Operating
from robot_rt_control.editor.people import People
from robot_rt_control.editor.reactions import session_reactions
from robot_rt_control.editor.robot import SERVICES, SILENT_S, Json, Robot
from robot_rt_control.editor.run_logs import RunLogs
from robot_rt_control.editor.scenes import Scenes
from robot_rt_control.editor.shared_answers import SharedAnswers
from robot_rt_control.editor.timelines import Timelines
from robot_rt_control.editor.watchers import MAX_OF_PERSON, MAX_WATCHERS, Watcher, Watchers
from robot_rt_control.editor.what_ifs import WhatIfs
from robot_rt_control.vocabulary.errors import RobotControlError

MAX_REQUEST = 1024 * 1024
"""[bytes]"""
_TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".txt": "text/plain",
    ".svg": "image/svg+xml",
    ".json": "application/json",
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
VIEW = "/view.html"
"""The page that shows the workcell alone."""
MAX_UNDER_WAY, MAX_STOPPING = 8, 64
"""Requests of one person that wait for the robot; and those with which more that stop are let in."""
_STATUS_S = 0.2
"""Between two looks at the robot's speed, stop and state variables [s]."""
_UNWATCHED_S = 5.0
"""A run with `stop_when_unwatched` is cancelled when nobody has looked for so long [s]: a page may be reloaded. What is
simulated for a person ends then as well."""
_log = logging.getLogger(__name__)

Reply = Callable[[Person, Json], Awaitable[Json]]
Bytes = Callable[[Person, Json], Awaitable[bytes]]


class EditorServer:
    """The server's application. For the event loop's thread.

    Args:
        robot: what it is a client of.
        address, port: where it listens, to know its own name.
        page: folder of the bundle.
        workcell: its file, for what is simulated; None: nothing is.

    Attributes:
        cookie: name of the cookie by which it knows a browser.
        refused: how many requests were refused, by status.
    """

    def __init__(
        self,
        robot: Robot,
        *,
        address: str = "127.0.0.1",
        port: int,
        secure: bool = False,
        page: Path = PAGE,
        workcell: Path | None = None,
    ) -> None:
        self.keys, self.people = Keys(), People()
        self._logs = RunLogs(self._read_log, self._runs_shown, self._publish)
        self._scenes = Scenes(robot)
        self._goals = Goals(robot, self._scenes)
        drawn = (self._scenes.shapes, self._scenes.objects.text)
        self._timelines = Timelines(robot)
        self._what_ifs = WhatIfs(robot, self._timelines.recent, workcell)
        self.watchers = Watchers(self._logs, self._scenes.frame, drawn, self._timelines.news)
        self._answers, self._operating = SharedAnswers(), Operating(robot, self._scenes)
        self.refused: dict[int, int] = {}
        self._robot, self._secure = robot, secure
        self._hosts, self.cookie = allowed_hosts(address, port), cookie_name(port)
        self._scheme = "https" if secure else "http"
        self._files = {
            f"/{file.name}": (file.read_bytes(), _TYPES[file.suffix])
            for file in sorted(page.glob("*"))
            if file.suffix in _TYPES
        }
        self._pool = ThreadPoolExecutor(8, thread_name_prefix="editor")
        self._looking = ThreadPoolExecutor(1, thread_name_prefix="editor-look")
        self._entering = Bucket(rate=10, burst=200)
        self._stranger = Person(id="", name="a page without a link", may_operate=False)
        """A person who was not admitted may do one thing: stop."""
        self._sockets = 0
        self._stops = ThreadPoolExecutor(4, thread_name_prefix="editor_stop")
        """For what stops: it never waits behind other requests."""
        self._protective = ThreadPoolExecutor(4, thread_name_prefix="editor_protective_stop")
        """For STOP alone: an executor of blueprints that hangs keeps each cancel waiting for long."""
        self._blueprints: Json = {}
        self._status: Json = {}
        self._values: Json = {}
        self._values_at = 0.0
        """[s] When they were read."""
        self._programs_changed = 0
        self._unwatched: dict[str, float] = {}
        """Runs that are to end when nobody looks: when somebody last did."""
        self._ending: asyncio.Task[None] | None = None
        self._replies: dict[str, tuple[Reply | Bytes, str]] = {
            # What anybody may do who came in; what needs the operating link; what needs to operate at this moment.
            **{name: (self._question(name), "all") for name in ("list_skills", "read_runs")},
            **{name: (self._service(name), "link") for name in ("save_skill", "delete_skill")},
            "give_command": (self._give_command, "all"),
            "control": (self._control, "all"),
            "run": (self._run, "operate"),
            "list_programs": (self._blocking(lambda p, r: robot.list_programs(r)), "all"),
            "save_program": (self._changes_programs(robot.save_program), "link"),
            "delete_program": (self._changes_programs(robot.delete_program), "link"),
            "action_types": (self._blocking(lambda p, r: _action_types(robot)), "all"),
            "parts": (self._blocking(lambda p, r: {"parts": robot.parts()}), "all"),
            "variables": (self._blocking(self._variables), "all"),
            "reactions": (self._reactions, "all"),
            "recent": (self._timelines.looked_back, "all"),
            "recent_joints": (self._timelines.recent.reply, "all"),
            "what_if": (self._what_if, "link"),
            "what_if_end": (self._blocking(lambda p, r: self._what_ifs.end(p.id, str(r.get("id")))), "link"),
            "what_if_joints": (self._what_if_joints, "all"),
            "scene": (self._scene, "all"),
            "meshes": (self._meshes, "all"),
            "goal": (self._goal, "all"),
            "layout": (self._blocking(lambda p, r: graph_layout(r)), "all"),
            "jog": (self._jog, "operate"),
            **{
                name: (self._blocking(getattr(self._operating, name)), "operate")
                for name in ("speed", "resume", "set_motion", "start_action", "end_action")
            },
            "protective_stop": (self._stop, "all"),
            "operate": (self._operate, "all"),
            "me": (self._me, "all"),
        }
        self.app = web.Application(client_max_size=MAX_REQUEST, middlewares=[self._guard])
        self.app.router.add_get("/api/live", self._live)
        self.app.router.add_post("/api/enter", self._enter)
        self.app.router.add_post("/api/{name}", self._api)
        self.app.router.add_get("/{name:.*}", self._file)
        self.app.cleanup_ctx.append(self._background)

    # --- every request --------------------------------------------------------------------------

    @web.middleware
    async def _guard(self, request: web.Request, handler: Any) -> web.StreamResponse:
        """Refuse what comes from elsewhere, and add the headers that hold for all."""
        try:
            reason = self._foreign(request)
            if reason:
                raise web.HTTPForbidden(text=reason)
            response: web.StreamResponse = await handler(request)
        except web.HTTPException as error:
            self.refused[error.status] = self.refused.get(error.status, 0) + 1
            response = web.json_response({"success": False, "message": error.text or error.reason}, status=error.status)
        except Exception as error:
            _log.exception("%s %s failed", request.method, request.path)
            text = f"internal error: {type(error).__name__}: {error}"
            response = web.json_response({"success": False, "message": text}, status=500)
        if not response.prepared:
            response.headers.update(_HEADERS)
        return response

    def _foreign(self, request: web.Request) -> str:
        host = request.headers.get("Host", "")
        if host not in self._hosts:
            return "this server does not answer under that name"
        origin = request.headers.get("Origin")
        is_socket = request.headers.get("Upgrade") is not None
        if origin is None and (request.method != "GET" or is_socket):
            return "requests need the header Origin"
        if origin is not None and origin not in {f"{self._scheme}://{host}"}:
            return "requests from other origins are refused"
        return ""

    def _who(self, request: web.Request, *, stops: bool = False) -> Person:
        person = self.keys.person(request.cookies.get(self.cookie, ""))
        if person is None and stops:
            person = self._stranger
        if person is None:
            raise web.HTTPForbidden(text="open the link that the editor printed when it started")
        taken = person.stops if request.path == "/api/protective_stop" else person.requests
        if not taken.take():
            raise web.HTTPTooManyRequests(text="too many requests")
        return person

    async def _body(self, request: web.Request) -> Json:
        if request.content_type != "application/json":
            raise web.HTTPBadRequest(text="a JSON object is expected")
        try:
            found = json.loads(await request.read())
            json.dumps(found, ensure_ascii=False).encode()  # half a surrogate pair is no text for anybody else
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise web.HTTPBadRequest(text="a JSON object is expected")
        return found

    # --- what is asked for ----------------------------------------------------------------------

    async def _file(self, request: web.Request) -> web.StreamResponse:
        path = "/index.html" if request.path == "/" else request.path
        if path == VIEW:
            self._scenes.prepare()  # meanwhile the browser loads what draws it
        if path not in self._files:
            raise web.HTTPNotFound(text="there is no such page")
        content, kind = self._files[path]
        return web.Response(body=content, content_type=kind, charset="utf-8")

    async def _enter(self, request: web.Request) -> web.StreamResponse:
        if not self._entering.take():
            raise web.HTTPTooManyRequests(text="too many come in; try again in a moment")
        body = await self._body(request)
        before = request.cookies.get(self.cookie, "")
        entered = self.keys.enter(body.get("token"), body.get("name"), before)
        if entered is None:
            raise web.HTTPForbidden(text="this link is not of the editor that runs now: open the one that it printed")
        cookie, person = entered
        self._scenes.prepare()  # meanwhile the browser loads what draws it
        response = web.json_response(self._known(person))
        response.set_cookie(self.cookie, cookie, httponly=True, samesite="Strict", secure=self._secure, path="/")
        return response

    def _known(self, person: Person) -> Json:
        """What a page needs of itself and of the server before all else."""
        who = {"id": person.id, "name": person.name, "may_operate": person.may_operate}
        kinds = [kind.as_json() for kind in NODE_KINDS]
        return {"success": True, "message": "", **who, "simulates": self._what_ifs.is_possible, "node_kinds": kinds}

    async def _api(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        body = await self._body(request) if name == "protective_stop" else None
        # A stop is open to all (E15): the page of an earlier start, or one whose cookie is gone, has no other one.
        person = self._who(request, stops=body is not None and body.get("stop") is True)
        if name not in self._replies:
            raise web.HTTPNotFound(text=f"there is no {name!r}")
        reply, needs = self._replies[name]
        body = await self._body(request) if body is None else body
        self._need(person, needs)
        try:
            answer: Json | bytes = await reply(person, body)
        except RobotControlError as error:
            answer = {"success": False, "message": str(error)}
        if isinstance(answer, bytes):
            return web.Response(body=answer, content_type="application/octet-stream")
        return web.json_response(plain(answer))

    def _need(self, person: Person, needs: str) -> None:
        if needs != "all" and not person.may_operate:
            raise web.HTTPForbidden(text="this link may only watch and stop")
        if needs == "operate" and not self.people.may_operate(person):
            operator = self.people.operator.name if self.people.operator is not None else "nobody"
            raise web.HTTPConflict(text=f"{operator} operates: take over first")

    async def _live(self, request: web.Request) -> web.StreamResponse:
        person = self._who(request)
        if self._sockets >= MAX_WATCHERS:
            raise web.HTTPTooManyRequests(text=f"more than {MAX_WATCHERS} pages")
        if person.sockets >= MAX_OF_PERSON:
            raise web.HTTPTooManyRequests(text=f"more than {MAX_OF_PERSON} pages of one person")
        self._sockets += 1
        self.people.came(person)
        self._publish()
        try:
            return await Watcher(self.watchers, person).serve(request)
        finally:
            self._sockets -= 1
            self.people.left(person)
            if not person.sockets:
                self._operating.jogs.end(person, "the page is gone")
                asyncio.get_running_loop().call_later(_UNWATCHED_S, self._gone, person, person.visits)
            self._publish()

    def _gone(self, person: Person, visits: int) -> None:
        """The last page of a person went some time ago."""
        if person.visits == visits:  # no other one has come
            asyncio.get_running_loop().run_in_executor(None, self._what_ifs.end, person.id)

    # --- replies --------------------------------------------------------------------------------

    def _blocking(self, work: Callable[[Person, Json], Json], *, stops: ThreadPoolExecutor | None = None) -> Reply:
        """Args: stops: the threads of what stops; None: it does not."""

        async def reply(person: Person, body: Json) -> Json:
            with self._one_more(person, MAX_STOPPING if stops else MAX_UNDER_WAY):
                return await asyncio.get_running_loop().run_in_executor(stops or self._pool, work, person, body)

        return reply

    @contextlib.contextmanager
    def _one_more(self, person: Person, at_most: int = MAX_UNDER_WAY) -> Iterator[None]:
        if person.under_way >= at_most:
            raise web.HTTPTooManyRequests(text="too many requests at once")
        person.under_way += 1
        try:
            yield
        finally:
            person.under_way -= 1

    def _service(self, name: str, *, stops: bool = False) -> Reply:
        assert name in SERVICES

        def work(person: Person, body: Json) -> Json:
            return self._robot.call(name, {**body, "source": f"editor: {person.name}"})

        return self._blocking(work, stops=self._stops if stops else None)

    def _question(self, name: str) -> Reply:
        """A service that changes nothing, and has the same answer for all."""
        assert name in SERVICES

        async def reply(person: Person, body: Json) -> Json:
            loop = asyncio.get_running_loop()
            with self._one_more(person):
                return await self._answers.ask(
                    json.dumps([name, body], sort_keys=True),
                    lambda: loop.run_in_executor(self._pool, self._robot.call, name, body),
                )

        return reply

    async def _control(self, person: Person, body: Json) -> Json:
        stops = body.get("command") == "cancel"
        if not stops:  # that is open to all
            self._need(person, "operate")
        answer = await self._service("control", stops=stops)(person, body)
        self._logs.update()  # what was refused is in the log alone
        return answer

    async def _give_command(self, person: Person, body: Json) -> Json:
        stops = is_stop(str(body.get("text", "")))
        if not stops:
            self._need(person, "operate")
        return await self._service("give_command", stops=stops)(person, body)

    async def _stop(self, person: Person, body: Json) -> Json:
        stop = body.get("stop") is not False
        if not stop:
            self._need(person, "operate")

        def work(person: Person, body: Json) -> Json:
            who = f"editor: {person.name}"
            self._robot.protective_stop(stop, f"STOP by {who}" if stop else "", who)
            return {"success": True, "message": ""}

        return await self._blocking(work, stops=self._protective if stop else None)(person, body)

    async def _run(self, person: Person, body: Json) -> Json:
        goal = {key: value for key, value in body.items() if key != "stop_when_unwatched"}

        def work(person: Person, body: Json) -> Json:
            return self._robot.run({**goal, "source": f"editor: {person.name}"})

        answer = await self._blocking(work)(person, body)
        if body.get("stop_when_unwatched") is True and answer.get("run"):
            self._unwatched[answer["run"]] = time.monotonic()
        return answer

    async def _reactions(self, person: Person, body: Json) -> Json:
        fired = self._timelines.fired(body.get("mark"))
        reply = self._blocking(lambda p, r: {"reactions": session_reactions(self._robot, r, fired)})
        return await reply(person, body)

    def _variables(self, person: Person, body: Json) -> Json:
        return {"variables": self._robot.variables(str(body.get("session", "")))}

    async def _jog(self, person: Person, body: Json) -> Json:
        with self._one_more(person):
            answer = await self._operating.jog(person, body, self._pool)
        if self.people.operator is not person:  # since it was asked for
            self._operating.jogs.end_others(self.people.operator)
        return answer

    def _changes_programs(self, work: Callable[[Json], Json]) -> Reply:
        async def reply(person: Person, body: Json) -> Json:
            answer = await self._blocking(lambda p, r: work(r))(person, body)
            if not body.get("check_only"):
                self._programs_changed += 1
            return answer

        return reply

    async def _scene(self, person: Person, body: Json) -> Json:
        with self._one_more(person):
            return {"success": True, "message": "", **await self._scenes.scene()}

    async def _meshes(self, person: Person, body: Json) -> bytes:
        """The triangles of meshes. A browser names them by what the scene calls them, never by a file."""
        content = self._scenes.meshes(body.get("meshes"))
        if content is None:
            raise web.HTTPNotFound(text="the scene has no such meshes")
        return content

    async def _goal(self, person: Person, body: Json) -> Json:
        with self._one_more(person):
            try:
                return await self._goals.goal(person, body)
            except TooMany as error:
                raise web.HTTPTooManyRequests(text=str(error)) from None

    async def _what_if(self, person: Person, body: Json) -> Json:
        """It takes minutes: a thread of its own, so that nobody waits for it."""
        situation = self._what_ifs.situation(body)
        with self._one_more(person):
            return await asyncio.to_thread(self._what_ifs.ask, person.id, situation)

    async def _what_if_joints(self, person: Person, body: Json) -> bytes:
        with self._one_more(person):
            return await asyncio.get_running_loop().run_in_executor(self._pool, self._what_ifs.joints, body)

    async def _operate(self, person: Person, body: Json) -> Json:
        if body.get("take") is False:
            self.people.give_back(person)
            refused = ""
        else:
            refused = self.people.take(person, str(body.get("instead_of", "")))
        self._operating.jogs.end_others(self.people.operator)
        self._publish()
        return {"success": not refused, "message": refused}

    async def _me(self, person: Person, body: Json) -> Json:
        if isinstance(body.get("name"), str):
            person.rename(body["name"])
            self._publish()
        return self._known(person)

    # --- what is true now -----------------------------------------------------------------------

    async def _background(self, app: web.Application) -> Any:
        loop = asyncio.get_running_loop()

        def changed(state: Json) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._set_blueprints, state)

        self._robot.on_state(changed)
        tasks = [asyncio.create_task(self._look()), asyncio.create_task(self._look_at_values())]
        yield
        for task in (*tasks, *([self._ending] if self._ending is not None else ())):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        for watcher in list(self.watchers.all):
            watcher.changed.set()
        self._logs.close()
        await loop.run_in_executor(None, self._operating.jogs.close)
        await loop.run_in_executor(None, self._what_ifs.end)
        await self._scenes.close()
        self._goals.close()
        for pool in (self._pool, self._stops, self._protective, self._looking):
            pool.shutdown(wait=False, cancel_futures=True)

    def _set_blueprints(self, state: Json) -> None:
        found = plain(state)
        time = {"tick": found.get("tick"), "time": found.get("time")}
        if {**self._blueprints, **time} == found:  # published again, so that its silence would be noticed
            return
        self._blueprints = found
        self._timelines.recent.saw(found.get("nodes", ()), found.get("tick", 0))
        if self.watchers.runs:
            self._logs.update()
        else:
            self._publish()

    def _runs_shown(self) -> set[str]:
        """Runs that pages show; what they name beside these is not asked for."""
        return self.watchers.runs & {node["run"] for node in self._blueprints.get("nodes", ())}

    async def _read_log(self, request: Json) -> Json:
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._robot.call, "read_runs", request)

    async def _look(self) -> None:
        """Speed, stops and connections change without a message to us. It waits for nobody: that the robot is silent
        has to be shown in time (E16)."""
        while True:
            try:
                self._status = plain(self._robot.status())
            except Exception as error:  # else nobody would be shown anything any more
                _log.warning("what is true now cannot be read: %s: %s", type(error).__name__, error)
            self.people.expire()
            if not self.watchers.follow_joints:
                self._scenes.rest()
                self._goals.rest()
            self._timelines.look()
            if not self.watchers.follow_timeline:
                self._timelines.rest()
            self._publish()
            if self._ending is None or self._ending.done():
                self._ending = asyncio.create_task(self._end_unwatched())
            await asyncio.sleep(_STATUS_S)

    async def _look_at_values(self) -> None:
        """State variables that somebody watches; a robot that does not answer keeps this waiting, and nothing else."""
        loop = asyncio.get_running_loop()
        while True:
            names, values = sorted(self.watchers.variables), {}
            try:
                if names:
                    values = plain(await loop.run_in_executor(self._looking, self._robot.values, names))
            except RobotControlError as error:
                _log.debug("%s", error)
            except Exception as error:
                _log.warning("state variables cannot be read: %s: %s", type(error).__name__, error)
            self._values, self._values_at = values, time.monotonic()
            await asyncio.sleep(_STATUS_S)

    async def _end_unwatched(self) -> None:
        now = time.monotonic()
        for run, seen in list(self._unwatched.items()):
            node = next((n for n in self._blueprints.get("nodes", ()) if n["run"] == run and not n["path"]), None)
            if node is not None and node["state"] == "ended":
                del self._unwatched[run]
            elif self.people.here:
                self._unwatched[run] = now
            elif now - seen > _UNWATCHED_S:
                del self._unwatched[run]
                nobody = Person(id="", name="nobody watches", may_operate=False)
                with contextlib.suppress(RobotControlError):
                    await self._service("control", stops=True)(nobody, {"command": "cancel", "run": run})

    def _publish(self) -> None:
        fresh = time.monotonic() - self._values_at <= SILENT_S  # no answer keeps the next ones waiting
        self.watchers.publish(
            {
                "blueprints": self._blueprints,
                "robot": {**self._status, "values": self._values if fresh else {}},
                "people": self.people.as_json(),
                "programs_changed": self._programs_changed,
                "starts": self._operating.starts.as_json(),
            }
        )


def plain(value: Any) -> Any:
    """JSON knows neither NaN nor infinity: they become None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _action_types(robot: Robot) -> Json:
    """The library of actions, and what its motion commands take."""
    return {"action_types": robot.action_types(), "motion_command": motion_command_keys()}
