"""The builder: checks action types for real-time safety and compiles them to native code, in a process of its own."""

from robot_rt_control.server.builder.build import BuiltType
from robot_rt_control.server.builder.process import Builder

__all__ = ["Builder", "BuiltType"]
