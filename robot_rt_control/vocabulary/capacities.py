"""Capacities: how many of each thing fit. They fix the size of all memory of the loop.

docs/semantics/capacities.md has the same table. Exceeding one raises a CapacityError that names it.
"""

MAX_PARTS = 64
MAX_JOINTS = 16
"""Joints in one part."""
MAX_CHANNELS = 16
"""Inputs of one part, and its outputs."""
MAX_DEVICES = 16
MAX_DEVICE_INTERFACES = 2048
"""State interfaces, and command interfaces, of one device."""
MAX_INTERFACE_LINKS = 8192
"""Connections between device interfaces and fields of parts, in each direction."""

MAX_PART_TOOLS = 8
"""Tools of one part."""
MAX_TOOLS = 64
"""Tools of all parts together."""
MAX_SENSOR_INSTRUCTIONS = 16
"""Instructions of the condition by which sensors tell that a tool is on."""

MAX_DRIVES = 64
"""Drives of one device."""
MAX_DRIVE_MOTORS = 8
"""Motors of one drive."""
MAX_NODE = 127
"""Highest address of a drive on its network."""
MAX_EVERY = 100
"""Ticks from one exchange of a device with its drives to the next."""
MAX_BUS_DELAY = 16
"""Exchanges by which a test bus can delay its answers."""
MAX_DRIVE_ANSWERS = 4
"""Packets of one drive that are taken in one exchange."""
MAX_DRIVE_STATES = 128
"""Numbers that drives report of one part: 3 for each joint, 5 for each drive."""

MAX_SESSIONS = 64
MAX_SESSION_VARIABLES = 32
"""Numbers that the application of one session writes for conditions and laws."""
MAX_ACTIONS = 1024
MAX_ACTION_SLOTS = 4
"""Slots (parts) of one action; a motion group has up to MAX_PARTS parts."""
MAX_GROUP_COMMANDS = 16
"""Motion commands of one part in a group whose motions are planned in the loop."""
MAX_COMMANDS_OF_GROUP = 1024
"""Motion commands of one group, of all its parts together."""
MAX_MOTION_QUEUES = 64
"""Motion groups whose motions come from outside the loop."""
MOTION_QUEUE_BYTES = 1 << 25
"""Set points of all motion groups that wait for the loop."""
MAX_USE_DEPTH = 8
"""How deep used programs may be nested."""
MAX_CALL_DEPTH = 16
"""Levels of calls of a blueprint."""
MAX_NODES = 1000
"""Nodes of one graph."""
MAX_BLUEPRINT_RUNS = 8
"""Runs of blueprints side by side, those that wait included."""
MAX_CHANGES_PER_TICK = 100
"""Nodes that a run of a blueprint may start in one tick."""
MAX_REACTIONS_IN_A_ROW = 100
"""Times that a reaction of a blueprint is followed while no other node succeeds."""
MAX_ACTION_TYPES = 256
MAX_REACTIONS = 16384
REACTION_NAMES_BYTES = 1 << 20
"""What new reactions are called, for recordings [bytes]: of those beyond, recordings have numbers."""
MAX_INSTRUCTIONS = 131072
"""Instructions of all conditions together."""
MAX_AXES = 512
"""Degrees of freedom with strategies, of all actions together."""
MAX_STRATEGIES = 2048
"""Strategies of all actions together."""
MAX_LAW_INPUTS = 4
"""State variables that are bound to one law."""
MAX_CONDITION_DEPTH = 32
MAX_VECTOR_LENGTH = 64
"""Elements of a vector state variable."""
MAX_CAPTURES = 8
"""State variables that one event carries."""
SNAPSHOT_VARIABLES = 32
"""State variables of an active action that each snapshot contains: the first ones that the type declares."""
MAX_TRAJECTORY_POINTS = 513
"""Points of a trajectory that the loop itself holds; a longer one becomes a motion group."""
MAX_FEEDBACK_STEPS = 256
"""Steps of a trajectory that feedback of a body's pose leads aside."""
PARAMETER_ARENA_BYTES = 1 << 24
STATE_ARENA_BYTES = 1 << 23
ACTION_STATE_BYTES = 1 << 20
"""State of one action."""

MAX_STREAMS = 64
"""Stream inputs and outputs of all actions together."""
MAX_ACTION_STREAMS = 4
"""Stream inputs and outputs of one action type."""
MAX_STREAM_VALUES = 16
"""Values in one sample, without their rates."""
STREAM_RING_ENTRIES = 256
"""Samples of one stream that wait to be read."""
STREAM_QUEUE = 16
"""Samples of one stream that wait for the function that resamples it."""
STREAM_ON_THE_WAY = 1000
"""Samples on their way from an application to the control server, or back. None is overtaken by more of its source."""
STREAM_WINDOW = 8
"""Past and future samples of one stream input that the loop keeps."""

COMMAND_RING_ENTRIES = 1024
COMMANDS_PER_TICK = 16
"""Transactions taken from the command ring in one tick."""
MAX_STOPS = 16
"""Protective stops that are latched side by side; the last one stands for all further sources."""
STOP_SOURCE_BYTES = 64
STOP_REASON_BYTES = 256
STOP_WHO_BYTES = 128
MAX_SCHEDULED_COMMANDS = 256
"""Commands waiting for their target tick."""
MAX_SCHEDULED_BY_SESSION = 16
"""Commands of one session among these, so that no session can fill the queue."""
MAX_ACTIONS_PER_COMMAND = 64
PARAMETER_UPDATE_BYTES = 4096
"""Largest parameter record that one command carries; a larger one needs new tables, which takes longer."""
UPDATES_OF_COMMAND = 16
"""Changes of a record may be as large as this many of them: such a command takes as many places of the ring."""
EVENT_RING_ENTRIES = 8192
MAX_OVERRUN_LIMIT = 64
"""Largest number of missed deadlines that the policy `fault` can tolerate in its window."""
MAX_PICTURES = 1000
"""Pictures of one run of a simulator."""
LOG_REQUESTS = 8
"""Logs of the last ticks that wait for being written."""
MAX_NAME_LENGTH = 64
MAX_DOTTED_NAME_LENGTH = 160
"""Characters of names joined by dots: of a state variable, an action type, a signal of an action."""
MAX_PATH_LENGTH = (MAX_CALL_DEPTH + 1) * (MAX_NAME_LENGTH + 1)
"""Characters of a path of nodes: "drinks/open_bottle"."""
MAX_LABEL_BYTES = 64
"""Length of a name that the tables carry for display; a longer name is truncated."""
MAX_CONDITION_LENGTH = 4096
MAX_CONDITION_NUMBERS = 4
"""Numbers that a condition computes with at a time, as in `a - (b - (c - d))`."""
MAX_TEXT_LENGTH = 4096
"""Characters of a text parameter, a reason or a path."""
MAX_PROGRAM_BYTES = 1 << 20
"""[bytes] Size of a program's text, and of an uploaded file of action types."""
MAX_ERROR_LENGTH = 1 << 16
"""Characters of what an error says by itself, its `what` and `hint`; the rest is cut off and counted."""
MAX_SHOWN_LENGTH = 1000
"""Characters of what an error shows of a request, its `expected` and `got`; the rest is cut off and counted."""
MAX_WORKCELL_BYTES = 1 << 22
"""Text of a workcell file."""
MAX_YAML_DEPTH = 50
"""Levels of a YAML text."""
MAX_YAML_ITEMS = 100_000
"""Keys, values and elements of a YAML text; what an alias repeats counts each time."""
MAX_MISTAKES = 100
"""Mistakes of one text that are reported together."""
HISTOGRAM_BINS = 512
