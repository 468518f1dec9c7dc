"""Definitions of messages as one text (encoding ros2msg), with all that they contain."""

from __future__ import annotations

import re
from collections.abc import Callable

from robot_rt_control.model.paths import package_folder

_LINE = "=" * 80
_FIELD = re.compile(r"^\s*([A-Za-z][\w/]*)(?:<=\d+)?(?:\[[^\]]*\])?\s+[A-Za-z]\w*", re.MULTILINE)
_BUILT_IN = frozenset(
    "bool byte char float32 float64 int8 uint8 int16 uint16 int32 uint32 int64 uint64 string wstring".split()
)


def read_definition(type: str) -> str:
    """The text of a message's file.

    Args:
        type: such as sensor_msgs/JointState.

    Raises:
        FileNotFoundError: it is not installed.
    """
    package, _, name = type.partition("/")
    folder = package_folder(package)
    if folder is None:
        raise FileNotFoundError(f"share/{package}")
    return (folder / "msg" / f"{name}.msg").read_text(encoding="utf-8")


def full_definition(type: str, read: Callable[[str], str] = read_definition) -> str:
    """A definition, and below it those of all types in it, each once.

    Args:
        type: such as sensor_msgs/JointState.
        read: type → text of its file.

    Raises:
        FileNotFoundError: a file is not installed.
    """
    texts = {type: read(type)}
    waiting = [type]
    while waiting:
        own = waiting.pop(0)
        for inner in _inner(own, texts[own]):
            if inner not in texts:
                texts[inner] = read(inner)
                waiting.append(inner)
    first, *others = texts
    return "".join([texts[first], *(f"{_LINE}\nMSG: {other}\n{texts[other]}" for other in others)])


def _inner(type: str, text: str) -> list[str]:
    plain = "\n".join(line.partition("#")[0] for line in text.splitlines())
    names = [name for name in _FIELD.findall(plain) if name not in _BUILT_IN]
    package = type.partition("/")[0]
    full = [name.replace("/msg/", "/") if "/" in name else f"{package}/{name}" for name in names]
    return [f"std_msgs/{name[-6:]}" if name.endswith("/Header") else name for name in full]
