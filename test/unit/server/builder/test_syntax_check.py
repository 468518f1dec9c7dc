"""Every kind of operation that the syntax check refuses: with its line, its name and what to do instead."""

import re

import pytest

from robot_rt_control.server.builder.syntax_check import check_syntax
from robot_rt_control.server.code.source import load_action_type
from robot_rt_control.vocabulary.errors import CapacityError, CompileError

BOUND = "loops without a bound that can be seen"
UNKNOWN_ROUNDS = "whose greatest number of rounds is not known"

REFUSED = {
    # containers
    "list": ("x = [1.0, state.level]  # HERE", "builds a list", "use a tuple"),
    "dict": ("x = {1: 2.0}  # HERE", "builds a dict", "fields of fixed size"),
    "set": ("x = {1, 2}  # HERE", "builds a set", "fields of fixed size"),
    "list comprehension": ("x = [i for i in range(3)]  # HERE", "builds a list by a comprehension", "Write a loop"),
    "set comprehension": ("x = {i for i in range(3)}  # HERE", "builds a set by a comprehension", "Write a loop"),
    "dict comprehension": ("x = {i: i for i in range(3)}  # HERE", "builds a dict by a comprehension", "Write a loop"),
    "generator": ("x = sum(i for i in range(3))  # HERE", "uses a generator expression", "Write a loop"),
    "list()": ("x = list(range(3))  # HERE", "builds a list", "fields of fixed size"),
    "sorted": ("x = sorted(arm.position)  # HERE", "builds a list (sorted)", "fields of fixed size"),
    "global list": ("state.level = GAIN_LIST[0]  # HERE", "reads GAIN_LIST, which is of type list", "a tuple or a"),
    # text
    "f-string": ('x = f"{state.level}"  # HERE', "formats text", "numbers only"),
    "string": ('x = "moving"  # HERE', "uses text ('moving')", "numbers only"),
    "global string": ("x = LABEL  # HERE", "reads LABEL, which is of type str", "numbers"),
    "str()": ("x = str(state.level)  # HERE", "makes text", "numbers only"),
    "text method": ("x = state.level.format(1)  # HERE", "makes text (.format())", "numbers only"),
    # the system
    "print": ("print(state.level)  # HERE", "prints", "Make it a state variable"),
    "open": ("x = open(3)  # HERE", "opens a file", "prepare_parameters"),
    "input": ("x = input()  # HERE", "waits for input", "signal"),
    "time": ("state.level = time.monotonic()  # HERE", "calls time.monotonic", "`part.dt`"),
    "random": ("state.level = random.random()  # HERE", "calls random.random", "prepare_parameters"),
    "numpy random": ("state.level = np.random.rand()  # HERE", "calls np.random.rand", "prepare_parameters"),
    "os": ("x = os.getpid()  # HERE", "calls os.getpid", "prepare_parameters"),
    "os value": ("x = os.environ  # HERE", "reads os.environ, which is of type _Environ", "numbers"),
    "getattr": ("x = getattr(state, 3)  # HERE", "calls getattr", "arithmetic built-ins"),
    "lock": ("LOCK.acquire()  # HERE", "may wait (.acquire())", "never waits"),
    "lock read": ("x = LOCK  # HERE", "reads LOCK, which is of type lock", "numbers"),
    "making a lock": ("x = threading.Lock()  # HERE", "calls threading.Lock", "nothing may wait"),
    "with a lock": ("with LOCK:  # HERE\n    pass", "enters a context manager", "prepare_parameters"),
    "sleep": ("sleep(0.1)  # HERE", "calls sleep", "`part.dt`"),
    "date": ("x = datetime.datetime.now()  # HERE", "calls datetime.datetime.now", "`part.dt`"),
    "queue": ("x = queue.Queue()  # HERE", "calls queue.Queue", "signals and streams"),
    "socket": ("x = socket.socket()  # HERE", "calls socket.socket", "signals and streams"),
    "process": ("subprocess.run(1)  # HERE", "calls subprocess.run", "prepare_parameters"),
    "logging": ("logging.info(1)  # HERE", "calls logging.info", "prepare_parameters"),
    "exit": ("sys.exit(1)  # HERE", "calls sys.exit", "prepare_parameters"),
    "path": ("x = Path(1).read_text()  # HERE", "calls Path", "prepare_parameters"),
    "pickle": ("x = pickle.dumps(1)  # HERE", "calls pickle.dumps", "prepare_parameters"),
    "eval": ("x = eval(1)  # HERE", "calls eval", "arithmetic built-ins"),
    "setattr": ("setattr(state, 1, 2)  # HERE", "calls setattr", "arithmetic built-ins"),
    "type": ("x = type(state)  # HERE", "calls type", "arithmetic built-ins"),
    "global dict": ("x = TABLE[1]  # HERE", "reads TABLE, which is of type dict", "a tuple or a"),
    "global set": ("x = 1 in NAMES  # HERE", "reads NAMES, which is of type set", "a tuple or a"),
    "dict()": ("x = dict()  # HERE", "builds a dict", "fields of fixed size"),
    "set()": ("x = set()  # HERE", "builds a set", "fields of fixed size"),
    "tuple of unknown length": ("x = tuple(arm.position)  # HERE", "calls tuple", "arithmetic built-ins"),
    "map": ("x = map(abs, arm.position)  # HERE", "calls map", "arithmetic built-ins"),
    "iter": ("x = iter(arm.position)  # HERE", "calls iter", "arithmetic built-ins"),
    # control flow
    "raise": ("raise ValueError  # HERE", "raises an exception", "Return a non-zero status"),
    "assert": ("assert state.level > 0  # HERE", "raises an exception (assert)", "Return a non-zero status"),
    "try": ("try:  # HERE\n    state.level = 1.0\nexcept ValueError:\n    pass", "handles exceptions", "test"),
    "with": ("with state:  # HERE\n    pass", "enters a context manager", "prepare_parameters"),
    "lambda": ("f = lambda: 1  # HERE", "defines a function (lambda)", "marked @realtime"),
    "function": ("def f():  # HERE\n    return 1", "defines a function", "marked @realtime"),
    "class": ("class A:  # HERE\n    pass", "defines a class", "fields of fixed size"),
    "closure": ("x = 1.0\ndef f():  # HERE\n    return x", "defines a function", "marked @realtime"),
    "match": ("match state.count:  # HERE\n    case 1:\n        pass", "uses match", "if and elif"),
    "yield": ("yield 1  # HERE", "yields", "in every tick"),
    "import": ("import math as m  # HERE", "imports a module", "top of the file"),
    "from import": ("from math import sin  # HERE", "imports a module", "top of the file"),
    "global": ("global POSITION  # HERE", "changes a module variable (global)", "state record"),
    "del": ("x = 1\ndel x  # HERE", "deletes", "Leave the variable alone"),
    "while True": ("while True:  # HERE\n    state.level += 1.0", BOUND, "for _ in range(N)"),
    "while 1": ("while 1:  # HERE\n    break", BOUND, "for _ in range(N)"),
    "while unchanging": ("x = 1.0\nwhile x < 2.0:  # HERE\n    state.level += 1.0", BOUND, "for _ in range(N)"),
    "while converging": (
        "x = 1.0\nwhile x > 1e-6:  # HERE\n    x = 0.5 * x",
        BOUND,
        "count: `while n < N and …:` with `n += 1`",
    ),
    "while or": ("n = 0\nwhile n < 3 or state.level > 0.0:  # HERE\n    n += 1", BOUND, "for _ in range(N)"),
    "while away": ("n = 5\nwhile n > 0:  # HERE\n    n += 1", BOUND, "for _ in range(N)"),
    "while with tiny steps": ("n = 0.0\nwhile n < 1.0:  # HERE\n    n += 1e-30", BOUND, "for _ in range(N)"),
    "while the bound runs along": ("n = 0\nm = 3\nwhile n < m:  # HERE\n    n += 1\n    m += 1", BOUND, "range(N)"),
    "while the bound is computed": ("n = 0\nwhile n < int(state.level):  # HERE\n    n += 1", BOUND, "range(N)"),
    "while counting sometimes": ("n = 0\nwhile n < 3:  # HERE\n    if n > 1:\n        n += 1", BOUND, "range(N)"),
    "while continue": (
        "n = 0\nwhile n < 3:  # HERE\n    if state.level > 0.0:\n        continue\n    n += 1",
        BOUND,
        "range(N)",
    ),
    "while set back": ("n = 0\nwhile n < 3:  # HERE\n    n += 1\n    for n in range(2):\n        pass", BOUND, "range"),
    "while handed on": (
        "while state.count < 3:  # HERE\n    state.count += 1\n    reset(state)",
        BOUND,
        "range(N)",
    ),
    "for any number": ("for j in range(params.index):  # HERE\n    pass", UNKNOWN_ROUNDS, "Declare a `maximum`"),
    "for a number in the state": ("for j in range(state.count):  # HERE\n    pass", UNKNOWN_ROUNDS, "range(min(n, N))"),
    "for from any number": ("for j in range(params.index, 5):  # HERE\n    pass", UNKNOWN_ROUNDS, "range(min(n, N))"),
    "for down from any number": ("for j in range(state.count, 0, -1):  # HERE\n    pass", UNKNOWN_ROUNDS, "min"),
    "for a computed number": ("n = 2 * params.index + 1\nfor j in range(n):  # HERE\n    pass", UNKNOWN_ROUNDS, "min"),
    "for a growing number": ("n = 3\nn += 1\nfor j in range(n):  # HERE\n    pass", UNKNOWN_ROUNDS, "range(min(n, N))"),
    "while from anywhere": (
        "while state.count < 3:  # HERE\n    state.count += 1",
        "greatest number",
        "Count a local variable",
    ),
    "while to what was computed": (
        "n = 0\nwhile n < state.count:  # HERE\n    n += 1",
        "loops over n < state.count, whose greatest number of rounds is not known",
        "`min(n, N)`",
    ),
    "while from a computed number": (
        "n = -params.index\nwhile n < 3:  # HERE\n    n += 1",
        "loops over n < 3, whose greatest number of rounds is not known",
        "from a number",
    ),
    "while from far away": (
        "n = -20000000\nwhile n < 3:  # HERE\n    n += 1",
        "loops up to 20000004 rounds in one tick, expected at most 10000000",
        "smaller `maximum`",
    ),
    "while down from anywhere": (
        "while state.count > 0 and (state.level > 0 or state.values[state.count] > 0):  # HERE\n    state.count -= 1",
        "greatest number",
        "local variable",
    ),
    "while below any number": ("n = 0\nwhile n < params.index:  # HERE\n    n += 1", "greatest number", "maximum"),
    "too many rounds": (
        "for j in range(1000):\n    for k in range(1000):\n        for m in range(11):  # HERE\n            pass",
        "loops up to 11000000 rounds in one tick, expected at most 10000000",
        "smaller `maximum`",
    ),
    "step of zero": ("for j in range(0, 5, state.count):  # HERE\n    pass", "counts in a step", "zero"),
    # arrays
    "np.zeros": ("x = np.zeros(3)  # HERE", "calls np.zeros, which makes an array", "Write a loop"),
    "np.array": ("x = np.array((1.0, 2.0))  # HERE", "calls np.array, which makes an array", "Write a loop"),
    "np.dot": ("x = np.dot(arm.position, arm.position)  # HERE", "calls np.dot, which makes an array", "Write a loop"),
    "np.linalg": ("x = np.linalg.norm(arm.position)  # HERE", "calls np.linalg.norm", "prepare_parameters"),
    "copy": ("x = arm.position.copy()  # HERE", "makes an array (.copy())", "Write a loop"),
    "array expression": (
        "x = arm.position + 1.0  # HERE",
        "computes with the whole array arm.position, which makes a new array",
        "Write a loop",
    ),
    "array through a name": (
        "q = state.joints\nx = 2.0 * q  # HERE",
        "computes with the whole array state.joints, which makes a new array",
        "Write a loop",
    ),
    "array in place": ("state.joints += 1.0  # HERE", "computes with the whole array state.joints", "Write a loop"),
    "slice copy": (
        "state.joints[:] = arm.position  # HERE",
        "copies the array arm.position into a slice, which makes a new array on the way",
        "assign the whole field",
    ),
    "index array": ("x = arm.position[state.joints]  # HERE", "indexes arm.position by an array", "Write a loop"),
    # records
    "write a measurement": (
        "arm.position[0] = 1.0  # HERE",
        "writes arm.position[0], which an action may only read",
        "Of a part, an action writes command_mode, position_command",
    ),
    "augmented write": ("arm.velocity[2] += 1.0  # HERE", "writes arm.velocity[2], which an action may only", "writes"),
    "write a scalar": ("arm.dt = 0.1  # HERE", "writes arm.dt, which an action may only read", "command_mode"),
    "write by name": ('arm["age"] = 0.1  # HERE', "writes arm.age, which an action may only read", "command_mode"),
    "write a limit": ("arm.velocity_limit[0] = 9.0  # HERE", "writes arm.velocity_limit[0]", "command_mode"),
    "write the model": ("arm.chain.mass[0] = 9.0  # HERE", "writes arm.chain.mass[0]", "command_mode"),
    "write through a name": (
        "q = arm.position\nq[1] = 0.0  # HERE",
        "writes arm.position[1], which an action may only read",
        "command_mode",
    ),
    "write to a row": ("r = arm.chain.origin[0]\nr[0, 3] = 1.0  # HERE", "writes arm.chain.origin[0][0, 3]", "writes"),
    "write in a tuple": ("state.level, arm.dt = 1.0, 2.0  # HERE", "writes arm.dt, which an action may only", "writes"),
    "write by a loop": (
        "for arm.dt in range(3):  # HERE\n    pass",
        "writes arm.dt, which an action may only",
        "writes",
    ),
    "fill": ("arm.position.fill(0.0)  # HERE", "writes arm.position, which an action may", "writes"),
    "write a parameter": ("params.gain = 2.0  # HERE", "writes params.gain, which an action may", "field of State"),
    "unknown field": (
        "state.levle = 1.0  # HERE",
        "state has no field 'levle'; one of the known names; did you mean 'level'",
        "State and Params declare the fields",
    ),
    "unknown field of a part": ("x = arm.positon[0]  # HERE", "arm has no field 'positon'", "layout.part_dtype"),
    "constant index": ("state.values[4] = 1.0  # HERE", "takes element 4 of state.values, which has 4", "0 to 3"),
    "negative index": ("x = state.values[-5]  # HERE", "takes element -5 of state.values, which has 4", "0 to 3"),
    "too many indices": ("x = arm.position[0, 1]  # HERE", "takes 2 indices of arm.position, which has 1", "Count"),
    # names and calls
    "self": ("self.level = 1.0  # HERE", "uses 'self', which is not defined", "methods are static"),
    "undefined": ("x = nonsense  # HERE", "uses 'nonsense', which is not defined", "top of the file"),
    "class attribute": ("x = Custom.FACTOR  # HERE", "reads the class attribute Custom.FACTOR", "outside of the class"),
    "missing member": ("x = math.sine(1.0)  # HERE", "uses math.sine, which does not exist", "right name"),
    "object": ("x = Custom(1)  # HERE", "makes an object of class Custom", "fields of fixed size"),
    "call of a variable": ("f = math.sin\nx = f(1.0)  # HERE", "calls the variable f", "by their names"),
}


TOP = """
import datetime, logging, pickle, queue, socket, subprocess, sys, threading
from pathlib import Path
from time import sleep

LOCK = threading.Lock()
TABLE = {1: 2.0}
NAMES = {"a", "b"}


@realtime
def reset(state):
    state.count = 0

"""


@pytest.mark.parametrize("what", REFUSED)
def test_refused_with_line_and_hint(what, action_file):
    body, operation, hint = REFUSED[what]
    source = load_action_type(action_file.write(body, top=TOP))
    with pytest.raises(CompileError) as refused:
        check_syntax(source)
    first, _, rest = str(refused.value).splitlines()[0].partition("; ")
    assert str(refused.value).startswith(f"{action_file.here}: "), refused.value
    assert operation in f"{first}; {rest}"
    assert hint in rest


REFUSED_HELPERS = {
    "unmarked": ("def helper(x):\n    return x", "helper(1.0)  # HERE", "calls helper, which is not marked @realtime"),
    "njit": (
        "@numba.njit\ndef helper(x):\n    return x",
        "helper(1.0)  # HERE",
        "calls helper, which is compiled but not marked @realtime",
    ),
    "print inside": ("@realtime\ndef helper(x):\n    print(x)  # HERE", "helper(1.0)", "prints"),
    "write inside": (
        "@realtime\ndef helper(gain, part):\n    part.velocity[0] = gain  # HERE",
        "helper(1.0, part=arm)",
        "writes arm.velocity[0], which an action may only read",
    ),
    "write of an array inside": (
        "@realtime\ndef helper(q):\n    q[0] = 1.0  # HERE",
        "helper(arm.position)",
        "writes arm.position[0], which an action may only read",
    ),
    "two deep": (
        "@realtime\ndef deep(x):\n    raise ValueError  # HERE\n@realtime\ndef helper(x):\n    deep(x)",
        "helper(1.0)",
        "raises an exception",
    ),
    "mutual recursion": (
        "@realtime\ndef there(n):\n    return back(n)\n@realtime\ndef back(n):\n    return there(n)  # HERE",
        "there(3)",
        "calls there recursively",
    ),
    "recursion": (
        "@realtime\ndef helper(n):\n    if n > 0:\n        helper(n - 1)  # HERE",
        "helper(3)",
        "calls helper recursively",
    ),
    "the loop's own": (
        "from robot_rt_control.hardware.jerk_limit import braking_speed",
        "braking_speed(1.0, 1.0, 0.1)  # HERE",
        "calls braking_speed; This function belongs to the loop",
    ),
}


@pytest.mark.parametrize("what", REFUSED_HELPERS)
def test_functions_that_are_called_are_checked_too(what, action_file):
    top, body, operation = REFUSED_HELPERS[what]
    source = load_action_type(action_file.write(body, top=top))
    with pytest.raises(CompileError) as refused:
        check_syntax(source)
    assert f"{action_file.here}: {operation}" in str(refused.value)


def test_a_helper_may_write_what_its_caller_may(action_file):
    top = "@realtime\ndef helper(values, part):\n    values[0] = 1.0\n    part.position_command[0] = 1.0"
    top += "\n    part.command_mode = POSITION"
    check_syntax(load_action_type(action_file.write("helper(state.values, arm)", top=top)))


@pytest.mark.parametrize(("field", "mode"), [("position", "POSITION"), ("velocity", "VELOCITY"), ("effort", "EFFORT")])
def test_a_command_without_its_mode_is_refused_where_it_is_written(action_file, field, mode):
    spec = action_file.write(f"x = 1.0\narm.{field}_command[0] = x  # HERE")
    text = (
        f"{action_file.here}: writes arm.{field}_command, but arm.command_mode is never set: nothing would move; "
        f"Set arm.command_mode = {mode} (of actions.authoring) beside it, in each tick"
    )
    with pytest.raises(CompileError, match=re.escape(text)):
        check_syntax(load_action_type(spec))


def test_the_mode_of_one_slot_is_not_that_of_another(action_file):
    body = "left.command_mode = POSITION\nleft.position_command[0] = 0.0\nright.position_command[0] = 0.0  # HERE"
    with pytest.raises(CompileError) as refused:
        check_syntax(load_action_type(action_file.write(body, slots=("left", "right"))))
    (line,) = str(refused.value).splitlines()
    assert f"{action_file.here}: writes right.position_command, but right.command_mode is never set" in line


def test_a_mode_that_a_function_of_the_package_sets_counts(action_file):
    top = "from robot_rt_control.actions.following import follow\n"
    top += "from robot_rt_control.motion.profile import profile_dtype"
    body = "follow(state.plan, 0.0, arm)\narm.position_command[0] += 0.001"
    spec = action_file.write(body, top=top)
    action_file.path.write_text(
        action_file.path.read_text().replace('"count": int', '"count": int, "plan": (profile_dtype, PER_JOINT)')
    )
    check_syntax(load_action_type(spec))


def test_outputs_need_no_mode(action_file):
    check_syntax(load_action_type(action_file.write("arm.output_command[0] = 1.0")))


def test_a_part_that_is_only_read_takes_no_commands(action_file):
    spec = action_file.write("arm.command_mode = POSITION  # HERE\narm.position_command[0] = 0.0")
    text = action_file.path.read_text()
    action_file.path.write_text(text.replace("kinds=(PartKind.ARM,))", "kinds=(PartKind.ARM,), moves=False)"))
    with pytest.raises(CompileError, match=r"writes arm.command_mode, which an action may only read; .*moves=False"):
        check_syntax(load_action_type(spec))


def test_a_state_that_is_too_large_names_the_capacity(action_file):
    spec = action_file.write("pass")
    text = action_file.path.read_text()
    action_file.path.write_text(text.replace('"values": (float, 4)', '"values": (float, 200000)'))
    with pytest.raises(CapacityError, match="the state of an action; expected at most 1048576 bytes"):
        check_syntax(load_action_type(spec))


def test_all_violations_are_reported_in_the_order_of_their_lines(action_file):
    source = load_action_type(action_file.write("print(1)\nx = [1]\nraise ValueError"))
    with pytest.raises(CompileError) as refused:
        check_syntax(source)
    lines = str(refused.value).splitlines()
    assert [line.split(": ")[1].split(";")[0] for line in lines] == ["prints", "builds a list", "raises an exception"]
    assert len(lines) == 3


ALLOWED = """
'''Text that explains may stand.'''
arm.command_mode = POSITION
mode = CommandMode.VELOCITY
total: "float" = 0.0
for j in range(arm.dof):
    arm.position_command[j] = arm.commanded_position[j] + params.gain * math.sin(state.level) * GAINS[j % 2]
    total += arm["position"][j] ** 2
for row in arm.chain.origin:
    total += row[0, 3]
q, v = arm.position, arm.velocity
a, b = 1.0, 2.0
a, b = b, a
state.joints = arm.position
state.values[1:3] = 0.0
n = 0
while n < 4 and state.values[n] > 0.0:
    n += 1
m = len(state.values)
while 0 <= m - 1:
    if state.values[m - 1] < 0.0:
        break
    for j in range(3):
        if j > 1:
            continue
    m -= 1
while state.count + 1 < min(params.index, 20) and state.values[state.count + 1] > 0.0:
    state.count = state.count + 1
n = 0
while n + 1 < min(params.index, 20):
    n = n + 1
for j in range(6, 0, -2):
    total += state.joints[j]
state.is_done = math.isfinite(total) and np.isfinite(q[0]) and state.level >= abs(min(a, b, v[0]))
state.level = np.float64(1.0) if state.count == 3 else math.pi
if mode == CommandMode.POSITION:
    return CommandMode.EFFORT
return 0
"""


BOUNDED = """
for j in range(min(params.index, 10)):
    for k in range(max(0, min(state.count, 5)), len(GAINS) + arm.dof):
        state.level += 1.0
n = 3 if state.level > 0.0 else arm.dof - 1
for j in range(n * 2 % 5, n // 2 + int(CommandMode.POSITION)):
    for k in range(j, 0, -2):
        state.level += state.values[k]
for j, q in enumerate(arm.position):
    for k in range(abs(-j) + state.values.shape[0]):
        state.level += q
"""


def test_loops_whose_end_is_known_pass(action_file):
    check_syntax(load_action_type(action_file.write(BOUNDED)))


HELPER = """
@realtime
def run(n, x):
    for _ in range(n):  {mark}
        x += 1.0
    return x
"""


def test_a_helper_s_loop_is_judged_by_what_it_is_called_with(action_file):
    known = action_file.write("for j in range(100):\n    state.level = run(7, 0.0)", top=HELPER.format(mark=""))
    check_syntax(load_action_type(known))
    unknown = action_file.write("state.level = run(params.index, 0.0)", top=HELPER.format(mark="# HERE"))
    with pytest.raises(CompileError) as refused:
        check_syntax(load_action_type(unknown))
    assert str(refused.value).startswith(f"{action_file.here}: loops over range(n), {UNKNOWN_ROUNDS}")
    often = action_file.write(
        "for j in range(1_000_000):\n    state.level = run(11, 0.0)", top=HELPER.format(mark="# HERE")
    )
    with pytest.raises(CompileError, match="loops up to 11000000 rounds in one tick"):
        check_syntax(load_action_type(often))


def test_ordinary_code_passes(action_file):
    checked = check_syntax(load_action_type(action_file.write(ALLOWED)))
    assert list(checked.methods) == ["control"]


SIGNATURES = {
    "instance method": (
        "    def control(self, state, params, arm):  # HERE\n        pass",
        "control is not a static method; Put @staticmethod above it and take (state, params, arm)",
    ),
    "class method": (
        "    @classmethod\n    def control(cls, state, params, arm):  # HERE\n        pass",
        "control is not a static method",
    ),
    "too few": (
        "    @staticmethod\n    def control(state, params):  # HERE\n        pass",
        "control takes (state, params), expected (state, params, arm)",
    ),
    "default": (
        "    @staticmethod\n    def control(state, params, arm=None):  # HERE\n        pass",
        "control takes (state, params, arm), expected (state, params, arm); A real-time method takes",
    ),
    "star": (
        "    @staticmethod\n    def control(state, params, arm, *more):  # HERE\n        pass",
        "expected (state, params, arm)",
    ),
}


@pytest.mark.parametrize("what", SIGNATURES)
def test_methods_must_be_static_and_take_the_records(what, action_file):
    text, message = SIGNATURES[what]
    action_file.write("pass")
    lines = action_file.path.read_text()
    start = lines.index("    @staticmethod\n    def control")
    action_file.path.write_text(lines[:start] + text + "\n")
    with pytest.raises(CompileError) as refused:
        check_syntax(load_action_type(f"{action_file.path}:Custom"))
    assert str(refused.value).startswith(f"{action_file.here}: ")
    assert message in str(refused.value)


def test_a_variable_of_a_function_around_it_is_refused(action_file):
    action_file.write()
    text = action_file.path.read_text()
    start = text.index("    @staticmethod\n    def control")
    inner = text[:start].rstrip() + (
        "\n\ndef make(gain):\n    @staticmethod\n    def control(state, params, arm):  # HERE\n"
        "        state.level = gain\n    Custom.control = control\n\nmake(3.0)\n"
    )
    action_file.path.write_text(inner)
    with pytest.raises(CompileError, match="uses 'gain' of the function around it; Use a module-level constant"):
        check_syntax(load_action_type(f"{action_file.path}:Custom"))


def test_a_type_without_real_time_methods_is_refused(action_file):
    spec = action_file.write(methods={"helper": "pass"})
    with pytest.raises(CompileError, match="'custom' has no real-time method; expected at least one of on_enter"):
        check_syntax(load_action_type(spec))


def test_too_many_slots_are_refused(action_file):
    spec = action_file.write(slots=("a", "b", "c", "d", "e"))
    with pytest.raises(CapacityError, match=r"slots; expected at most 4 \(MAX_ACTION_SLOTS\); got 5"):
        check_syntax(load_action_type(spec))


def test_a_field_may_have_any_name_but_one_that_every_record_is_asked_for(action_file):
    spec = action_file.write("state.max = state.max + 1")
    text = action_file.path.read_text()
    action_file.path.write_text(text.replace('"count": int', '"max": int'))
    check_syntax(load_action_type(spec))
    action_file.path.write_text(text.replace('"count": int', '"dtype": int'))
    with pytest.raises(CompileError, match="Custom: a field of a record may not be called 'dtype'; call it something"):
        check_syntax(load_action_type(spec))


@pytest.mark.parametrize(
    ("place", "modes"),
    [
        ("laws.torque:Torque", ("effort",)),
        ("laws.admittance:Admittance", ("position",)),  # by functions of the package
        ("watch_tool:WatchTool", ()),
    ],
)
def test_the_fields_that_are_written_show_the_modes_of_the_commands(place, modes):
    source = load_action_type(f"robot_rt_control.actions.{place}")
    assert check_syntax(source).command_modes == modes
