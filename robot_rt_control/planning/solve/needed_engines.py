"""Importing this refuses to go on without MuJoCo and PIQP, in one line with the command that installs them.

It is imported before what imports them. Raises RobotControlError, see `require_engines`.
"""

from robot_rt_control.planning.solve.engines import require_engines

require_engines()
