"""Log lines for sessions that end otherwise than by their client."""

from __future__ import annotations

from robot_rt_control.server.events.events import ServerEvent
from robot_rt_control.server.node.session_log import SessionLog
from robot_rt_control.vocabulary.event_kinds import Kind


def test_only_ends_that_the_client_did_not_ask_for_are_logged() -> None:
    lines: list[str] = []
    log = SessionLog(lines.append)
    log.take(ServerEvent(kind=Kind.ACTION_STOPPED, session="s1", reason="x"))
    log.take(
        ServerEvent(kind=Kind.SESSION_ENDED, session="s1", reason="x", by_client=True)
    )
    assert lines == []
    log.take(
        ServerEvent(
            kind=Kind.SESSION_ENDED, session="s2", part="arm, gripper", reason="its lease ran out", file="/logs/1"
        )
    )
    log.take(ServerEvent(kind=Kind.SESSION_ENDED, session="s3", reason="it failed"))
    assert lines == [
        "session 's2' (parts arm, gripper) has ended: its lease ran out; the last ticks: /logs/1",
        "session 's3' has ended: it failed",
    ]
