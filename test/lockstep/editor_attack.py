"""Attacks on the editor's server: what another page, another user of the machine or a broken browser may send."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
from collections import Counter
from collections.abc import Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import aiohttp
from memory_robot import Json, MemoryRobot

from robot_rt_control.editor.keys import cookie_name
from robot_rt_control.vocabulary.errors import DefinitionError

NAMES = (
    *("list_skills", "read_runs", "save_skill", "delete_skill", "give_command", "control", "run", "list_programs"),
    *("save_program", "parts", "variables", "layout", "speed", "resume", "operate", "me", "enter", "live", "nothing"),
    *("set_motion", "jog", "start_action", "end_action"),
)
"""All but the protective stop, which anybody may ask for."""
KEYS = (
    *("skill", "text", "name", "command", "run", "node", "parameters", "parts", "breakpoints", "boxes", "links"),
    *("speed", "take", "instead_of", "paused", "how", "value", "seconds", "based_on", "token", "with_text", "draft"),
    *("hold", "beat", "part", "joint", "axis", "direction", "frame", "release", "type", "values", "until", "start"),
)
PATHS = (
    *("/../keys.py", "/..%2fkeys.py", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/....//....//etc/passwd"),
    *("/editor.js%00.css", "/page/index.html", "/\\..\\server.py", "/editor.js/../../server.py", "/%c0%ae/x", "/.git"),
    *("/api/../keys.py", "/api/", "/api/%00", "/index.html~", "/" + "a/" * 2000),
)
STARTS = (
    ("run", {"skill": "name: attack\nnodes: {a: {wait: 1}}\n"}),
    *(("control", {"command": command}) for command in ("resume", "jump", "step", "skip", "answer", "arm")),
    *(("give_command", {"text": text}) for text in ("go", "attack")),
    *(("set_motion", {"part": "arm", "command": "enable"}), ("start_action", {"type": "hold"})),
    ("jog", {"hold": "1", "part": "arm", "joint": 0, "direction": 1, "speed": 0.1}),
    *(("speed", {"speed": 1.0}), ("protective_stop", {"stop": False}), ("save_skill", {"text": "name: a"})),
)
"""What starts, changes or releases something."""
REFUSED = frozenset({400, 403, 404, 405, 409, 413, 414, 429, 431})


_WRONG = (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError)


class StrictRobot(MemoryRobot):
    """Refuses wrong fields, as the one over ROS; `hangs`: answers nothing until it is set."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.answers = threading.Event()
        self.answers.set()
        self.calls_made = 0

    def call(self, service: str, request: Mapping[str, Any]) -> Json:
        self.calls_made += 1
        assert self.answers.wait(240)
        try:
            return super().call(service, request)
        except _WRONG as error:
            raise DefinitionError("request", got=str(error)) from None

    def run(self, goal: Mapping[str, Any]) -> Json:
        try:
            return super().run(goal)
        except _WRONG as error:
            raise DefinitionError("request", got=str(error)) from None

    def list_programs(self, request: Mapping[str, Any]) -> Json:
        return super().list_programs({"name": str(request.get("name", ""))})

    def save_program(self, request: Mapping[str, Any]) -> Json:
        return super().save_program({"text": str(request.get("text", "")), "check_only": True})


def wrong_statuses(found: Mapping[tuple[str, int], int]) -> dict[tuple[str, int], int]:
    """Of how often each kind of request got which status: what should not be."""
    allowed = {"fields": REFUSED | {200}, "raw": REFUSED | {0, 200}, "path": {0, 400, 404}, "large": {0, 413, 429}}
    allowed |= dict.fromkeys(("no token", "old token", "watching"), {403, 429})
    allowed |= {"origin": {403}, "host": {400, 403}, "method": REFUSED | {0}}
    return {kind: n for kind, n in found.items() if kind[1] not in allowed.get(kind[0], REFUSED)}


def wrong_value(random: Random, depth: int = 0) -> Any:
    """Some JSON value."""
    plain: list[Any] = [None, True, -1, 10**400, 1e308, float("nan"), float("inf"), "", "\0", "\ud800", "é" * 50]
    plain += ["x" * random.randint(0, 3000), "../../etc/passwd", "name: [", "{a: &b *b}", [], {}]
    if depth < 3 and random.random() < 0.4:
        if random.random() < 0.5:
            return [wrong_value(random, depth + 1) for _ in range(random.randint(0, 4))]
        return {random.choice(KEYS): wrong_value(random, depth + 1) for _ in range(random.randint(0, 4))}
    return random.choice(plain)


def _apart(work: Coroutine[Any, Any, tuple[int, int]]) -> tuple[int, int]:
    """Run it in a thread of its own: a browser's tests leave a running event loop in theirs."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, work).result()


class EditorAttack:
    """Args: operate, watch: cookies of somebody who may operate, and of one who may not; old: of another start."""

    def __init__(self, port: int, *, operate: str, watch: str, old: str = "x" * 43) -> None:
        self.port, self.operate, self.watch, self.old = port, operate, watch, old
        self.host, self.origin = f"127.0.0.1:{port}", f"http://127.0.0.1:{port}"

    def ask(self, method: str, path: str, body: bytes, cookie: str, headers: dict[str, str] | None = None) -> int:
        """The status; 0: the connection was closed without one."""
        given = {"Host": self.host, "Origin": self.origin, "Content-Type": "application/json"} | (headers or {})
        if cookie:
            given["Cookie"] = f"{cookie_name(self.port)}={cookie}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for key, value in (given | {"Content-Length": str(len(body))}).items():
                connection.putheader(key, value)
            connection.endheaders(body)
            return connection.getresponse().status
        except (http.client.HTTPException, OSError, ValueError):  # ValueError: http.client itself refuses to send it
            return 0
        finally:
            connection.close()

    def request(self, random: Random) -> tuple[str, int]:
        """One hostile request: its kind, and the status."""
        kind = random.choice(
            ("origin", "host", "no token", "old token", "watching", "path", "body", "fields", "method", "raw", "large")
        )
        name, fields = random.choice(STARTS)
        body, path = json.dumps(fields).encode(), f"/api/{name}"
        match kind:
            case "origin":
                origin = random.choice(("null", "", "http://evil.example", f"https://{self.host}", "http://127.0.0.1"))
                return kind, self.ask("POST", path, body, self.operate, {"Origin": origin})
            case "host":
                host = random.choice(("evil.example", "127.0.0.1", f"evil.example:{self.port}", "", "127.0.0.1:1"))
                return kind, self.ask("POST", path, body, self.operate, {"Host": host})
            case "no token":
                return kind, self.ask("POST", path, body, "")
            case "old token":
                return kind, self.ask("POST", path, body, random.choice((self.old, "x", "x" * 5000, "a=b;;\t")))
            case "watching":
                return kind, self.ask("POST", path, body, self.watch)
            case "path":
                return kind, self.ask("GET", random.choice(PATHS), b"", random.choice(("", self.operate)))
            case "body":
                bodies = (b"", b"[]", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 5000, b"null", b"1e999", body[:-1])
                return kind, self.ask("POST", f"/api/{random.choice(NAMES)}", random.choice(bodies), self.operate)
            case "fields":
                wrong = {random.choice(KEYS): wrong_value(random) for _ in range(random.randint(0, 5))}
                return kind, self.ask("POST", f"/api/{random.choice(NAMES)}", json.dumps(wrong).encode(), self.operate)
            case "method":
                method = random.choice(("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "G\u00d6"))
                return kind, self.ask(method, path, body, self.operate)
            case "large":
                return kind, self.ask("POST", "/api/save_skill", b'{"text": "' + b"x" * 1_100_000, self.operate)
        return kind, self.raw(random)

    def raw(self, random: Random) -> int:
        """Bytes that are hardly a request."""
        pieces = (
            *(b"POST /api/run HTTP/1.1\r\n", b"GET / HTTP/1.1\r\n", b"GET / HTTP/9.9\r\n", b"\x16\x03\x01\x02\x00"),
            *(b"Host: " + self.host.encode() + b"\r\n", b"Content-Length: 99999999\r\n", b"Content-Length: -1\r\n"),
            *(b"Transfer-Encoding: chunked\r\n", b"zz\r\n", b"\0\xff\r\n", b"\r\n", b"A: " + b"x" * 20_000 + b"\r\n"),
            *(b"Content-Length: 5\r\nContent-Length: 6\r\n", b"Upgrade: websocket\r\nConnection: Upgrade\r\n"),
            random.randbytes(100),
        )
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as raw:
            try:
                raw.sendall(b"".join(random.choices(pieces, k=random.randint(1, 8))))
                raw.shutdown(socket.SHUT_WR)
                line = raw.recv(100).split(b" ")
                return int(line[1]) if len(line) > 1 and line[1].isdigit() else 0
            except OSError:
                return 0

    def requests(self, n: int, random: Random) -> Counter[tuple[str, int]]:
        """How often each kind of hostile request got which status."""
        return Counter(self.request(random) for _ in range(n))

    def messages(self, n: int, random: Random) -> tuple[int, int]:
        """Send hostile messages, each at a socket of its own. Returns how many were closed, and how many not."""
        return _apart(self._messages(n, random))

    async def _messages(self, n: int, random: Random) -> tuple[int, int]:
        closed = 0
        async with aiohttp.ClientSession(cookies={cookie_name(self.port): self.watch}) as session:
            for _ in range(n):
                message = self._message(random)
                try:
                    async with session.ws_connect(
                        f"{self.origin}/api/live", origin=self.origin, max_msg_size=0, autoping=False
                    ) as live:
                        if isinstance(message, bytes):
                            await live.send_bytes(message)
                        else:
                            await live.send_str(message)
                        closed += await _closes(live)
                except aiohttp.WSServerHandshakeError as error:  # too many requests of one person
                    assert error.status == 429, error
                    await asyncio.sleep(0.1)
                    closed += 1
                except (aiohttp.ClientError, ConnectionError):
                    closed += 1
        return closed, n - closed

    def _message(self, random: Random) -> str | bytes:
        kind = random.randrange(6)
        if kind == 0:
            return random.randbytes(random.randint(0, 2000))
        if kind == 1:
            return random.choice(("x", "", "null", "[" * 50_000, '{"variables": 5}', '{"variables": [5]}', "{}"))
        if kind == 2:
            return json.dumps({"variables": ["a"] * 51})
        if kind == 3:
            return json.dumps({"variables": ["x" * 200]})
        if kind == 4:
            return json.dumps({"variables": ["\ud800"]})
        return json.dumps({random.choice(KEYS): wrong_value(random)})

    def sockets(self, n: int) -> tuple[int, int]:
        """Open so many sockets at once. Returns how many were open together, and how many were refused."""
        return _apart(self._sockets(n))

    async def _sockets(self, n: int) -> tuple[int, int]:
        async with aiohttp.ClientSession(
            cookies={cookie_name(self.port): self.watch}, connector=aiohttp.TCPConnector(limit=0)
        ) as session:

            async def connect() -> aiohttp.ClientWebSocketResponse | None:
                try:
                    return await session.ws_connect(f"{self.origin}/api/live", origin=self.origin)
                except aiohttp.WSServerHandshakeError as error:
                    assert error.status == 429, error
                    return None

            found = await asyncio.gather(*[connect() for _ in range(n)])
            opened = [live for live in found if live is not None]
            for live in opened:
                await live.close()
        return len(opened), n - len(opened)

    @contextmanager
    def deaf(self, n: int) -> Iterator[None]:
        """So many browsers that came in and read nothing."""
        with ExitStack() as stack:
            for _ in range(n):
                raw = stack.enter_context(socket.socket())
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                raw.connect(("127.0.0.1", self.port))
                raw.sendall(
                    f"GET /api/live HTTP/1.1\r\nHost: {self.host}\r\nOrigin: {self.origin}\r\nUpgrade: websocket\r\n"
                    "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                    f"Cookie: {cookie_name(self.port)}={self.watch}\r\n\r\n".encode()
                )
            yield


async def _closes(live: aiohttp.ClientWebSocketResponse) -> bool:
    for _ in range(50):
        try:
            got = await live.receive(timeout=0.3)
        except TimeoutError:
            return False
        if got.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.CLOSING):
            return True
    return False
