"""Log lines for sessions that end otherwise than by their client."""

from __future__ import annotations

from robot_rt_control.server.events.events import ServerEvent
from robot_rt_control.server.node.session_log import SessionLog


def test_only_ends_that_the_client_did_not_ask_for_are_logged() -> None:
    lines: list[str] = []
    log = SessionLog(lines.append)
    log.take(ServerEvent(kind="action_stopped", session="s1", reason="x"))  # type: ignore[arg-type, unused-ignore]
    log.take(
        ServerEvent(kind="session_ended", session="s1", reason="x", by_client=True)  # type: ignore[arg-type, unused-ignore]
    )
    assert lines == []
    log.take(
        ServerEvent(  # type: ignore[arg-type, unused-ignore]
            kind="session_ended", session="s2", part="arm, gripper", reason="its lease ran out", file="/logs/1"
        )
    )
    log.take(ServerEvent(kind="session_ended", session="s3", reason="it failed"))  # type: ignore[arg-type, unused-ignore]
    assert lines == [
        "session 's2' (parts arm, gripper) has ended: its lease ran out; the last ticks: /logs/1",
        "session 's3' has ended: it failed",
    ]
