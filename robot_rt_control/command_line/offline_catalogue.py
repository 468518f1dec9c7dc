"""The catalogue for checking programs and skills without a running workcell."""

from __future__ import annotations

from robot_rt_control.server.offline_catalogue import offline_catalogue

__all__ = ["offline_catalogue"]
