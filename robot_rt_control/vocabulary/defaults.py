"""Defaults, in one place. The same table stands in docs/semantics.md."""

PERIOD_S = 0.001
LEASE_S = 1.0
"""A session whose client has not renewed it for so long is lost; 0 means: until closed."""
SERVER_NATIVE_SILENCE_S = 0.2
"""Silence of the server's GIL-free heartbeat after which it counts as hung."""
SERVER_PYTHON_SILENCE_S = 2.0
"""Silence of the server's Python heartbeat after which it counts as hung."""
SIMULATED_SERVER_SILENCE_S = 20.0
"""In simulated time, for both heartbeats: a machine that is busy must not cost the sessions."""
SIMULATED_LEASE_S = 10.0
"""In simulated time, the shortest lease: a simulated robot hurts nobody meanwhile."""
SIMULATED_PATIENCE = 15.0
"""In simulated time the server waits so many times as long for the executor's answers."""
STARTUP_S = 900.0
"""What comes up is waited for so long, with a word on what is awaited; then it is an error."""
STARTUP_REPORT_S = 10.0
"""How often that word is said."""
MAX_AGE_TICKS_COMPILED = 1
MAX_AGE_TICKS_DRIVER = 50
EXECUTOR_SILENCE_TICKS = 50
"""Periods without a command after which a driver process brings its device to rest by itself."""
FAULT_LOG_TICKS = 1000
"""Ticks before a fault that its log holds."""
FAULT_LOG_AFTER_TICKS = 100
"""Ticks after it: how the part braked."""
FAULT_LOG_FILES = 20
"""Logs of a workcell that are kept."""
OVERRUN_LIMIT = 10
"""Policy `fault`: so many missed deadlines ..."""
OVERRUN_WINDOW_S = 1.0
"""... within this time fault all enabled parts."""
OVERRUN_REPORT_S = 1.0
"""Policies `warn` and `fault`: at most one event in this time."""
RECOVERY_COOLDOWN_S = 10.0
"""An automatic recovery of a part begins at the earliest so long after the last one ended."""
RECOVERY_TIMEOUT_S = 60.0
DRIVING_DEVICE_TIMEOUT_TICKS = 5
"""Clock `hardware`: periods that a state of the driving device may be late before the loop ticks by itself."""
STREAM_HORIZON_S = 0.1
"""So long a stream input is extrapolated, where its gap policy is that."""
STREAM_TIMEOUT_S = 0.3
"""A stream input without a new sample for so long has timed out."""
STREAM_LEAD_S = 5.0
"""A sample that is to take effect later than this from now is refused."""
REST_SPEED_FRACTION = 0.01
"""At rest: every joint's commanded and measured speed below this fraction of its limit."""
REST_TIME_S = 0.5
"""Aim: at rest within this time from full speed, with the default limits."""
ACCELERATION_TIME_S = 0.25
"""Acceleration limit where a workcell gives none: from rest to full speed in this time."""
JERK_TIME_S = 0.1
"""Jerk limit where a workcell gives none: from none to full acceleration in this time. With both, rest in 0.35 s."""
EFFORT_TIME_S = 0.05
"""Effort rate limit where a workcell gives none: from none to full effort in this time."""
VELOCITY_MARGIN = 1.05
"""System limit over the limit that actions plan with, where a workcell gives none: noise does not clamp a plan."""
ACCELERATION_MARGIN = 1.2
"""As above. Larger: the loop must be able to brake before a position limit where a plan just brakes."""
POSITION_TOLERANCE = {"rad": 0.05, "m": 0.005}
"""A measured position may pass its limit by so much: controllers overshoot a little."""
VELOCITY_TOLERANCE = 0.5
"""A measured velocity may pass the system limit by this fraction of it: measured velocities are noisy."""
TIME_BUDGET_FRACTION = 0.2
"""Of the period: what an action's code may take in one tick, where its type declares nothing else."""
BUDGET_STRIKES = 3
"""So many ticks in a row above its time budget make an action fail, with `budget_policy: fail`."""
BUDGET_REPORT_S = 1.0
"""An action above its time budget is reported at most once in this time."""
FIELD_OF_VIEW = 0.01
"""[rad] opening of a rangefinder's beam where a workcell gives none: that of a laser."""
