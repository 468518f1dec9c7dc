"""Which simulator runs a workcell that says `simulator`: the world is the same for each of them."""

from __future__ import annotations

import importlib.util
import os

from robot_rt_control.vocabulary.errors import DefinitionError, unknown

SIMULATOR = "simulator"
"""In the place of a plugin: one of the simulators."""
SIMULATORS = ("pybullet", "mujoco")
"""Plugins that simulate the `world` of a device; the first one that is installed is the default."""
VARIABLE = "ROBOT_RT_CONTROL_SIMULATOR"


def installed_simulators() -> tuple[str, ...]:
    """Names of the simulators that are installed, in the order of SIMULATORS."""
    return tuple(name for name in SIMULATORS if importlib.util.find_spec(name) is not None)


def default_simulator() -> str:
    """The simulator that `simulator` means if none is chosen: that of $ROBOT_RT_CONTROL_SIMULATOR, else the first one
    that is installed.

    Raises:
        DefinitionError: none is installed, or the variable names none.
    """
    if chosen := os.environ.get(VARIABLE, ""):
        if chosen not in SIMULATORS:
            raise DefinitionError(f"${VARIABLE}", expected=unknown("simulator", chosen, SIMULATORS), got=repr(chosen))
        return chosen
    if installed := installed_simulators():
        return installed[0]
    expected = "one of these Python packages to be installed: " + ", ".join(SIMULATORS)
    raise DefinitionError("simulator", expected=expected, got="none", hint="pip install mujoco")


def with_simulator(hardware: str, simulator: str) -> str:
    """`hardware` with the word `simulator` replaced by that simulator's name.

    Args:
        hardware: a plugin, possibly with exceptions: "simulator,people=mock".
        simulator: its name; empty: the default one, if there is such a word.

    Raises:
        DefinitionError: there is no such simulator, it is chosen and simulates nothing, or none is installed.
    """
    if simulator and simulator not in SIMULATORS:
        raise DefinitionError("simulator", expected=unknown("simulator", simulator, SIMULATORS), got=repr(simulator))
    words = [word.strip().rpartition("=") for word in hardware.split(",")]
    plugins = {plugin for _, _, plugin in words}
    if simulator and not plugins & {SIMULATOR, simulator}:
        raise DefinitionError(
            f"simulator {simulator!r}", expected="hardware that is simulated by it", got=f"hardware {hardware!r}",
            hint=f"Choose the hardware {SIMULATOR!r} as well",
        )  # fmt: skip
    if SIMULATOR not in plugins:
        return hardware
    chosen = simulator or default_simulator()
    return ",".join(name + equals + (chosen if plugin == SIMULATOR else plugin) for name, equals, plugin in words)
