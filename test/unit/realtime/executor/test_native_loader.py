"""The executor's side: native code by key, without compiling, and whatever could be wrong with it."""

import dataclasses
import hashlib
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from robot_rt_control.definitions import native_code
from robot_rt_control.definitions.action_type import parameter_dtype, state_dtype
from robot_rt_control.memory.layout import part_dtype
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.executor.native_loader import load
from robot_rt_control.realtime.tick.native_call import call_action
from robot_rt_control.server.builder.build import build
from robot_rt_control.server.code.source import load_action_type
from robot_rt_control.vocabulary.enums import Status
from robot_rt_control.vocabulary.errors import DefinitionError

ACTION = """
import math
from robot_rt_control.definitions.action_type import ActionType, Parameter, Slot
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import PartKind

TABLE = (1.0, 2.0, 3.0)


@realtime
def write(values, index, value):
    values[index] = value


class Two(ActionType):
    name = "two"
    slots = (Slot(name="arm", kinds=(PartKind.ARM,)), Slot(name="other", kinds=(PartKind.ARM,)))
    parameters = (Parameter(name="index", type="int"), Parameter(name="status", type="int"))
    State = {"values": (float, 4), "count": int}

    @staticmethod
    def on_enter(state, params, arm, other):
        state.values[params.index] = 10.0 * arm.dt + other.dt

    @staticmethod
    def sense(state, params, arm, other):
        write(state.values, params.index, math.sin(arm.dt))
        return 0

    @staticmethod
    def control(state, params, arm, other):
        state.count += 1
        if params.status != 0:
            return params.status
        other.position_command[params.index] = TABLE[params.index]
        other.command_mode = 1
"""


@realtime
def call(address, state, params, p0, p1):
    return call_action(address, state, params, p0, p1, 0, 0)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("action")
    (folder / "two.py").write_text(ACTION)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROBOT_RT_CONTROL_CACHE", str(folder / "cache"))
        yield build(f"{folder}/two.py:Two")


@pytest.fixture
def changed(built):
    """Stores the built code under another key, as an older version or another machine would have; gives the key."""

    def change(*, code=None, **fields):
        metadata, old = native_code.read(built.key)
        new = old if code is None else code
        key = hashlib.sha256(repr((fields, new)).encode()).hexdigest()
        metadata = dataclasses.replace(
            metadata, **{"key": key, "object_digest": hashlib.sha256(new).hexdigest(), **fields}
        )
        native_code.store(metadata, new)
        return key

    return change


class Memory:
    def __init__(self, built):
        action_type = load_action_type(built.spec).action_type
        self.state = np.zeros(1, state_dtype(action_type))
        self.params = np.zeros(1, parameter_dtype(action_type))
        self.parts = np.zeros(2, part_dtype)

    def call(self, address):
        first = self.parts.ctypes.data
        arguments = (self.state.ctypes.data, self.params.ctypes.data, first, first + part_dtype.itemsize)
        return call(address, *arguments)


def test_entries_with_several_slots_and_statuses(built):
    native, memory = load(built.key), Memory(built)
    assert native.set_parameters == 0, "the type does not define it"
    memory.parts["dt"] = [1.0, 2.0]
    memory.params["index"] = 2
    assert memory.call(native.on_enter) == 0
    assert memory.state["values"][0].tolist() == [0.0, 0.0, 12.0, 0.0]
    assert memory.call(native.control) == 0, "a path that returns nothing is well"
    assert memory.parts["position_command"][1][:4].tolist() == [0.0, 0.0, 3.0, 0.0]
    memory.params["status"] = 7
    assert memory.call(native.control) == 7
    memory.params["status"] = -40
    assert memory.call(native.control) == -40
    assert memory.state["count"][0] == 3


def test_an_index_out_of_range_is_status_bounds_also_in_functions_and_tables(built):
    native, memory = load(built.key), Memory(built)
    memory.params["index"] = 4
    assert memory.call(native.on_enter) == Status.BOUNDS
    assert memory.call(native.sense) == Status.BOUNDS, "checked in the user's own functions too"
    memory.params["index"] = 3
    assert memory.call(native.sense) == 0
    assert memory.call(native.control) == Status.BOUNDS, "TABLE has three elements"
    assert memory.state["values"][0][:3].tolist() == [0.0, 0.0, 0.0]


def test_loading_again_gives_the_same_code(built):
    assert load(built.key) is load(built.key)


def test_another_process_loads_without_compiling_or_importing_the_users_file(built):
    program = textwrap.dedent(
        """
        import sys
        import numba.core.dispatcher
        def refuse(*arguments):
            raise SystemExit("it compiled")
        numba.core.dispatcher.Dispatcher.compile = refuse
        from robot_rt_control.realtime.executor.native_loader import load
        native = load(sys.argv[1])
        assert not any("two" in name for name in sys.modules if name.startswith("action_file"))
        assert not any(name.startswith("robot_rt_control.server") for name in sys.modules)
        print(native.on_enter != 0, native.sense != 0, native.set_parameters, native.control != 0, native.n_slots)
        """
    )
    done = subprocess.run([sys.executable, "-c", program, built.key], capture_output=True, text=True, cwd=os.getcwd())
    assert done.stdout.split() == ["True", "True", "0", "True", "2"], done.stderr


def test_a_missing_key_is_told():
    with pytest.raises(DefinitionError, match="native code 0{64} is not in the cache; .*Build the action type again"):
        load("0" * 64)


def test_a_stale_layout_is_refused(changed):
    with pytest.raises(DefinitionError, match="of action type 'two': layout of the part record does not fit; expected"):
        load(changed(part_layout=12345))


def test_code_for_another_processor_is_refused(changed):
    with pytest.raises(DefinitionError, match="processor does not fit; expected .*; got other 0. Delete"):
        load(changed(processor="other 0"))


def test_another_format_is_refused(changed):
    with pytest.raises(DefinitionError, match=f"has another format; expected {native_code.FORMAT}; got 0"):
        load(changed(format=0))


def test_damaged_code_is_refused(changed):
    with pytest.raises(DefinitionError, match="machine code does not fit"):
        load(changed(object_digest="0" * 64))
    with pytest.raises(DefinitionError, match=r"not a 64-bit little-endian ELF object \(it begins with b'no obj'\)"):
        load(changed(code=b"no object"))


def test_damaged_metadata_is_refused(changed):
    key = changed(created_by="nobody")
    (native_code.folder_of(key) / native_code.METADATA_FILE).write_text("{")
    with pytest.raises(DefinitionError, match=r"metadata.json is damaged .*Delete .* and build it again"):
        load(key)


def test_a_folder_that_others_may_write_is_refused(changed):
    key = changed(created_by="somebody")
    native_code.folder_of(key).chmod(0o777)
    with pytest.raises(DefinitionError, match="could have been written by another user; .* mode 777"):
        load(key)


def test_unresolved_symbols_are_refused_instead_of_ending_the_process(built, changed):
    _, code = native_code.read(built.key)
    assert code.count(b"\0sin\0") == 1
    with pytest.raises(DefinitionError, match="calls functions that the executor does not have; got xyz. Delete"):
        load(changed(code=code.replace(b"\0sin\0", b"\0xyz\0")))


def test_missing_entries_are_refused(changed):
    with pytest.raises(DefinitionError, match="of action type 'two' lacks its entries; expected elsewhere"):
        load(changed(symbols={"control": "elsewhere"}))
