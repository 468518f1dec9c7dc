"""What a shape becomes in RViz."""

from visualization_msgs.msg import Marker

from robot_rt_control.drawing.shape import BLUE, RED, Shape, ShapeKind
from robot_rt_control.ros.marker_messages import markers_message


def line(namespace: str) -> Shape:
    points = ((0.0, 0.0, 0.0), (1.0, 2.0, 3.0))
    return Shape(namespace=namespace, frame="world", kind=ShapeKind.LINES, points=points, size=0.01, color=RED)


def test_each_kind_of_shape_is_the_marker_that_rviz_draws_so() -> None:
    at = ((0.1, 0.2, 0.3),)
    shapes = [
        line("rays"),
        Shape(namespace="goal", frame="world", kind=ShapeKind.SPHERE, points=at, size=0.04, color=BLUE),
        Shape(namespace="limits", frame="l", kind=ShapeKind.TEXT, points=at, size=0.03, color=RED, text="joint_1"),
        Shape(
            namespace="contact_force", frame="f", kind=ShapeKind.ARROW, points=line("").points, size=0.01, color=RED
        ),
        Shape(
            namespace="path", frame="world", kind=ShapeKind.LINE_STRIP, points=line("").points, size=0.01,
            color=RED, colors=(RED, BLUE),
        ),
    ]  # fmt: skip
    _, *markers = markers_message(shapes).markers
    assert len({(m.ns, m.id) for m in markers}) == len(markers)
    assert all(m.action == Marker.ADD and m.frame_locked and m.pose.orientation.w == 1.0 for m in markers)
    assert all(m.header.stamp.sec == m.header.stamp.nanosec == 0 for m in markers), "the latest transform"
    lines, ball, text, arrow, strip = markers
    assert (lines.type, lines.scale.x, len(lines.points)) == (Marker.LINE_LIST, 0.01, 2)
    assert (lines.points[1].x, lines.points[1].y, lines.points[1].z) == (1.0, 2.0, 3.0)
    assert (ball.type, ball.pose.position.y, ball.scale.z, list(ball.points)) == (Marker.SPHERE, 0.2, 0.04, [])
    assert (text.type, text.text, text.header.frame_id) == (Marker.TEXT_VIEW_FACING, "joint_1", "l")
    assert (text.scale.x, text.scale.y, text.scale.z) == (0.0, 0.0, 0.03)
    assert arrow.type == Marker.ARROW and arrow.scale.y > arrow.scale.x > 0.0 and len(arrow.points) == 2
    assert strip.type == Marker.LINE_STRIP and [round(c.b, 3) for c in strip.colors] == [0.1, 0.9]
