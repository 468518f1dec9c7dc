"""Which tool a motion was prepared for: a goal of the tool that is on now would lead another tool elsewhere."""

import math

from robot_rt_control.native.realtime_code import realtime


@realtime
def is_other_tool(part, number):
    """Whether another tool is on than number `number`; NaN: any will do."""
    return not math.isnan(number) and part.tool_number != number
