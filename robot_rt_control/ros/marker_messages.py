"""visualization_msgs of shapes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from geometry_msgs.msg import Point, Vector3
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from robot_rt_control.drawing.shape import Color, Shape, ShapeKind

_TYPES = {
    ShapeKind.LINE_STRIP: Marker.LINE_STRIP,
    ShapeKind.LINES: Marker.LINE_LIST,
    ShapeKind.SPHERE: Marker.SPHERE,
    ShapeKind.ARROW: Marker.ARROW,
    ShapeKind.TEXT: Marker.TEXT_VIEW_FACING,
    ShapeKind.BOX: Marker.CUBE,
    ShapeKind.CYLINDER: Marker.CYLINDER,
    ShapeKind.MESH: Marker.MESH_RESOURCE,
    ShapeKind.TRIANGLES: Marker.TRIANGLE_LIST,
}
_SOLIDS = (ShapeKind.BOX, ShapeKind.CYLINDER, ShapeKind.MESH)


def markers_message(shapes: Iterable[Shape]) -> Any:
    """visualization_msgs/MarkerArray: first everything older goes."""
    markers = [Marker(action=Marker.DELETEALL)]
    markers += [marker_message(number, shape) for number, shape in enumerate(shapes)]
    return MarkerArray(markers=markers)


def marker_message(number: int, shape: Shape) -> Any:
    """visualization_msgs/Marker.

    Args:
        number: its id, unique in its namespace.
    """
    marker = Marker(ns=shape.namespace, id=number, type=_TYPES[shape.kind], text=shape.text, color=_color(shape.color))
    marker.header.frame_id = shape.frame
    marker.frame_locked = True  # it follows its frame; so no time stamp
    marker.pose.orientation.w = 1.0
    size = shape.size
    if shape.kind in (ShapeKind.SPHERE, ShapeKind.TEXT, *_SOLIDS):
        ((x, y, z),) = shape.points
        marker.pose.position.x, marker.pose.position.y, marker.pose.position.z = x, y, z
    if shape.kind in _SOLIDS:
        x, y, z, w = shape.orientation
        turned = marker.pose.orientation
        turned.x, turned.y, turned.z, turned.w = x, y, z, w
        x, y, z = shape.edges
        marker.scale, marker.mesh_resource = Vector3(x=x, y=y, z=z), shape.mesh
    elif shape.kind in (ShapeKind.SPHERE, ShapeKind.TEXT):
        # Of a text only the height is given: RViz would take x for the width of a space.
        marker.scale = Vector3(z=size) if shape.kind == ShapeKind.TEXT else Vector3(x=size, y=size, z=size)
    else:
        marker.points = [Point(x=x, y=y, z=z) for x, y, z in shape.points]
        marker.colors = [_color(color) for color in shape.colors]
        if shape.kind == ShapeKind.TRIANGLES:
            marker.scale = Vector3(x=1.0, y=1.0, z=1.0)  # RViz scales their points
            return marker
        # Of an arrow: shaft, head, length of the head. Lines have a width alone.
        marker.scale = Vector3(x=size, y=2 * size, z=3 * size) if shape.kind == ShapeKind.ARROW else Vector3(x=size)
    return marker


def _color(color: Color) -> Any:
    r, g, b, a = color
    return ColorRGBA(r=r, g=g, b=b, a=a)
