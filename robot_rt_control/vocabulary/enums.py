"""Integer codes of the vocabulary, as tables, rings and records store them.

They are plain integer enums: the compiled tick reads constants, people read names.
"""

from enum import IntEnum, IntFlag

REALTIME, LOCKSTEP, HARDWARE = "realtime", "lockstep", "hardware"
"""What drives the loop: the wall clock, simulated time, a device's driver; as parameters and messages have it."""


class PartKind(IntEnum):
    ARM = 1
    GRIPPER = 2
    FORCE_TORQUE_SENSOR = 3
    RANGEFINDER = 4
    IO = 5
    BASE = 6
    SENSOR = 7
    """Named numbers, such as fields of a topic."""
    AXIS = 8
    """One degree of freedom of a part, as the law of a strategy commands it; no part of a workcell is one."""


class GapPolicy(IntEnum):
    """How a stream input's value is computed between two samples, and after the last one."""

    HOLD = 0
    """The value of the newest sample."""
    LINEAR = 1
    """Linear interpolation to the next sample; hold if the next sample is not known yet."""
    CUBIC = 2
    """Like `linear`, with a cubic polynomial that keeps the velocity continuous."""
    EXTRAPOLATE = 3
    """Like `cubic`; without a next sample, continue with the last velocity up to the horizon, then hold."""
    CUSTOM = 4
    """The action type's own function computes the value."""


class CommandMode(IntEnum):
    """Which command interface an action writes for a part."""

    NONE = 0
    POSITION = 1
    VELOCITY = 2
    EFFORT = 3


class OperationalState(IntEnum):
    DISABLED = 0
    ENABLED = 1
    FAULTED = 2


class DriverMode(IntEnum):
    """What a driver process does with its device."""

    FOLLOWING = 0
    BRAKING = 1
    """There is no enabled command: the driver itself brings the device to rest."""
    HOLDING = 2


class ImageError(IntEnum):
    """Why a device's process image reports an error: the device does not follow commands.

    Above these eight bits the image's number is the device's own error code (`vocabulary/motor_errors.py`); 0: none.
    """

    NONE = 0
    DEVICE = 1
    """The plugin failed."""
    EXECUTOR_SILENT = 2
    """Commands stopped, and the driver brought its device to rest; cleared when the executor withdraws its enable."""
    MODE_REFUSED = 3
    """The plugin refused a command mode; cleared in the same way."""
    DRIVER_ENDING = 4
    """The driver was asked to shut down and has brought its device to rest."""
    INACTIVE = 5
    """The device has ended its activity by itself; cleared when the executor has withdrawn its enable and the driver
    could activate the device again."""
    STOPPED = 6
    """The device has stopped by itself, for the reason in its code; cleared as EXECUTOR_SILENT."""


class FaultReason(IntEnum):
    NONE = 0
    NON_FINITE_COMMAND = 1
    UNSUPPORTED_COMMAND_MODE = 2
    POSITION_LIMIT = 3
    """The measured position left its range."""
    VELOCITY_LIMIT = 4
    """The measured velocity exceeded the system limit."""
    STALE_HARDWARE = 5
    """The device's state is older than its max_age_ticks."""
    HARDWARE_ERROR = 6
    DEADLINE_MISSED = 7
    MOTOR_ERROR = 8
    """A motor of its drives reports an error."""
    DRIVE_SILENT = 9
    """A drive has not answered for more than max_age_ticks."""
    MOTOR_NOT_ENABLED = 10
    """A motor did not follow the enabling, or is no longer enabled though its part is."""
    UNKNOWN_FEEDBACK = 11
    """A measured position or velocity that the part needs is not a number."""
    FOLLOWING_ERROR = 12
    """A joint does not do what it is commanded."""
    FROZEN_FEEDBACK = 13
    """The measured state of a joint does not change, though it is commanded to move."""
    POSITION_JUMP = 14
    """A measured position changed faster than the joint can move."""
    COMMAND_BORDER = 15
    """A command would have left the system limits although they were applied; it was not sent."""


class MotorStatus(IntEnum):
    """The state of a motor, in the terms of CiA 402."""

    NOT_READY = 0
    SWITCH_ON_DISABLED = 1
    READY_TO_SWITCH_ON = 2
    SWITCHED_ON = 3
    ENABLED = 4
    """Operation enabled: the only state in which it follows commands."""
    QUICK_STOP = 5
    FAULT_REACTION = 6
    FAULT = 7


class OverrunPolicy(IntEnum):
    """Response to a missed deadline. Every missed deadline is counted."""

    COUNT = 0
    WARN = 1
    """Emit an event, at most one per second."""
    FAULT = 2
    """As `warn`; too many in a short time also fault all enabled parts."""


class Status(IntEnum):
    """What a real-time function returns. User code may return any positive number as its failure."""

    OK = 0
    BOUNDS = -1
    """An index was out of range (found by the bounds check)."""
    NO_CODE = -2
    PLANNING_FAILED = -3
    """A motion could not be planned from the present state."""
    START_TOO_FAR = -4
    """The robot is too far from the start of the motion."""
    SINGULAR = -5
    OTHER_VELOCITY = -6
    """The motion begins with another velocity than the robot has."""
    NO_SET_POINTS = -7
    """The motion begins with a velocity, and its set points have not come yet."""
    TIME_BUDGET = -10
    """The action's code exceeded its time budget in several consecutive ticks."""
    FAR_ABOVE_BUDGET = -12
    """The action's code took many times its time budget in several ticks."""
    OTHER_TOOL = -13
    """The motion was prepared for another tool than the one that is on."""
    WRONG_TOOL = -14
    """The sensors do not confirm the tool that is to be put on."""
    DEGREE_MODE = -11
    """A law commands a degree of freedom in a mode that its action cannot carry out."""


class GroupFlag(IntFlag):
    """What the tables say of an action that moves several parts as a motion group."""

    GROUP = 1
    """The type's methods run for each part, with a parameter and a state record of its own."""
    TOGETHER = 2
    """All parts arrive in one tick."""
    GO_ON = 4
    """If a part fails, the others go on; otherwise they stop on their paths."""


class BudgetPolicy(IntEnum):
    """Response to an action that exceeds its time budget."""

    WARN = 0
    FAIL = 1


class Operator(IntEnum):
    """Instructions of a condition's postfix program. Leaves push truths; operators pop them.

    Numbers that are computed have a stack of their own.
    """

    CONSTANT = 0
    """Push `constant`: 0 false, 1 true, NaN unknown."""
    IS_UNKNOWN = 1
    LESS_CONSTANT = 2
    """Compare variable `left` with `constant`; the same for the next five."""
    LESS_EQUAL_CONSTANT = 3
    GREATER_CONSTANT = 4
    GREATER_EQUAL_CONSTANT = 5
    EQUAL_CONSTANT = 6
    NOT_EQUAL_CONSTANT = 7
    LESS = 8
    """Compare variable `left` with variable `right`; the same for the next five."""
    LESS_EQUAL = 9
    GREATER = 10
    GREATER_EQUAL = 11
    EQUAL = 12
    NOT_EQUAL = 13
    APPROX_CONSTANT = 14
    """|variable `left` - `constant`| <= `tolerance`."""
    APPROX = 15
    """|variable `left` - variable `right`| <= `tolerance`."""
    AND = 16
    OR = 17
    NOT = 18
    NUMBER = 19
    """Push `constant` on the stack of numbers; likewise variable `left`, and the norm of the float64 from `left` to
    `right`."""
    VARIABLE = 20
    NORM = 21
    ABSOLUTE = 22
    ADD = 23
    """Pop two numbers; push their sum, their difference."""
    SUBTRACT = 24


JOIN_AND = 32
JOIN_OR = 64
"""Flags added to a leaf's operator: its value is combined with the top of the stack instead of being pushed."""
OF_NUMBERS = 128
"""Flag added to a comparison of two variables: it pops two numbers and compares these."""
NEEDS_STACK = -2
"""What follows a comparison, instead of a distance; 0 and -1: the condition is false, true."""


class ReactionFlag(IntFlag):
    FIRE_ONCE = 1
    STOP = 2
    """Stop the owner (free-standing: every action of the session); its parts take their default action."""
    EVENT = 4
    KEEP_OWNER = 8
    """The started action uses other parts; the owner stays active."""


class Command(IntEnum):
    """One transaction of the command ring, from the server to the loop."""

    START = 1
    STOP = 2
    """Stop the named actions; their parts take their default action."""
    STOP_SESSION = 3
    """Stop every action of the session (session 0: of all sessions); their parts take their default action."""
    END_SESSION = 4
    """Stop every action of the session; their parts take their safety action."""
    SIGNAL = 5
    SET_SPEED = 6
    ENABLE = 7
    """Enable the motion of part `part`, or of every part with part = -1."""
    DISABLE = 8
    CLEAR_FAULTS = 9
    SERVER_LOST = 10
    """The server is lost: end every session; all their parts take their safety action."""
    SET_PARAMETERS = 11
    """Give an action a new parameter record; without an action: the session new variables. The channel carries the
    record beside the command."""
    PROTECTIVE_STOP = 12
    """End all actions, brake and hold all parts, and start nothing until each source that asked is released. The
    channel carries the source beside the command (`stop_request_dtype`)."""
    RELEASE_PROTECTIVE_STOP = 13
    """Release one source, the only one, or all that need no secret, as the record beside the command says."""
    DETACH = 14
    """The session's client is lost (value 1) or there again (0): a detached session's bound counts, or does not."""
    RESUME = 15
    """Let actions of a session that a protective stop has suspended start again."""
    CHANGE_TOOL = 16
    """Put tool number `signal` on part `part`."""


class EventKind(IntEnum):
    COMMAND_DONE = 1
    COMMAND_REFUSED = 2
    TABLES_INSTALLED = 3
    ACTION_STARTED = 4
    ACTION_STOPPED = 5
    REACTION_FIRED = 6
    SWITCH_DROPPED = 7
    """A reaction fired, but an earlier reaction in the same tick had already claimed one of its parts."""
    ACTION_FAILED = 8
    PART_FAULTED = 9
    PART_ENABLED = 10
    PART_DISABLED = 11
    SERVER_LOST = 12
    SIGNAL_DROPPED = 13
    """A signal was raised for an action that is not active."""
    PROTECTIVE_STOP = 14
    PROTECTIVE_STOP_RELEASED = 15
    OVERRUN = 16
    """Deadlines were missed, under a policy other than `count`."""
    BUDGET_EXCEEDED = 17
    """An action took longer than its time budget."""
    STRATEGY_CHANGED = 18
    """Another strategy governs a degree of freedom of an action."""
    REPLACE_REFUSED = 19
    """New definitions were not taken, because an action that was to start with them cannot start."""
    MOTION_STARVED = 21
    """A motion group slows down, because its set points do not come in time."""
    SESSION_RESUMED = 22
    """Actions of a session that a protective stop had suspended may start again."""
    TOOL_CHANGED = 23
    """Another tool is on a part."""


DETACHED_ENDED = 20
"""Beside the kinds of EventKind, for the server alone: a session that had gone on without client or server has ended;
reason 1: its bound has passed. Users get `session_ended`."""


class Refusal(IntEnum):
    """Reason why the loop refused a command or dropped a switch."""

    NONE = 0
    UNKNOWN_ACTION = 1
    OTHER_SESSION = 2
    PARTS_OVERLAP = 3
    PART_NOT_ENABLED = 4
    UNKNOWN_PART = 5
    TOO_MANY_SCHEDULED = 6
    TARGET_TICK_PASSED = 7
    MALFORMED = 8
    STILL_FAULTED = 9
    PROTECTIVE_STOP = 10
    CANNOT_START = 11
    """The action's `on_enter` fails in the present state; the event carries its status and its state variables."""
    TARGET_TICK_TOO_FAR = 12
    SESSION_SUSPENDED = 13
    """A protective stop has suspended the session: nothing of it starts until it is resumed."""
    NO_AUTHORITY = 14
    """To speed up, or to release a stop without a secret of its own, needs authority."""
    NO_SUCH_STOP = 15
    SEVERAL_STOPS = 16
    """A release without a source, and several are latched."""
    STOP_NEEDS_SECRET = 17
    STOPPED_NOW = 18
    """A release in the tick in which its source has asked for a stop."""
    PART_MOVES = 19
    """A tool is changed at rest only."""
    TOOL_IN_USE = 20
    """An action of a session commands the part; it may use the tool that is on."""
    WRONG_TOOL = 21
    """The sensors say that another tool is on."""
    TOOL_UNKNOWN = 22
    """A sensor that tells which tool is on is unknown."""


class Authority(IntEnum):
    """What a caller may do beyond stopping and slowing down."""

    NONE = 0
    GIVEN = 1
    """By the secret of a session that holds parts, or because no protected session holds any."""
    OPERATOR = 2
    """By the operator's secret."""


class StopCause(IntEnum):
    """Why an action ended."""

    COMMAND = 1
    REACTION = 2
    FAILURE = 3
    SESSION_END = 4
    SERVER_LOST = 5
    PART_FAULT = 6
    REMOVED = 7
    DISPLACED = 8
    """A newly started action took its parts."""
    PROTECTIVE_STOP = 9
    TIME_LIMIT = 10
    REPLACED = 11
    MEMBER_FAILED = 12
    """A part of a motion group failed; the others have stopped on their paths."""
    PROFILER_LOST = 13
    """The process that plans a motion group's set points died; the group has stopped on its path."""
