"""A user's file with an action type, written from the lines that a test is about."""

import textwrap

import pytest

FILE = """\
import math
import os
import random
import time

import numba
import numpy as np

from robot_rt_control.definitions.action_type import PER_JOINT, ActionType, Parameter, Slot, StateVariable
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import CommandMode, PartKind

POSITION = int(CommandMode.POSITION)
GAINS = (1.0, 2.0)
GAIN_LIST = [1.0, 2.0]
LABEL = "label"

{top}

class Custom(ActionType):
    name = "custom"
    slots = ({slots})
    parameters = (
        Parameter(name="gain", default=1.0),
        Parameter(name="index", type="int", default=0),
        Parameter(name="target", length="dof"),
    )
    state_variables = (StateVariable(name="level"), StateVariable(name="is_done", type="bool"))
    State = {{"values": (float, 4), "count": int, "joints": (float, PER_JOINT)}}
    FACTOR = 2.0

{methods}
"""


class ActionFile:
    """Writes action types; knows the line that is marked with `# HERE`."""

    def __init__(self, folder):
        self.folder = folder
        self.path = folder / "custom_action.py"

    def write(self, body="pass", *, top="", method="control", slots=("arm",), methods=None):
        """The spec of an action type whose method has this body."""
        if methods is None:
            methods = {method: body}
        text = ""
        for name, lines in methods.items():
            arguments = ", ".join(("state", "params", *slots))
            text += f"    @staticmethod\n    def {name}({arguments}):\n"
            text += textwrap.indent(textwrap.dedent(lines).strip("\n"), "        ") + "\n\n"
        declared = "".join(f'Slot(name="{s}", kinds=(PartKind.ARM,)), ' for s in slots)
        self.path.write_text(FILE.format(top=textwrap.dedent(top), slots=declared, methods=text.rstrip("\n")))
        return f"{self.path}:Custom"

    @property
    def here(self):
        """`file:line` of the marked line."""
        (line,) = [i for i, t in enumerate(self.path.read_text().splitlines(), 1) if "# HERE" in t]
        return f"{self.path}:{line}"


@pytest.fixture
def action_file(tmp_path):
    return ActionFile(tmp_path)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache of native code for every test."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("ROBOT_RT_CONTROL_CACHE", str(folder))
    return folder
