"""What a shape becomes in RViz."""

from dataclasses import replace

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


def test_solids_have_their_pose_and_edges() -> None:
    turned = (0.6, 0.0, 0.0, 0.8)
    box = Shape(
        namespace="sim", frame="world", kind=ShapeKind.BOX, points=((0.1, 0.2, 0.3),), size=0.0, color=BLUE,
        orientation=turned, edges=(1.0, 2.0, 3.0), text="cube",
    )  # fmt: skip
    shapes = [
        box,
        replace(box, kind=ShapeKind.CYLINDER, edges=(0.2, 0.2, 0.5)),
        replace(box, kind=ShapeKind.MESH, edges=(1.0, 1.0, 2.0), mesh="file:///a.stl"),
        replace(box, kind=ShapeKind.TRIANGLES, points=((0.0, 0.0, 0.0),) * 3),
    ]
    _, *markers = markers_message(shapes).markers
    kinds = [Marker.CUBE, Marker.CYLINDER, Marker.MESH_RESOURCE, Marker.TRIANGLE_LIST]
    assert [m.type for m in markers] == kinds
    for m in markers[:3]:
        at, q = m.pose.position, m.pose.orientation
        assert (at.x, at.y, at.z) == (0.1, 0.2, 0.3) and (q.x, q.y, q.z, q.w) == turned
    scales = [(m.scale.x, m.scale.y, m.scale.z) for m in markers]
    assert scales == [(1.0, 2.0, 3.0), (0.2, 0.2, 0.5), (1.0, 1.0, 2.0), (1.0, 1.0, 1.0)]
    assert markers[0].text == "cube" and markers[2].mesh_resource == "file:///a.stl" and len(markers[3].points) == 3
