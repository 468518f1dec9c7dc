"""The editor's server: who may do what, and what it refuses."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from memory_robot import MemoryRobot
from served_editor import Served, served

from robot_rt_control.blueprint.node.node import BEAT_S
from robot_rt_control.client.program_state import ProgramState
from robot_rt_control.editor import keys
from robot_rt_control.editor.keys import Keys
from robot_rt_control.editor.robot import SILENT_S
from robot_rt_control.editor.ros_robot import shown_program, silences
from robot_rt_control.program.motion_commands import Command

NAP = "name: nap\nstart: a\nnodes:\n  a: {wait: 0.3, then: b}\n  b: {say: hello}\n"
LONG = "name: long\nnodes:\n  a: {wait: 100}\n"
WATCHING = {
    *("list_skills", "read_runs", "list_programs", "action_types", "parts", "variables", "layout", "me", "operate"),
    *("scene", "meshes", "reactions", "goal", "recent", "recent_joints", "what_if_joints"),
}
"""What everybody may ask for who came in; `operate` is answered, and refused."""
AT_MOST = 120.0
"""[s] of waiting for what comes at once, except on a busy machine."""


def until(holds: Callable[[], bool]) -> bool:
    """Whether it came true in time."""
    end = time.monotonic() + AT_MOST
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


class Clock:
    """Stands still, so that what is allowed for a second does not depend on the machine."""

    def __init__(self) -> None:
        self.now = time.monotonic() + 1000.0  # after all that begins in the test

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(keys, "time", made)
    return made


def motions(robot: MemoryRobot) -> list[str]:
    return [run.id for run in robot.runs]


def stopped(robot: MemoryRobot) -> bool:
    return robot.stopped


def test_E2_a_token_is_needed(editor: Served, robot: MemoryRobot) -> None:
    mine = editor.server.keys
    assert len(mine.operate) == 43 and mine.operate != mine.watch != Keys().watch  # 256 bits, new at each start
    for cookie in ("", "old", "x" * 5000):
        for name in editor.server._replies:
            status, answer = editor.post(name, cookie=cookie)
            assert status == 403 and "link" in answer["message"]
    tokens: list[Any] = ["", None, 5, [], Keys().operate, mine.operate[:-1]]
    for token in tokens:
        assert editor.post("enter", {"token": token})[0] == 403
    assert not editor.server.people.here and not motions(robot)


def test_E2_the_cookie_is_strict_and_not_for_scripts(editor: Served) -> None:
    body = json.dumps({"token": editor.server.keys.operate, "name": "Ann"})
    _, headers, answer = editor.request("POST", "/api/enter", body)
    cookie = headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and cookie.startswith(f"{editor.server.cookie}=")
    assert json.loads(answer)["name"] == "Ann" and editor.server.keys.operate not in cookie


def test_E2_the_second_token_may_only_watch_and_stop(editor: Served, robot: MemoryRobot) -> None:
    ann, ben = editor.enter(editor.server.keys.operate, "Ann"), editor.enter(editor.server.keys.watch, "Ben")
    assert editor.post("list_skills", cookie=ben)[1]["success"]
    for name, fields in (
        ("run", {"skill": LONG}),
        ("save_skill", {"text": NAP}),
        ("delete_skill", {"name": "nap"}),
        ("control", {"command": "pause"}),
        ("give_command", {"text": "go"}),
        ("speed", {"speed": 0.5}),
        ("protective_stop", {"stop": False}),
        ("save_program", {"text": ""}),
    ):
        assert editor.post(name, fields, cookie=ben)[0] == 403
    for name in editor.server._replies.keys() - WATCHING:
        assert editor.post(name, {"stop": False}, cookie=ben)[0] == 403, name
    assert not editor.post("operate", {"take": True}, cookie=ben)[1]["success"]
    assert not motions(robot) and robot.speed == 1.0
    for name, fields in (("control", {"command": "cancel"}), ("give_command", {"text": "Stop!"})):
        assert editor.post("run", {"skill": LONG}, cookie=ann)[1]["success"]
        assert editor.post(name, fields, cookie=ben)[1]["success"]
        assert robot.calls[-1][1]["source"] == "editor: Ben"
    assert editor.post("protective_stop", {"stop": True}, cookie=ben)[1]["success"] and robot.stopped


def test_E3_other_hosts_and_origins_are_refused(editor: Served, robot: MemoryRobot) -> None:
    cookie = editor.enter(editor.server.keys.operate)
    for headers in (
        {"Host": "evil.example"},
        {"Host": f"evil.example:{editor.port}"},
        {"Host": "127.0.0.1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": f"https://127.0.0.1:{editor.port}"},
        {"Origin": f"http://localhost:{editor.port}"},  # another origin than the host that is asked
    ):
        assert editor.post("run", {"skill": LONG}, cookie=cookie, **headers)[0] == 403
        token = {"token": editor.server.keys.operate}
        assert editor.post("enter", token, **headers)[0] == 403
    assert editor.request("GET", "/", Host="evil.example")[0] == 403
    assert not motions(robot) and editor.server.refused[403] >= 16

    async def sockets() -> None:
        async with aiohttp.ClientSession(cookies={editor.server.cookie: cookie}) as session:
            for origin in ("http://evil.example", None):
                headers = {"Origin": origin} if origin else {}
                with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
                    await session.ws_connect(f"{editor.origin}/api/live", headers=headers)

    asyncio.run(sockets())


def test_E4_too_large_too_many_malformed(editor: Served, robot: MemoryRobot) -> None:
    cookie = editor.enter(editor.server.keys.operate)
    assert editor.post("save_skill", {"text": "x" * 1_100_000}, cookie=cookie)[0] == 413
    for body in (b"", b"[]", b"{", b"\xff", b"[" * 100_000, b'"x"', b"null"):
        assert editor.request("POST", "/api/run", body, cookie=cookie)[0] == 400
    assert editor.request("POST", "/api/run", b"{}", cookie=cookie, Content_Type="text/plain")[0] == 400
    assert editor.post("no_such", cookie=cookie)[0] == 404
    assert editor.request("PUT", "/api/run", b"{}", cookie=cookie)[0] == 405
    assert not motions(robot)


def test_E4_so_many_requests_of_a_person_and_no_more(editor: Served, clock: Clock) -> None:
    cookie, other = (editor.enter(editor.server.keys.operate) for _ in range(2))

    def answered(of: int) -> int:
        statuses = [editor.post("me", cookie=cookie)[0] for _ in range(of)]
        assert set(statuses) <= {200, 429}
        return statuses.count(200)

    assert answered(210) == 200, "two seconds' at once"
    clock.now += 0.25
    assert answered(30) == 25
    assert editor.post("me", cookie=other)[0] == 200
    assert editor.post("protective_stop", {"stop": True}, cookie=cookie)[0] == 200, "stops are counted by themselves"


def test_E4_sockets_that_misbehave_are_closed(editor: Served, clock: Clock) -> None:
    async def closed_by(*messages: Any) -> bool:
        cookie = editor.enter(editor.server.keys.operate)
        async with (
            aiohttp.ClientSession(cookies={editor.server.cookie: cookie}) as session,
            session.ws_connect(f"{editor.origin}/api/live", origin=editor.origin, max_msg_size=0) as live,
        ):
            for message in (*messages, json.dumps({"variables": ["the.last"]})):
                if live.closed:
                    return True
                await (live.send_bytes(message) if isinstance(message, bytes) else live.send_str(message))
            end = time.monotonic() + AT_MOST
            while "the.last" not in editor.server.watchers.variables and time.monotonic() < end:
                try:
                    got = await live.receive(timeout=0.1)
                except TimeoutError:
                    continue
                if got.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.CLOSING):
                    return True
            return False

    def closes(*messages: Any) -> bool:
        try:
            return asyncio.run(closed_by(*messages))
        except ConnectionError:  # it was closed while we wrote
            return True

    good = json.dumps({"variables": ["below.distance"]})
    assert not closes(good, good)
    assert closes("x") and closes("{}") and closes("[" * 50_000) and closes(b"\0\1")
    assert closes(json.dumps({"variables": [5]})) and closes(json.dumps({"variables": ["a"] * 51}))
    assert closes(json.dumps({"variables": ["x" * 300_000]}))
    for wish in ({"run": 5}, {"run": "x" * 200}, {"run": "r", "records": -1}, {"run": "r", "records": 1.0}):
        assert closes(json.dumps({"variables": [], **wish}))
    assert closes(*[good] * 50) and not closes(*[good] * 49), "50 messages with the last one"


def test_E5_only_the_page_is_served_under_a_strict_policy(editor: Served) -> None:
    _, headers, body = editor.request("GET", "/")
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src 'self'" in policy and "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy and headers["x-frame-options"] == "DENY"
    assert b"<script src=" in body and b"://" not in body
    for path in (
        "/../keys.py",
        "/..%2fkeys.py",
        "//etc/passwd",
        "/%2e%2e/server.py",
        "/editor.js/..",
        "/page/index.html",
        "/\\..\\x",
        "/editor.js%00",
    ):
        assert editor.request("GET", path)[0] in (400, 404), path
    for path in ("/editor.js", "/editor.css", "/licences.txt"):
        status, headers, body = editor.request("GET", path)
        assert status == 200 and headers["x-content-type-options"] == "nosniff" and len(body) > 1000


def test_E29_texts_in_other_languages_are_served_by_fixed_names(editor: Served) -> None:
    for language in ("de", "zh", "ja"):
        status, headers, body = editor.request("GET", f"/language_{language}.json")
        assert status == 200 and headers["content-type"].startswith("application/json")
        assert "default-src 'none'" in headers["content-security-policy"] and json.loads(body)["New blueprint"]
    for path in ("/language_fr.json", "/language_en.json", "/language/de.json", "/language_de.json/.."):
        assert editor.request("GET", path)[0] in (400, 404), path


def test_E6_one_operates_and_stopping_is_open_to_all(editor: Served, robot: MemoryRobot) -> None:
    ann, ben = (editor.enter(editor.server.keys.operate, name) for name in ("Ann", "Ben"))
    assert editor.post("run", {"skill": LONG}, cookie=ann)[1]["success"]  # nobody operated: now Ann does
    people = editor.server.people
    assert people.operator is not None and people.operator.name == "Ann"
    for name, fields in (("control", {"command": "pause"}), ("speed", {"speed": 0.1}), ("run", {"skill": NAP})):
        status, answer = editor.post(name, fields, cookie=ben)
        assert status == 409 and answer["message"] == "Ann operates: take over first"
    assert not editor.post("operate", {"take": True}, cookie=ben)[1]["success"]  # it has to be meant
    assert editor.post("operate", {"take": True, "instead_of": people.operator.id}, cookie=ben)[1]["success"]
    assert people.as_json()["log"][-1]["text"] == "Ben operates instead of Ann"
    assert editor.post("control", {"command": "pause"}, cookie=ann)[0] == 409
    assert editor.post("control", {"command": "cancel"}, cookie=ann)[1]["success"]
    assert robot.calls[-1][1]["source"] == "editor: Ann"
    assert editor.post("protective_stop", {"stop": True}, cookie=ann)[1]["success"] and stopped(robot)
    assert editor.post("protective_stop", {"stop": False}, cookie=ann)[0] == 409 and stopped(robot)
    assert editor.post("protective_stop", {"stop": False}, cookie=ben)[1]["success"] and not stopped(robot)
    assert editor.post("save_skill", {"text": NAP}, cookie=ann)[1]["version"] == 1  # editing is not operating


def test_E6_a_stop_waits_behind_nothing(
    editor: Served, robot: MemoryRobot, monkeypatch: pytest.MonkeyPatch
) -> None:
    cookie, answers = editor.enter(editor.server.keys.operate), threading.Event()
    call, waiting = robot.call, list[str]()

    def slow(service: str, request: Any) -> Any:
        if service == "list_skills":
            waiting.append(service)
            answers.wait(AT_MOST)
        return call(service, request)

    monkeypatch.setattr(robot, "call", slow)
    asking = [  # different questions: equal ones are asked once
        threading.Thread(target=editor.post, args=("list_skills", {"search": f"{i}"}), kwargs={"cookie": cookie})
        for i in range(12)
    ]
    for thread in asking:
        thread.start()
    try:
        assert until(lambda: len(waiting) == 8), "as many as one person may have under way"
        assert editor.post("protective_stop", {"stop": True}, cookie=cookie)[1]["success"] and robot.stopped
        assert not editor.post("control", {"command": "cancel"}, cookie=cookie)[1]["success"]  # there is no run
    finally:
        answers.set()
        for thread in asking:
            thread.join(30)


def test_E15_the_stop_waits_behind_no_cancel_that_is_not_answered(
    editor: Served, robot: MemoryRobot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The executor of blueprints hangs: a person who presses Cancel again and again, or says stop, still has STOP."""
    cookie, answers = editor.enter(editor.server.keys.watch), threading.Event()
    waiting = list[str]()

    def slow(service: str, request: Any) -> Any:
        waiting.append(service)
        answers.wait(AT_MOST)
        return {"success": True, "message": ""}

    monkeypatch.setattr(robot, "call", slow)
    requests = [("control", {"command": "cancel"}), ("give_command", {"text": "stop"})] * 6
    asking = [threading.Thread(target=editor.post, args=each, kwargs={"cookie": cookie}) for each in requests]
    for thread in asking:
        thread.start()
    try:
        assert until(lambda: len(waiting) == 4), "as many as are asked at once"
        pressing = threading.Thread(
            target=editor.post, args=("protective_stop", {"stop": True}), kwargs={"cookie": cookie}, daemon=True
        )
        pressing.start()
        assert until(lambda: robot.stopped), "STOP waits behind them"
    finally:
        answers.set()
        for thread in asking:
            thread.join(30)


def test_E7_a_browser_that_reads_nothing_delays_nobody(editor: Served, robot: MemoryRobot) -> None:
    cookie = editor.enter(editor.server.keys.operate)
    # A handshake by hand: its socket has a small buffer, and nobody reads from it.
    deaf = socket.socket()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.connect(("127.0.0.1", editor.port))
    deaf.sendall(
        f"GET /api/live HTTP/1.1\r\nHost: 127.0.0.1:{editor.port}\r\nOrigin: {editor.origin}\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        f"Cookie: {editor.server.cookie}={cookie}\r\n\r\n".encode()
    )

    number, seen = 0, list[tuple[float, float]]()

    async def states() -> None:
        async with (
            aiohttp.ClientSession(cookies={editor.server.cookie: cookie}) as session,
            session.ws_connect(f"{editor.origin}/api/live", origin=editor.origin) as live,
        ):
            while len(seen) < 20:
                state = await live.receive_json(timeout=AT_MOST)
                seen.append((time.monotonic(), state["blueprints"].get("number", 0.0)))

    async def change() -> None:
        nonlocal number
        while True:
            number += 1
            state = {"number": number, "filler": "x" * 20_000, "nodes": []}
            editor.loop.call_soon_threadsafe(editor.server._set_blueprints, state)
            await asyncio.sleep(0.002)

    async def both() -> None:
        task = asyncio.create_task(change())
        await states()
        task.cancel()

    try:
        asyncio.run(both())
    finally:
        deaf.close()
    assert seen[-1][0] - seen[0][0] > 17 / 20, "at most 20 a second, however many there were"
    numbers = [number for _, number in seen]
    assert numbers == sorted(numbers) and numbers[-1] > len(seen), "whole states, the latest ones: some are left out"


def test_E8_who_comes_sees_what_is_true_now(editor: Served, robot: MemoryRobot) -> None:
    cookie = editor.enter(editor.server.keys.operate)
    assert editor.post("run", {"skill": LONG}, cookie=cookie)[1]["run"] == "run-1"

    async def first() -> dict[str, Any] | None:
        async with (
            aiohttp.ClientSession(cookies={editor.server.cookie: cookie}) as session,
            session.ws_connect(f"{editor.origin}/api/live", origin=editor.origin) as live,
        ):
            await live.send_json({"variables": ["below.distance", "nonsense"]})
            for _ in range(50):
                state: dict[str, Any] = await live.receive_json(timeout=AT_MOST)
                nodes = state["blueprints"].get("nodes", [])
                if len(nodes) == 2 and state["robot"].get("values"):
                    return state
        return None

    state = asyncio.run(first())
    assert state is not None
    assert [node["path"] for node in state["blueprints"]["nodes"]] == ["", "a"]
    assert state["robot"]["values"] == {"below.distance": 2.0, "nonsense": None}
    robot.connected = False
    assert until(lambda: json.loads(editor.server.watchers.text)["robot"]["blueprints"] is False)
    assert "no answer" in editor.post("list_skills", cookie=cookie)[1]["message"]


def test_E9_a_run_ends_unwatched_only_if_it_was_started_so(
    editor: Served, robot: MemoryRobot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robot_rt_control.editor.server._UNWATCHED_S", 0.3)
    cookie = editor.enter(editor.server.keys.operate)
    assert editor.post("run", {"skill": LONG}, cookie=cookie)[1]["success"]
    time.sleep(1.0)
    assert robot.runs[0].outcome is None
    assert editor.post("control", {"command": "cancel"}, cookie=cookie)[1]["success"]
    time.sleep(0.3)
    assert editor.post("run", {"skill": LONG, "stop_when_unwatched": True}, cookie=cookie)[1]["success"]
    assert until(lambda: robot.runs[1].outcome is not None)
    outcome = robot.runs[1].outcome
    assert outcome is not None and outcome.result == "cancelled"


def test_E10_a_server_that_restarts_disturbs_no_run_and_takes_no_old_cookie(robot: MemoryRobot) -> None:
    with served(robot) as editor:
        old = editor.enter(editor.server.keys.operate)
        assert editor.post("run", {"skill": LONG}, cookie=old)[1]["success"]
        port, token = editor.port, editor.server.keys.operate
    assert robot.runs[0].outcome is None
    with served(robot, port) as editor:
        assert editor.post("me", cookie=old)[0] == 403
        assert editor.post("enter", {"token": token})[0] == 403
    assert robot.runs[0].outcome is None


def test_E12_a_save_that_was_overtaken_brings_both_texts(editor: Served) -> None:
    cookie = editor.enter(editor.server.keys.operate)
    assert editor.post("save_skill", {"text": NAP, "based_on": 0}, cookie=cookie)[1]["version"] == 1
    theirs = NAP.replace("hello", "theirs")
    assert editor.post("save_skill", {"text": theirs, "based_on": 1}, cookie=cookie)[1]["version"] == 2
    answer = editor.post("save_skill", {"text": NAP.replace("hello", "mine"), "based_on": 1}, cookie=cookie)[1]
    assert not answer["success"] and answer["overtaken"] == theirs


def test_E12_a_save_of_a_program_that_was_overtaken_brings_both_texts(editor: Served, robot: MemoryRobot) -> None:
    cookie = editor.enter(editor.server.keys.operate)
    for based_on, more in ((0, ""), (1, "# theirs\n")):
        saved = editor.post("save_program", {"text": PROGRAM + more, "based_on": based_on}, cookie=cookie)[1]
        assert saved["success"] and saved["overtaken"] == "", saved
    answer = editor.post("save_program", {"text": PROGRAM + "# mine\n", "based_on": 1}, cookie=cookie)[1]
    assert not answer["success"] and answer["overtaken"] == PROGRAM + "# theirs\n"
    assert [refusal["error"] for refusal in answer["refusals"]] == ["Overtaken"]
    assert robot.own_programs["mine"] == [PROGRAM, PROGRAM + "# theirs\n"]


def test_malformed_requests_and_messages_start_nothing(editor: Served, robot: MemoryRobot) -> None:
    chance = random.Random(1)
    pieces = [
        b"POST /api/run HTTP/1.1\r\n",
        b"GET / HTTP/1.1\r\n",
        b"Host: x\r\n",
        b"Content-Length: 99999999\r\n",
        b"Content-Length: -1\r\n",
        b"\0\xff\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"\r\n",
        b"zz\r\n",
    ]
    for _ in range(300):
        with socket.create_connection(("127.0.0.1", editor.port), timeout=5) as raw:
            try:
                raw.sendall(b"".join(chance.choices(pieces, k=chance.randint(1, 6))))
                raw.shutdown(socket.SHUT_WR)
                raw.recv(1000)
            except OSError:
                pass
    cookie = editor.enter(editor.server.keys.operate)
    assert editor.post("me", cookie=cookie)[0] == 200 and not motions(robot)


def test_E4_so_many_sockets_and_no_more(editor: Served) -> None:
    token = editor.server.keys.operate
    people = [{"Cookie": f"{editor.server.cookie}={editor.enter(token)}"} for _ in range(6)]  # 20 each

    async def opened(count: int, people: list[dict[str, str]]) -> tuple[int, int]:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            live_url = f"{editor.origin}/api/live"
            cookies = itertools.islice(itertools.cycle(people), count)
            connecting = [session.ws_connect(live_url, origin=editor.origin, headers=cookie) for cookie in cookies]
            found = await asyncio.gather(*connecting, return_exceptions=True)
            live = [each for each in found if isinstance(each, aiohttp.ClientWebSocketResponse)]
            refused = [each for each in found if isinstance(each, aiohttp.WSServerHandshakeError)]
            assert {each.status for each in refused} == {429}
            assert (await live[0].receive_json(timeout=AT_MOST))["people"]["here"]
            await asyncio.gather(*(each.close() for each in live))
            return len(live), len(refused)

    assert asyncio.run(opened(25, people[:1])) == (20, 5), "of one person"
    assert until(lambda: not editor.server.people.here)
    assert asyncio.run(opened(120, people)) == (100, 20)
    assert until(lambda: not editor.server.people.here and not editor.server.watchers.all)


def test_a_layout_places_boxes_beside_each_other(editor: Served) -> None:
    cookie = editor.enter(editor.server.keys.operate)
    boxes = [[f"n{i}", 190, 90] for i in range(30)]
    links = [[f"n{i}", f"n{(7 * i + 3) % 30}", 0] for i in range(30)] + [[f"n{i}", f"n{i + 1}", 60] for i in range(29)]
    answer = editor.post("layout", {"boxes": boxes, "links": links}, cookie=cookie)[1]
    places = list(answer["places"].values())
    for i, (x, y) in enumerate(places):
        for a, b in places[:i]:
            assert abs(x - a) >= 190 or abs(y - b) >= 90
    wrong: list[dict[str, Any]] = [{}, {"boxes": 5, "links": []}]
    wrong += [{"boxes": [box], "links": []} for box in (["a"], ["a", "x", 1])]
    for graph in wrong:
        assert not editor.post("layout", graph, cookie=cookie)[1]["success"]


PROGRAM = "name: mine\nstart: a\nactions:\n  a: {type: hold, parts: arm, final: true}\n"


def test_programs_are_kept_listed_and_deleted(editor: Served, robot: MemoryRobot) -> None:
    ann, ben = editor.enter(editor.server.keys.operate, "Ann"), editor.enter(editor.server.keys.watch, "Ben")
    for name, fields in (("save_program", {"text": PROGRAM}), ("delete_program", {"name": "mine"})):
        assert editor.post(name, fields, cookie=ben)[0] == 403
    wrong = editor.post("save_program", {"text": PROGRAM.replace("hold", "hold_me"), "check_only": True}, cookie=ann)[1]
    assert not wrong["success"] and wrong["refusals"][0]["line"] == 4
    assert editor.post("save_program", {"text": PROGRAM}, cookie=ann)[1]["version"] == 1
    assert editor.post("save_program", {"text": PROGRAM + "# more\n"}, cookie=ann)[1]["version"] == 2
    found = editor.post("list_programs", {"name": "mine@1", "with_text": True}, cookie=ben)[1]["programs"]
    assert [(p["name"], p["version"], p["versions"], p["text"]) for p in found] == [("mine", 1, [1, 2], PROGRAM)]
    assert editor.post("delete_program", {"name": "mine"}, cookie=ann)[1]["success"]
    answer = editor.post("delete_program", {"name": "trace_edge"}, cookie=ann)[1]
    assert not answer["success"] and "trace_edge" in answer["message"] and not robot.own_programs


def test_the_library_of_actions_has_parameters_and_variables(editor: Served) -> None:
    ben = editor.enter(editor.server.keys.watch, "Ben")
    types = {t["name"]: t for t in editor.post("action_types", cookie=ben)[1]["action_types"]}
    hold = types["hold"]
    assert [p["name"] for p in hold["parameters"]] == ["tolerance"] and "arm" in hold["slots"][0]["kinds"]
    assert {"elapsed", "timed_out"} <= {v["name"] for v in hold["state_variables"]}


def test_the_keys_of_motion_commands_are_those_that_programs_read(editor: Served) -> None:
    ben = editor.enter(editor.server.keys.watch, "Ben")
    keys = {key["name"]: key for key in editor.post("action_types", cookie=ben)[1]["motion_command"]}
    assert {"part", "trajectory", *(name.partition(".")[0] for name in keys)} == set(Command.model_fields)
    assert (keys["speed"]["unit"], keys["speed"]["length"], keys["speed"]["default_value"]) == ("", "1", "1")
    assert (keys["via"]["unit"], keys["via"]["length"]) == ("rad or m", "points")
    assert (keys["pose.position"]["unit"], keys["pose.position"]["length"]) == ("m", "any")
    assert all(key["description"] and "[" not in key["description"] for key in keys.values())


def test_E15_a_stop_needs_no_cookie_and_a_release_does(editor: Served, robot: MemoryRobot, clock: Clock) -> None:
    for cookie in ("", "of an earlier start"):
        assert editor.post("protective_stop", {"stop": True}, cookie=cookie) == (200, {"success": True, "message": ""})
        (latched,) = robot.stops
        assert (latched["source"], latched["who"]) == ("editor", "editor: a page without a link")
        for fields in ({"stop": False}, {}, {"stop": 1}):
            assert editor.post("protective_stop", fields, cookie=cookie)[0] == 403 and robot.stopped
        robot.latch("editor", "", stop=False)
    for headers in ({"Origin": "http://evil.example"}, {"Origin": ""}, {"Host": "evil.example"}):
        assert editor.post("protective_stop", {"stop": True}, **headers)[0] == 403 and not robot.stopped
    statuses = [editor.post("protective_stop", {"stop": True})[0] for _ in range(60)]
    assert set(statuses) == {200, 429}, "strangers share what one person may"
    watching = editor.enter(editor.server.keys.watch, "Eve")
    assert editor.post("protective_stop", {"stop": True}, cookie=watching)[1]["success"]
    assert robot.stops[-1]["who"] == "editor: Eve"


def test_E15_a_release_takes_away_the_pages_own_stop_only(editor: Served, robot: MemoryRobot) -> None:
    cookie = editor.enter(editor.server.keys.operate, "Ann")
    robot.latch("door", "door open")
    assert editor.post("protective_stop", {"stop": True}, cookie=cookie)[1]["success"]
    assert [stop["source"] for stop in robot.stops] == ["door", "editor"]
    assert editor.post("protective_stop", {"stop": False}, cookie=cookie)[1]["success"]
    assert [stop["source"] for stop in robot.stops] == ["door"] and robot.stopped


def test_E19_who_operates_resumes_a_suspended_session(editor: Served, robot: MemoryRobot) -> None:
    state = ProgramState(session="s1", program="touch", tick=1, active=(), last_reaction="", last_event="",
                         suspended=True, ended=None)  # fmt: skip
    robot.program_states = [shown_program(state), shown_program(replace(state, session="s2"))]
    ann, eve = (editor.enter(key, "Ann") for key in (editor.server.keys.operate, editor.server.keys.watch))
    robot.latch("door", "open")
    refused = editor.post("resume", {"session": "s1"}, cookie=ann)[1]
    assert not refused["success"] and "a protective stop is latched" in refused["message"]
    robot.latch("door", "", stop=False)
    assert editor.post("resume", {"session": "s1"}, cookie=eve)[0] == 403
    assert editor.post("resume", {"session": "s1"})[0] == 403
    assert editor.post("resume", {"session": "s1"}, cookie=ann)[1]["success"]
    assert robot.calls[-1] == ("resume", {"session": "s1", "who": "editor: Ann"})
    assert [each["suspended"] for each in robot.program_states] == [False, True]
    for fields in ({}, {"session": 3}):
        assert "unknown session" in editor.post("resume", fields, cookie=ann)[1]["message"]


def test_E15_two_editors_in_one_browser_keep_their_cookies(editor: Served, robot: MemoryRobot) -> None:
    with served(robot) as other:
        assert editor.server.cookie != other.server.cookie

        async def both() -> list[int]:
            jar = aiohttp.CookieJar(unsafe=True)  # for an address instead of a name; as a browser, for all of its ports
            async with aiohttp.ClientSession(cookie_jar=jar) as session:
                for each in (editor, other):
                    body = {"token": each.server.keys.operate, "name": "Ann"}
                    async with session.post(f"{each.origin}/api/enter", json=body, headers={"Origin": each.origin}):
                        pass
                statuses = []
                for each in (editor, other):
                    headers = {"Origin": each.origin}
                    async with session.post(f"{each.origin}/api/me", json={}, headers=headers) as answer:
                        statuses.append(answer.status)
            return statuses

        assert asyncio.run(both()) == [200, 200]


def test_E16_silence_is_shown_while_the_robot_answers_nothing(
    editor: Served, robot: MemoryRobot, monkeypatch: pytest.MonkeyPatch
) -> None:
    cookie, answers, asked = editor.enter(editor.server.keys.operate), threading.Event(), threading.Event()

    def hangs(names: Any) -> Any:
        asked.set()
        answers.wait(AT_MOST)
        return {}

    monkeypatch.setattr(robot, "values", hangs)

    async def shown() -> Any:
        async with (
            aiohttp.ClientSession(cookies={editor.server.cookie: cookie}) as session,
            session.ws_connect(f"{editor.origin}/api/live", origin=editor.origin) as live,
        ):
            await live.send_json({"variables": ["below.distance"]})
            await asyncio.get_running_loop().run_in_executor(None, asked.wait, AT_MOST)
            robot.silent = {"executor": 0.8}
            while True:
                state = await live.receive_json(timeout=AT_MOST)
                if not state["robot"]["executor"]:
                    assert not answers.is_set(), "nobody waited for the values"
                    again = await live.receive_json(timeout=AT_MOST)
                    assert again["robot"] == state["robot"], "the same state is sent again: its silence would be heard"
                    return state["robot"]["silent"]

    try:
        assert asyncio.run(shown()) == {"executor": 0.8}
    finally:
        answers.set()


def test_E16_the_age_of_the_last_word() -> None:
    assert silences(10.0, executor=None, blueprints=9.6) == {}, "never heard is no silence"
    assert silences(10.0, executor=9.2, blueprints=9.5) == {"executor": 0.8}
    assert silences(10.0, executor=8.9, blueprints=5.2) == {"executor": 1.0, "blueprints": 4.0}
    assert SILENT_S + 0.2 < 1.0 > 2 * BEAT_S, "an executor's beat and the server's look are in time for one second"
