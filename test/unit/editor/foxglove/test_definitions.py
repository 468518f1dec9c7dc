"""Definitions of messages with all that they contain, as the recordings' reader understands them."""

from __future__ import annotations

import pytest

from robot_rt_control.editor.foxglove.definitions import full_definition, read_definition

TEXTS = {
    "a/Outer": "# a Comment\nstd_msgs/Header header\nInner[] inner  # more Words\nb/msg/Other[<=3] other\nint32 X=5\n",
    "a/Inner": "float64[3] values\nb/Other again\nstring<=10 name\n",
    "b/Other": "bool yes true\n",
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id\n",
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec\n",
}


def test_each_type_is_there_once() -> None:
    first, *others = full_definition("a/Outer", TEXTS.__getitem__).split("=" * 80 + "\nMSG: ")
    assert first == TEXTS["a/Outer"]
    found = dict(other.split("\n", 1) for other in others)
    assert found == {name: text for name, text in TEXTS.items() if name != "a/Outer"}


def test_files_of_installed_packages() -> None:
    text = full_definition("robot_rt_control/ExecutorStatus")
    for name in ("robot_rt_control/PartStatus", "robot_rt_control/ActiveStop", "builtin_interfaces/Time"):
        assert text.count(f"MSG: {name}\n") == 1
    with pytest.raises(FileNotFoundError):
        read_definition("no_such_package/Message")
