"""What RViz shows of the active states."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from visualization_msgs.msg import Marker

from robot_rt_control.server.node.state_markers import StateMarkers, state_text
from robot_rt_control.server.programs.program_states import SessionState

GOVERNED = {("corner", "x"): ("force", 7), ("corner", "y"): ("distance", 3), ("gone", "x"): ("old", 1)}


def test_the_text_names_program_states_and_what_governs() -> None:
    state = SessionState(session="s1", program="corner", active={"watch": 1, "corner": 2}, strategies=GOVERNED)
    assert state_text(state) == "corner\nwatch\ncorner  (x: force, y: distance)"
    assert state_text(SessionState(session="s1", active={"a": 1})) == "a", "no program: no line for it"


def test_each_message_is_the_whole_and_an_ended_session_has_no_marker() -> None:
    sent: list[Any] = []
    publisher = SimpleNamespace(publish=sent.append)
    node: Any = SimpleNamespace(create_publisher=lambda *_: publisher, destroy_publisher=lambda _: None)
    parts = {"s1": ("eye", "arm"), "s2": ("gripper",), "s3": ()}
    markers = StateMarkers(node, {"arm": "arm_tool"}, parts.__getitem__)

    def shown() -> list[tuple[str, str, str]]:
        first, *rest = sent[-1].markers
        assert first.action == Marker.DELETEALL, "what is not there any more disappears"
        assert all(m.type == Marker.TEXT_VIEW_FACING and m.frame_locked and m.scale.z > 0 < m.color.a for m in rest)
        return [(m.ns, m.header.frame_id, m.text) for m in rest]

    markers.publish(SessionState(session="s1", active={"a": 1}))
    assert shown() == [("s1", "arm_tool", "a")]
    markers.publish(SessionState(session="s2", active={"b": 2}))
    assert shown() == [("s1", "arm_tool", "a"), ("s2", "world", "b")]
    markers.publish(SessionState(session="s3"))
    assert len(sent) == 2, "nothing to show, nothing changed"
    markers.publish(SessionState(session="s1", active={}, ended=True))
    assert shown() == [("s2", "world", "b")]
    markers.close()
    assert shown() == []
