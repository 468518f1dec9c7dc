"""First check of real-time code: its syntax tree, with the values that its global names stand for.

Finds what cannot be real-time safe and says it in the user's words, before the compiler sees it. The last
word has the compiled code itself (see native.py): what slips through here is refused there.
"""

from __future__ import annotations

import ast
import builtins
import enum
import math
from dataclasses import dataclass, field, replace
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from robot_rt_control.definitions.action_type import ActionType, stream_inputs
from robot_rt_control.memory.layout import part_dtype
from robot_rt_control.server.builder.bounded_loops import MOST_ROUNDS, countings
from robot_rt_control.server.builder.forbidden import (
    STATEMENTS,
    forbidden_call,
    forbidden_method,
    forbidden_module,
    is_marked,
)
from robot_rt_control.server.builder.number_range import ANYTHING, LONGEST, NumberRanges, Range
from robot_rt_control.server.builder.realtime_methods import (
    FunctionSource,
    python_function,
    realtime_methods,
    source_of,
)
from robot_rt_control.server.builder.record_access import ALL, COMMANDS, NOTHING, Data
from robot_rt_control.server.builder.record_flow import RecordFlow
from robot_rt_control.server.builder.violation import Violation, refuse
from robot_rt_control.server.builder.work_bound import PACKAGE_CALL_S, Work, work_of, work_of_call
from robot_rt_control.server.code.source import ActionSource, is_package_file, layouts_of
from robot_rt_control.vocabulary.errors import CompileError

_MODE_OF = {"position_command": "POSITION", "velocity_command": "VELOCITY", "effort_command": "EFFORT"}
"""Command field → the mode in which it leaves."""


@dataclass
class CheckedCode:
    """Real-time code that has passed the check of its syntax."""

    methods: dict[str, FunctionSource]
    helpers: dict[str, Any] = field(default_factory=dict)
    """Functions of the user marked @realtime that it calls: name with module → function."""
    counted: dict[str, float] = field(default_factory=dict)
    """Parameters that loops count to → the largest value that counts."""
    work: Work = field(default_factory=Work)
    """Work of all methods together: a tick may run each of them."""
    violations: set[Violation] = field(default_factory=set)
    commands: dict[tuple[int, str], Violation] = field(default_factory=dict)
    """(slot, command field of its part) → where it is written first, as the violation that it may turn out to be."""

    @property
    def command_modes(self) -> tuple[str, ...]:
        """The modes in which the part of the first slot is commanded: of the fields that are written."""
        return tuple(mode.lower() for name, mode in _MODE_OF.items() if (0, name) in self.commands)


def check_syntax(source: ActionSource) -> CheckedCode:
    """Check the real-time methods of an action type and all functions of the user that they call.

    Raises:
        CompileError: one line for each violation: `file:line: operation; hint`.
    """
    state, parameters = layouts_of(source.action_type)
    checked = CheckedCode(realtime_methods(source.action_type))
    slots = source.action_type.slots
    if not checked.methods:
        raise CompileError(
            f"action type {source.action_type.name!r} has no real-time method",
            expected="at least one of on_enter, sense, set_parameters, control",
        )
    own_files = {m.file for m in checked.methods.values()}
    loops = _Loops(_declared_ranges(source.action_type), frozenset(s.name for s in stream_inputs(source.action_type)))
    seen: dict[object, Work] = {}
    for method in checked.methods.values():
        names = method.parameters
        data: list[Data | None] = [
            Data(names[0], state, (), ALL, "state"),
            Data(names[1], parameters, (), NOTHING, "params"),
        ]
        data += [
            Data(name, part_dtype, (), COMMANDS if slot.moves else NOTHING, "part", i)
            for i, (name, slot) in enumerate(zip(names[2:], slots, strict=True))
        ]
        checked.work += _FunctionCheck(method, tuple(data), checked, seen, own_files, (), loops).run()
    checked.violations |= {
        violation
        for (slot, name), violation in checked.commands.items()
        if name in _MODE_OF and (slot, "command_mode") not in checked.commands
    }
    if checked.violations:
        raise refuse(sorted(checked.violations))
    return checked


@dataclass(frozen=True)
class _Loops:
    """What is known about the numbers that loops count to."""

    declared: dict[str, Range]
    """Whole-number parameters that reach the record as they are given → range."""
    streams: frozenset[str]
    given: tuple[Range, ...] = ()
    """Ranges of the function's parameters."""
    around: float = 1.0
    """How many rounds the loops around the call of the function make."""


def _declared_ranges(action_type: type[ActionType]) -> dict[str, Range]:
    """Only where nothing is computed from them first: what `prepare_parameters` makes of them is not known."""
    if action_type.prepare_parameters is not ActionType.prepare_parameters:
        return {}
    whole = [p for p in action_type.parameters if p.type == "int" and p.length == 1]
    return {
        p.name: (
            -math.inf if p.minimum is None else min(0.0, p.minimum),
            math.inf if p.maximum is None else max(0.0, p.maximum),
        )
        for p in whole
    }


class _FunctionCheck(ast.NodeVisitor):
    """Walks one function, for given records in its parameters."""

    def __init__(
        self,
        source: FunctionSource,
        data: tuple[Data | None, ...],
        checked: CheckedCode,
        seen: dict[object, Work],
        own_files: set[str],
        callers: tuple[FunctionType, ...],
        loops: _Loops,
    ) -> None:
        self.source, self.data = source, data
        self.checked, self.seen, self.own_files = checked, seen, own_files
        self.callers = (*callers, source.function)
        self.locals = {*source.function.__code__.co_varnames, *source.function.__code__.co_cellvars}
        self.flow = RecordFlow(dict(zip(source.parameters, data, strict=False)), self.report, self.note_write)
        self.loops, self.around = loops, loops.around
        self.work = Work()
        self.numbers = NumberRanges(
            source.node,
            given=dict(zip(source.parameters, loops.given, strict=False)),
            declared=loops.declared,
            streams=loops.streams,
            data=self.flow.data,
            resolve=self._look_up,
        )

    def run(self) -> Work:
        """Check the function. Returns what it takes at most."""
        key = (self.source.function, self.data, self.loops.given, self.loops.around)
        if key in self.seen:
            return self.seen[key]
        self.seen[key] = Work()
        for name in self.source.function.__code__.co_freevars:
            self.report(
                self.source.node,
                f"uses {name!r} of the function around it",
                "Use a module-level constant or a parameter",
            )
        for _ in range(2):  # twice: in a loop, a name may get its meaning below its use
            self.work = Work()
            for statement in self.source.node.body:
                self.visit(statement)
        for name, value in self.numbers.used.items():
            self.checked.counted[name] = max(value, self.checked.counted.get(name, 0.0))
        self.seen[key] = self.work
        return self.work

    def report(self, node: ast.AST, operation: str, hint: str) -> None:
        line = getattr(node, "lineno", self.source.node.lineno)
        self.checked.violations.add(Violation(self.source.file, line, operation, hint))

    def note_write(self, node: ast.AST, data: Data) -> None:
        """Note which command fields of a part are written: without its mode, a command does not leave."""
        if data.slot < 0 or not data.member:
            return
        part = data.label.split(".")[0]
        hint = (
            f"Set {part}.command_mode = {_MODE_OF.get(data.member, '')} (of actions.authoring) beside it, in each tick"
        )
        operation = f"writes {part}.{data.member}, but {part}.command_mode is never set: nothing would move"
        line = getattr(node, "lineno", self.source.node.lineno)
        found = Violation(self.source.file, line, operation, hint)
        self.checked.commands.setdefault((data.slot, data.member), found)

    # --- statements ------------------------------------------------------------------------------

    def visit(self, node: ast.AST) -> None:
        if type(node) in STATEMENTS or type(node).__name__ == "TryStar":
            if isinstance(node, ast.List | ast.Tuple) and isinstance(node.ctx, ast.Store):
                self.generic_visit(node)
                return
            self.report(node, *STATEMENTS.get(type(node), STATEMENTS[ast.Try]))
            return
        self.work += work_of(node)
        super().visit(node)

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        before, branches = self.work, []
        for block in (node.body, node.orelse):
            self.work = Work()
            for statement in block:
                self.visit(statement)
            branches.append(self.work)
        self.work = before + branches[0].longer(branches[1])

    def visit_Expr(self, node: ast.Expr) -> None:
        if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):  # a docstring may stand
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self._visit_target(target)
            self.flow.assign(target, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self._visit_target(node.target)
            self.flow.assign(node.target, node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        self._visit_target(node.target)
        self.flow.augment(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self.flow.assign(node.target, node.value)

    def _visit_target(self, target: ast.expr) -> None:
        """Names and indices within what is assigned to."""
        if isinstance(target, ast.Subscript):
            self._visit_index(target)
        elif isinstance(target, ast.Attribute):
            self.visit(target.value)
        elif isinstance(target, ast.Tuple | ast.List):
            for element in target.elts:
                self._visit_target(element)

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self.flow.iterate(node.target, node.iter)
        self._loop(node, self._rounds(node.iter))

    def _rounds(self, iterated: ast.expr) -> float:
        """How many rounds a `for` loop makes at most."""
        if isinstance(iterated, ast.Call):
            found, value = self._resolve(iterated.func)
            if found and value is range and iterated.args:
                return self.numbers.rounds(iterated.args)
            if found and value in (enumerate, zip) and iterated.args:
                return min(self._rounds(a) for a in iterated.args)
        return self.numbers.length(iterated)

    def _loop(self, node: ast.For | ast.While, rounds: float) -> None:
        """The body of a loop that makes so many rounds at most."""
        around, before = self.around, self.work
        self.around *= max(1.0, rounds)
        shown = ast.unparse(node.iter if isinstance(node, ast.For) else node.test)
        if math.isinf(rounds):
            operation = f"loops over {shown}, whose greatest number of rounds is not known"
            hint = "Declare a `maximum` of the parameter that it counts to, or write `range(min(n, N))`"
            if isinstance(node, ast.While):
                hint = "Count a local variable from a number to a parameter with a `maximum`, or to `min(n, N)`"
            self.report(node, operation, hint)
            self.around = around
        elif self.around > MOST_ROUNDS:
            operation = f"loops up to {self.around:.0f} rounds in one tick, expected at most {MOST_ROUNDS}"
            self.report(node, operation, "Do a part of the work in each tick, or declare a smaller `maximum`")
            self.around = around
        self.work = Work()
        for statement in [*node.body, *node.orelse]:
            self.visit(statement)
        if math.isfinite(rounds):
            loop = f"{self.source.file}:{node.lineno}: loops over {shown}, up to {rounds:.0f} rounds"
            self.work = self.work.repeated(rounds, loop)
        self.work += before
        self.around = around

    def visit_While(self, node: ast.While) -> None:
        counts = bool(countings(node))
        if not counts:
            hint = "Write `for _ in range(N)` with `break`, or count: `while n < N and …:` with `n += 1` in every round"
            self.report(node, "loops without a bound that can be seen", hint)
        self.visit(node.test)
        self._loop(node, self.numbers.rounds_while(node) if counts else LONGEST)

    # --- expressions -----------------------------------------------------------------------------

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str | bytes):
            self.report(node, f"uses text ({node.value!r})", "Real-time code has numbers only")

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self._visit_index(node)
        self.flow.data(node)

    def _visit_index(self, node: ast.Subscript) -> None:
        self.visit(node.value)
        if not (isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)):  # the name of a field
            self.visit(node.slice)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._no_arrays(node, node.left, node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        self._no_arrays(node, node.operand)

    def visit_Compare(self, node: ast.Compare) -> None:
        self._no_arrays(node, node.left, *node.comparators)

    def _no_arrays(self, node: ast.AST, *operands: ast.expr) -> None:
        self.generic_visit(node)
        for operand in operands:
            data = self.flow.data(operand)
            if data is not None and data.is_array:
                self.report(
                    node, f"computes with the whole array {data.label}, which makes a new array", "Write a loop"
                )
                return

    def visit_Name(self, node: ast.Name) -> None:
        if node.id not in self.locals:
            found, value = self._resolve(node)
            if found:
                self._use(node, node.id, value)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        found, value = self._resolve(node)
        if found:
            self._use(node, ast.unparse(node), value)
        else:
            self.visit(node.value)
            self.flow.data(node)

    def _use(self, node: ast.AST, shown: str, value: Any) -> None:
        """A name of the module, or of something that the module knows, is read."""
        if isinstance(value, ModuleType) or callable(value):
            hint = forbidden_module(value)
            if hint is not None:
                self.report(node, f"uses {shown}", hint)
            return
        if isinstance(value, bool | int | float | complex | np.generic | np.ndarray | tuple | enum.Enum | None):
            return
        hint = "Write numbers, a tuple or a NumPy array at the top of the file: the compiler freezes them"
        self.report(node, f"reads {shown}, which is of type {type(value).__name__}", hint)

    def _look_up(self, node: ast.expr) -> tuple[bool, Any]:
        """What a name of the module stands for, without a word if there is none."""
        before = set(self.checked.violations)
        found = self._resolve(node)
        self.checked.violations = before
        return found

    def _resolve(self, node: ast.expr) -> tuple[bool, Any]:
        """What a name or a dotted name stands for where that is known before the code runs."""
        if isinstance(node, ast.Name):
            if node.id in self.locals or node.id in self.source.function.__code__.co_freevars:
                return False, None
            scope = self.source.function.__globals__
            if node.id in scope:
                return True, scope[node.id]
            if hasattr(builtins, node.id):
                return True, getattr(builtins, node.id)
            if node.id in ("self", "cls"):
                hint = "Real-time methods are static: what they remember lives in the state record"
            else:
                hint = "Define it at the top of the file"
            self.report(node, f"uses {node.id!r}, which is not defined", hint)
            return False, None
        if isinstance(node, ast.Attribute):
            found, value = self._resolve(node.value)
            if not found:
                return False, None
            if isinstance(value, ModuleType) or (isinstance(value, type) and issubclass(value, enum.Enum)):
                if hasattr(value, node.attr):
                    return True, getattr(value, node.attr)
                self.report(node, f"uses {ast.unparse(node)}, which does not exist", "Look for the right name")
            elif isinstance(value, type) and not callable(getattr(value, node.attr, None)):
                hint = "Write it at the top of the file, outside of the class"
                self.report(node, f"reads the class attribute {ast.unparse(node)}", hint)
            elif isinstance(value, type):
                return True, getattr(value, node.attr)
        return False, None

    # --- calls -----------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> None:
        arguments = [*node.args, *[k.value for k in node.keywords]]
        for argument in arguments:
            self.visit(argument)
        shown = ast.unparse(node.func)
        found, value = self._resolve(node.func)
        if found:
            refused = forbidden_call(shown, value)
            if refused is not None:
                self.report(node, *refused)
            elif is_marked(value):
                self.work += self._follow(node, shown, value)
            elif value is range and len(node.args) == 3 and not _is_step(node.args[2]):
                hint = "Write the step as a number: of zero, the loop would never end"
                self.report(node, "counts in a step that is not known before", hint)
            else:
                self.work += work_of_call(value)
        elif isinstance(node.func, ast.Attribute):
            refused = forbidden_method(node.func.attr)
            if refused is not None:
                self.report(node, *refused)
                return
            self.visit(node.func.value)
            data = self.flow.data(node.func.value)
            if data is not None and node.func.attr in ("fill", "partition", "resize", "put", "itemset"):
                self.flow.require_writable(node, data)
        elif isinstance(node.func, ast.Name):
            if node.func.id in self.locals:
                self.report(node, f"calls the variable {shown}", "Call functions by their names")
        else:
            self.visit(node.func)
            self.report(node, f"calls {shown}", "Call functions by their names")

    def _follow(self, node: ast.Call, shown: str, marked: Any) -> Work:
        """A function marked @realtime is called: check it too if it is the user's, for these arguments."""
        function = python_function(marked)
        assert function is not None  # whatever is marked has a Python function
        file = function.__code__.co_filename
        if is_package_file(file) and file not in self.own_files:
            if any(data is not None and data.slot >= 0 for data in map(self.flow.data, node.args)):
                into = CheckedCode({}, counted=self.checked.counted, commands=self.checked.commands)
                self._check(node, function, into)
            return Work(PACKAGE_CALL_S)
        self.checked.helpers[f"{function.__module__}.{function.__qualname__}"] = marked
        if function in self.callers:
            self.report(node, f"calls {shown} recursively", "Write a loop with a bound")
            return Work()
        return self._check(node, function, self.checked)

    def _check(self, node: ast.Call, function: FunctionType, into: CheckedCode) -> Work:
        """Check a function that is called, for these arguments."""
        callee = source_of(function)
        given: dict[str, Data | None] = dict(zip(callee.parameters, map(self.flow.data, node.args), strict=False))
        given |= {k.arg: self.flow.data(k.value) for k in node.keywords if k.arg is not None}
        data = tuple(given.get(name) for name in callee.parameters)
        passed = dict(zip(callee.parameters, map(self.numbers.of, node.args), strict=False))
        passed |= {k.arg: self.numbers.of(k.value) for k in node.keywords if k.arg is not None}
        ranges = tuple(passed.get(name, ANYTHING) for name in callee.parameters)
        loops = replace(self.loops, given=ranges, around=self.around)
        return _FunctionCheck(callee, data, into, self.seen, self.own_files, self.callers, loops).run()


def _is_step(node: ast.expr) -> bool:
    """Whether an expression is a whole number other than zero."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value != 0
