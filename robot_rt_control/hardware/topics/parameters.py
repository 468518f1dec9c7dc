"""Parameters of the topic plugin: which field of which topic each value of a sensor part is.

    values:
      person:
        distance: {topic: /scan, type: sensor_msgs/msg/LaserScan, field: min(ranges), max_age: 0.5, empty: .inf}
        present: {topic: /presence, type: std_msgs/msg/Bool, field: data, max_age: 2.0}
      rangefinder:
        distance: {topic: /range, type: sensor_msgs/msg/Range, field: range, max_age: 0.1}

Under `values` stand the device's parts, and under each its values by name: those of a sensor part, the inputs of an io
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
    """Its name; one without a leading / is in the namespace of the node that hosts the plugin."""
    type: str
    """package/msg/Name, or package/Name."""
    field: str = Field(min_length=1)
    """Which number of the message: see topic_fields.py."""
    max_age: Annotated[float, Field(gt=0.0)]
    """[s] since the last message, after which the value is unknown; .inf: it never gets too old."""
    scale: Finite = 1.0
    """The value is scale times the field plus offset: for other units."""
    offset: Finite = 0.0
    empty: float = math.nan
    """What min, max and mean of an empty array give; by default it is unknown. `.inf`: nobody is near."""
    reliability: Literal["reliable", "best_effort"] = "best_effort"
    """best_effort hears every publisher, and waits for no repetition."""
    durability: Literal["volatile", "transient_local"] = "volatile"
    """transient_local: also what a publisher of that kind has sent before."""
    depth: Annotated[int, Field(ge=1, le=1000)] = 10
    """Messages that wait; only the newest one of each period counts."""

    @field_validator("type")
    @classmethod
    def _named(cls, value: str) -> str:
        match = _TYPE.match(value)
        if match is None:
            raise refuse("a message type, such as sensor_msgs/msg/Range")
        return f"{match['package']}/msg/{match['name']}"


class TopicParameters(Parameters):
    values: dict[str, dict[str, TopicValueParameters]]
    """Part → value → where it comes from."""
