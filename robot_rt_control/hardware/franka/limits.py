"""The limits of an FR3's commands: what the robot checks, and the constant bounds that this plugin keeps.

The robot aborts a motion whose commanded positions, differentiated at 1 kHz, exceed velocity, acceleration or jerk, or
whose efforts change too fast. Near the end of a joint's range the permitted velocity falls, as -b + sqrt(k d) at the
distance d from a point beyond that end. Source: "Robot and Interface Specifications" in the maker's documentation of
the FCI, and libfranka's rate limiting.

A joint that brakes with at most 0.4 k, and to rest at the distance 5 b² / k from that point, stays below this curve:
its speed x at a further distance d' has x² <= 0.8 k d', and x <= -b + sqrt(x²/0.8 + 5 b²) for each x. So constant
bounds are enough, on a range that is 0.02 to 0.06 rad narrower at each end.
"""

from __future__ import annotations

import numpy as np

JOINTS = 7
PERIOD_S = 0.001

VELOCITY = np.array([2.62, 2.62, 2.62, 2.62, 5.26, 4.18, 5.26])  # [rad/s]
ACCELERATION = np.full(JOINTS, 10.0)  # [rad/s^2]
JERK = np.full(JOINTS, 5000.0)  # [rad/s^3]
EFFORT = np.array([87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0])  # [Nm]
EFFORT_RATE = np.full(JOINTS, 1000.0)  # [Nm/s]

CURVE_OFFSET = np.array([0.30, 0.20, 0.20, 0.30, 0.35, 0.35, 0.35])  # b [rad/s]
CURVE_SLOPE = np.array([12.0, 5.17, 7.0, 8.0, 34.0, 11.0, 34.0])  # k [rad/s^2]
CURVE_UPPER = np.array([2.75010, 1.79180, 2.90650, -0.1458, 2.81010, 4.52050, 3.01960])  # [rad] where d is 0
CURVE_LOWER = np.array([-2.75010, -1.79180, -2.90650, -3.04810, -2.81010, 0.54092, -3.01960])

_ROOM = 5.0 * CURVE_OFFSET**2 / CURVE_SLOPE
BOUND_POSITION_LOWER = CURVE_LOWER + _ROOM
BOUND_POSITION_UPPER = CURVE_UPPER - _ROOM
BOUND_VELOCITY = 0.97 * VELOCITY
BOUND_ACCELERATION = np.minimum(0.4 * CURVE_SLOPE, 0.95 * ACCELERATION)
BOUND_JERK = 0.9 * JERK
BOUND_EFFORT = EFFORT
BOUND_EFFORT_RATE = 0.9 * EFFORT_RATE
"""What leaves is always within these; a workcell's system limits must be, too."""
