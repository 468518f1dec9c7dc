"""Defaults, in one place. docs/semantics/defaults.md has the same table."""

PERIOD_S = 0.001
SCHEDULE_AHEAD_S = 10.0
"""A start may wait for its target tick for at most this time."""
LEASE_S = 1.0
"""A session that its client does not renew for this time is lost; 0: it lives until it is closed."""
CONTROLLER_LEASE_S = 3.0
"""That of a controller's sessions: a machine that starves its process for less must not end their motion."""
DETACHED_LIMIT_S = 600.0
"""A detached session may go on without client or server for at most this time."""
SERVER_NATIVE_SILENCE_S = 0.2
"""Silence of the server's GIL-free heartbeat after which it counts as hung."""
SERVER_PYTHON_SILENCE_S = 2.0
"""Silence of the server's Python heartbeat after which it counts as hung."""
SERVER_STARVED_SILENCE_S = 3.0
"""The same limit for both heartbeats while the machine gives the server no processor time."""
LEASE_STALL_S = 3.0
"""Time in which the control server itself stands still does not count towards a lease: at most this much."""
SNAPSHOT_WAIT_S = 5.0
"""A reader waits this long for a tick to end whose snapshot is being written; then it is an error."""
SIMULATED_SERVER_SILENCE_S = 20.0
"""The same limit in simulated time, for both heartbeats: a busy machine must not end sessions."""
SIMULATED_LEASE_S = 10.0
"""The shortest lease in simulated time, where waiting longer does no harm."""
SIMULATED_PATIENCE = 15.0
"""In simulated time the server's time-outs for the executor's answers are multiplied by this factor."""
STARTUP_S = 900.0
"""Time-out for a component that starts up. Until then a log line names what is awaited; then it is an error."""
ANSWER_S = 60.0
"""A client's time-out for an answer. Long, because answers are slow on a busy machine."""
STARTUP_REPORT_S = 10.0
"""Interval of that log line."""
GOAL_ANSWER_S = 10.0
"""[s] of the loop's time for the server of a foreign ROS action to accept or reject a goal."""
MAX_AGE_TICKS_COMPILED = 1
MAX_AGE_TICKS_DRIVER = 50
DRIVE_MISSING_PACKETS = 3
"""Packets of a drive that are missing in a row when its parts are faulted."""
REST_WAIT_S = 1.0
"""Enabling a part that still brakes waits for its braking time and this long; then it is refused."""
DRIVE_ENABLE_S = 1.0
"""How long the motors of a part may take until all are enabled."""
EXECUTOR_SILENCE_TICKS = 50
"""Periods without a command after which a driver process brings its device to rest by itself."""
FAULT_LOG_TICKS = 1000
"""Ticks before a fault that its log contains."""
FAULT_LOG_AFTER_TICKS = 100
"""Ticks after the fault that its log contains; they show how the part braked."""
FAULT_LOG_FILES = 20
"""Number of logs of a workcell that are kept."""
RECORDING_FILES = 20
"""Recordings of a workcell that are kept in a folder ..."""
RECORDING_GB = 10.0
"""... and what they may have together [GB]."""
OVERRUN_LIMIT = 10
"""Policy `fault`: this many missed deadlines ..."""
OVERRUN_WINDOW_S = 1.0
"""... within this time fault all enabled parts."""
OVERRUN_REPORT_S = 1.0
"""Policies `warn` and `fault`: at most one event per this time."""
RECOVERY_COOLDOWN_S = 10.0
"""Shortest time between the end of a part's automatic recovery and the start of the next one."""
RECOVERY_TIMEOUT_S = 60.0
DRIVING_DEVICE_TIMEOUT_TICKS = 5
"""Clock `hardware`: after this many periods without a state of the driving device, the loop ticks by itself."""
STREAM_HORIZON_S = 0.1
"""How long a stream input with the gap policy `extrapolate` is extrapolated."""
STREAM_TIMEOUT_S = 0.3
"""A stream input without a new sample for this time has timed out."""
STREAM_DELAY_S = 1.0
"""The longest delay that the server chooses for a stream input."""
STREAM_JUMP_S = 0.1
"""A source's clock that runs ahead of what its samples showed so far by more than this has jumped."""
STREAM_DRIFT = 0.05
"""A source's clock may run slower than the loop's by this fraction; samples that come later than that explains are
old."""
STREAM_LEAD_S = 5.0
"""A sample that would take effect later than this from now is refused."""
RESAMPLE_LIMIT_S = 10.0
"""Processor time, and idleness, after which a function that resamples a stream counts as hung."""
SLOWEST_SPEED = 1e-6
"""A speed override below counts as 0: the loop divides by it, and by its cube."""
REST_SPEED_FRACTION = 0.01
"""A part is at rest when every joint's commanded and measured speed is below this fraction of its limit."""
EFFORT_REST_S = 0.05
"""A part with effort mode alone has come to rest when it has been below that for so long: a light joint that swings
passes through it."""
REST_TIME_S = 0.5
"""Aim: at rest within this time from full speed, with the default limits."""
ACCELERATION_TIME_S = 0.25
"""Acceleration limit if the workcell gives none: from rest to full speed in this time."""
JERK_TIME_S = 0.1
"""Jerk limit if the workcell gives none: from zero to full acceleration in this time. Both give rest in 0.35 s."""
EFFORT_TIME_S = 0.05
"""Effort rate limit if the workcell gives none: from zero to full effort in this time."""
VELOCITY_MARGIN = 1.05
"""Ratio of system limit to planning limit if the workcell gives none, so that noise does not clamp a plan."""
ACCELERATION_MARGIN = 1.2
"""The same ratio for accelerations. It is larger, so that the loop can still brake before a position limit when a plan
just can."""
JERK_MARGIN = 1.5
"""Ratio of the jerk that a motion may have while the speed override changes to the planning limit. With the other
default limits a motion then stands within 0.5 s."""
POSITION_TOLERANCE = {"rad": 0.05, "m": 0.005}
"""A measured position may exceed its limit by this much: controllers overshoot a little."""
VELOCITY_TOLERANCE = 0.5
"""A measured velocity may exceed the system limit by this fraction of it: measured velocities are noisy."""
FOLLOWING_LAG_S = 0.1
"""A joint may lag behind its command by this time and ..."""
FOLLOWING_LAG_TICKS = 10
"""... by this many periods; at rest it may be POSITION_TOLERANCE away from it."""
FOLLOWING_PACE = 5.0
"""Times FOLLOWING_LAG_S, with which the commanded speed fades: a joint that lags behind moves on while it brakes."""
FOLLOWING_TIME_S = 0.1
"""A joint that is farther away from its command for this time is faulted."""
FOLLOWING_FORGET_S = 1.0
"""Velocity commands: a distance is forgotten with this time constant. A velocity that is a little wrong is no fault."""
STALL_TIME_S = 1.0
"""Effort commands: a joint that stands still for this time under an effort near its limit is faulted."""
FROZEN_MOTION = {"rad": 0.02, "m": 0.002}
"""A joint whose measured state stays the same to the last bit while it is commanded to move this far ..."""
FROZEN_TIME_S = 0.1
"""... for this time, beyond the device's max_age_ticks, is faulted."""
POSITION_JUMP = {"rad": 0.1, "m": 0.01}
"""A measured position that changes by this much in one tick, beyond what JUMP_SPEED allows, is a fault."""
JUMP_SPEED = 2.0
"""Times the system limit of velocity: no joint is faster."""
TOLERANCE_OFF = 10.0
"""A tolerance of this many times its default, or more, switches its monitor off: that is said at the start."""
TIME_BUDGET_FRACTION = 0.2
"""Fraction of the period that an action's code may take in one tick, if its type declares no budget."""
BUDGET_STRIKES = 3
"""With `budget_policy: fail`, an action fails after this many consecutive ticks above its time budget."""
FAR_ABOVE_BUDGET = 10
"""A tick of an action may not take this multiple of its time budget: code whose loops may is refused ..."""
FAR_STRIKES = 3
"""... and an action that takes it in this many ticks ..."""
FAR_WINDOW_S = 60.0
"""... within this time fails, whatever `budget_policy` says."""
BUDGET_REPORT_S = 1.0
"""An action above its time budget is reported at most once per this time."""
FIELD_OF_VIEW = 0.01
"""[rad] Opening of a rangefinder's beam if the workcell gives none: that of a laser."""
MOST_WHAT_IF_RECORDS = 20_000
"""Of a run from whose past something else is simulated, and of that simulation."""
