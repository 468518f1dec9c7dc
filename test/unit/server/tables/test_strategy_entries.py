"""Rows of strategies: adjacent, in the order of the actions, with their conditions one after the other."""

from __future__ import annotations

import numpy as np

from robot_rt_control.memory.layout import axis_dtype, instruction_dtype, strategy_dtype
from robot_rt_control.server.tables.strategy_entries import NO_INSTRUCTIONS, AxisEntry, StrategyEntry, write_strategies


def law(number: int, length: int, inputs: tuple[int, ...] = (), captures: tuple[int, ...] = ()) -> StrategyEntry:
    """With so many instructions; its other numbers tell it apart."""
    return StrategyEntry(
        type_index=number,
        parts=(number + 1,),
        parameter_offset=8 * number,
        parameter_size=16,
        state_offset=800 + 8 * number,
        state_size=24,
        inputs=inputs,
        captures=captures,
        instructions=np.zeros(length, instruction_dtype) if length else NO_INSTRUCTIONS,
    )


def test_rows_of_several_actions() -> None:
    x = AxisEntry(part=1, joint=4, state_offset=64, strategies=(law(1, 3, (72, -1)), law(2, 2), law(3, 0, (), (8, 9))))
    y = AxisEntry(part=1, joint=2, state_offset=128, record_offset=256, strategies=(law(4, 0),))
    z = AxisEntry(part=0, joint=0, state_offset=192, strategies=(law(5, 1), law(6, 0)))
    axes, strategies = np.zeros(8, axis_dtype), np.zeros(16, strategy_dtype)
    firsts, n = write_strategies([(7, (x, y)), (8, ()), (9, (z,))], 100, axes, strategies)
    assert firsts == [0, 2, 2] and n == 6
    rows = axes[:3]
    assert rows["action"].tolist() == [7, 7, 9] and rows["part"].tolist() == [1, 1, 0]
    assert rows["joint"].tolist() == [4, 2, 0] and rows["record_offset"].tolist() == [-1, 256, -1]
    assert rows["first_strategy"].tolist() == [0, 3, 4] and rows["n_strategies"].tolist() == [3, 1, 2]
    assert rows["state_offset"].tolist() == [64, 128, 192]
    laws = strategies[:6]
    assert laws["type"].tolist() == [1, 2, 3, 4, 5, 6]
    assert laws["n_instructions"].tolist() == [3, 2, 0, 0, 1, 0]
    assert laws["first_instruction"].tolist() == [100, 103, 0, 0, 105, 0]
    assert laws["parts"].tolist()[0] == [2, 0, 0]
    assert laws["n_inputs"].tolist() == [2, 0, 0, 0, 0, 0] and laws["inputs"][0].tolist() == [72, -1, 0, 0]
    assert laws["n_captures"].tolist() == [0, 0, 2, 0, 0, 0] and laws["captures"][2].tolist()[:3] == [8, 9, 0]
    assert laws["parameter_offset"].tolist() == [8, 16, 24, 32, 40, 48]
    assert laws["state_offset"].tolist() == [808, 816, 824, 832, 840, 848] and set(laws["state_size"]) == {24}
    assert not axes[3:].tobytes().strip(b"\0") and not strategies[6:].tobytes().strip(b"\0")
