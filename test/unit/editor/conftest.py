"""A server with a robot in memory."""

from __future__ import annotations

from editor_fixtures import editor, robot

__all__ = ["editor", "robot"]
