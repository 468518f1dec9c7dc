"""What the tables hold of strategies: degrees of freedom of an action, and for each its laws with their conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_rt_control.memory.layout import axis_dtype, instruction_dtype, strategy_dtype


@dataclass(frozen=True, kw_only=True, eq=False)
class StrategyEntry:
    """One strategy."""

    type_index: int
    parts: tuple[int, ...]
    """Parts that the law reads."""
    parameter_offset: int
    parameter_size: int
    state_offset: int
    state_size: int
    inputs: tuple[int, ...]
    """Offset of the state variable of each input in the world [bytes]; -1: not bound."""
    captures: tuple[int, ...]
    """Offset of each state variable that its event carries in the world [bytes]."""
    instructions: np.ndarray
    """Instructions of its condition; none for the last one of its list."""
    gravity: bool = False
    """Whether its law may need the efforts against gravity."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AxisEntry:
    """One degree of freedom, with its strategies in order of priority."""

    part: int
    joint: int
    state_offset: int
    """Offset of its `layout.governed_dtype` in the state arena."""
    strategies: tuple[StrategyEntry, ...]
    record_offset: int = -1
    """Offset of its `layout.degree_dtype` in the state arena, if the action's type declares it."""


NO_INSTRUCTIONS = np.zeros(0, instruction_dtype)


def write_strategies(
    actions: Sequence[tuple[int, Sequence[AxisEntry]]], first_instruction: int, axes: np.ndarray, strategies: np.ndarray
) -> tuple[list[int], int]:
    """Write all degrees of freedom and strategies.

    Args:
        actions: slot of each action, and its degrees of freedom.
        first_instruction: place of the first instruction of their conditions.
        axes: of `layout.axis_dtype`.
        strategies: of `layout.strategy_dtype`.

    Returns:
        Number of each action's first degree of freedom, and the number of strategies.
    """
    firsts, n_axes, n = [], 0, 0
    for slot, given in actions:
        firsts.append(n_axes)
        for axis in given:
            row = np.zeros(1, axis_dtype)[0]
            row["action"], row["part"], row["joint"] = slot, axis.part, axis.joint
            row["first_strategy"], row["n_strategies"] = n, len(axis.strategies)
            row["state_offset"], row["record_offset"] = axis.state_offset, axis.record_offset
            for strategy in axis.strategies:
                strategies[n] = _row(strategy, first_instruction)
                first_instruction += len(strategy.instructions)
                n += 1
            axes[n_axes] = row
            n_axes += 1
    return firsts, n


def _row(strategy: StrategyEntry, first_instruction: int) -> np.void:
    row: np.void = np.zeros(1, strategy_dtype)[0]
    row["type"] = strategy.type_index
    row["parts"][: len(strategy.parts)] = strategy.parts
    row["gravity"] = strategy.gravity
    for name in ("inputs", "captures"):
        offsets = getattr(strategy, name)
        row[f"n_{name}"] = len(offsets)
        row[name][: len(offsets)] = offsets
    row["n_instructions"] = len(strategy.instructions)
    row["first_instruction"] = first_instruction if len(strategy.instructions) else 0
    for name in ("parameter_offset", "parameter_size", "state_offset", "state_size"):
        row[name] = getattr(strategy, name)
    return row
