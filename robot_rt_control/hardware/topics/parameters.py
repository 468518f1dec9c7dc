"""Parameters of the topic plugin: the topic and field of each value of a sensor part.

    values:
      person:
        distance: {topic: /scan, type: sensor_msgs/msg/LaserScan, field: min(ranges), max_age: 0.5, empty: .inf}
        present: {topic: /presence, type: std_msgs/msg/Bool, field: data, max_age: 2.0}
      rangefinder:
        distance: {topic: /range, type: sensor_msgs/msg/Range, field: range, max_age: 0.1}

`values` contains the device's parts, and for each part its values by name: those of a sensor part, the inputs of an io
part, `distance` of a rangefinder, `force.x` to `torque.z` of a force-torque sensor.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Literal

from pydantic import Field, field_validator

from robot_rt_control.hardware.parameters import Finite, Parameters
from robot_rt_control.text.schema import refuse

_TYPE = re.compile(r"(?P<package>[a-z]\w*)/(?:msg/)?(?P<name>[A-Z]\w*)\Z")


class TopicValueParameters(Parameters):
    """One value."""

    topic: str = Field(min_length=1)
    """Name of the topic; without a leading / it is in the namespace of the node that hosts the plugin."""
    type: str
    """package/msg/Name, or package/Name."""
    field: str = Field(min_length=1)
    """The number of the message: see fields.py."""
    max_age: Annotated[float, Field(gt=0.0)]
    """[s] since the last message, after which the value is unknown; .inf: it never becomes unknown."""
    scale: Finite = 1.0
    """The value is scale times the field plus offset: for other units."""
    offset: Finite = 0.0
    empty: float = math.nan
    """Result of min, max and mean of an empty array; default: unknown. A distance uses `.inf`: nothing is near."""
    reliability: Literal["reliable", "best_effort"] = "best_effort"
    """best_effort receives from every publisher, and waits for no repetition."""
    durability: Literal["volatile", "transient_local"] = "volatile"
    """transient_local: also receives earlier messages of such a publisher."""
    depth: Annotated[int, Field(ge=1, le=1000)] = 10
    """Length of the queue; only the newest message of each period counts."""

    @field_validator("type")
    @classmethod
    def _named(cls, value: str) -> str:
        match = _TYPE.match(value)
        if match is None:
            raise refuse("a message type, such as sensor_msgs/msg/Range")
        return f"{match['package']}/msg/{match['name']}"


class TopicParameters(Parameters):
    values: dict[str, dict[str, TopicValueParameters]]
    """Part → value → its source."""
