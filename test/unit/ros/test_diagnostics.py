"""Health as diagnostic messages."""

from __future__ import annotations

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus

from robot_rt_control.ros.diagnostics import diagnostic_array
from robot_rt_control.vocabulary.health import Health, Level


def test_each_health_is_a_status_of_its_node() -> None:
    healths = [
        Health(what="loop", level=Level.OK, message="fine"),
        Health(what="part arm", hardware="arm", level=Level.ERROR, message="faulted", values={"a": "1"}),
        Health(what="control server", level=Level.WARN, message="detached"),
    ]
    array = diagnostic_array("/cell/executor", healths, Time(sec=3))
    assert array.header.stamp.sec == 3
    assert [s.name for s in array.status] == [
        "/cell/executor: loop",
        "/cell/executor: part arm",
        "/cell/executor: control server",
    ]
    assert [s.level for s in array.status] == [DiagnosticStatus.OK, DiagnosticStatus.ERROR, DiagnosticStatus.WARN]
    assert [s.hardware_id for s in array.status] == ["", "arm", ""]
    assert [(v.key, v.value) for v in array.status[1].values] == [("a", "1")]
