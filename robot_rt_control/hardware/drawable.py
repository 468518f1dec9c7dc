"""Plugins that simulate objects beside robots."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from robot_rt_control.drawing.shape import Shape
from robot_rt_control.hardware.plugin import HardwarePlugin


@runtime_checkable
class Drawable(Protocol):
    """The method of such a plugin, in addition to the contract."""

    def drawn_objects(self) -> list[Shape]:
        """What RViz and browsers draw of the world beside robots, where it is now; called by the plugin's thread, or
        while that waits."""


def drawn_objects(plugins: Iterable[HardwarePlugin]) -> list[Shape]:
    """Those of all plugins that have some."""
    return [shape for plugin in plugins if isinstance(plugin, Drawable) for shape in plugin.drawn_objects()]
