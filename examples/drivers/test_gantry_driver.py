"""The gantry's driver keeps the contract of all drivers, against its controller: `python -m pytest`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gantry_controller import GantryController
from gantry_driver import GantryDriver

from robot_rt_control.testing.plugin_contract import ContractDevice, PluginContract, info_of

WORKCELL = Path(__file__).parent / "gantry.yaml"


class TestGantryDriver(PluginContract):
    """Its methods come from PluginContract; add those of your device."""

    @contextmanager
    def device(self) -> Iterator[ContractDevice]:
        with GantryController() as controller:
            yield ContractDevice(
                plugin=GantryDriver,
                info=info_of(WORKCELL, "controller", port=controller.port),
                silence=controller.unplug,
                restore=controller.plug,
            )
