"""Step 7, write: the parts' last commands into the devices' command images, only where motion is enabled."""

import math

from robot_rt_control.hardware.drives.bus_exchange import REPORTED
from robot_rt_control.hardware.image import write_command
from robot_rt_control.memory.atomics import address_of, load_relaxed
from robot_rt_control.memory.drive_layout import drives_at
from robot_rt_control.memory.layout import link_dtype, offset_of, world_dtype
from robot_rt_control.memory.plain_access import load_f8, store_f8
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.border import hold_border, note_left
from robot_rt_control.realtime.tick.outputs import are_outputs_settling
from robot_rt_control.realtime.tick.parts import has_efforts_alone, has_rested, takes_commands
from robot_rt_control.realtime.tick.read_step import link_at
from robot_rt_control.vocabulary.enums import OperationalState

_ENABLED = int(OperationalState.ENABLED)
_WRITES = offset_of(world_dtype, "writes")
_LINK_SIZE = link_dtype.itemsize


@realtime
def _is_written(w, p):
    """Whether the part's command leaves: motion is enabled, or the part still brakes or goes to its safe outputs."""
    part = w.parts[p]
    if not takes_commands(part):
        return False  # enabled as it is, it must not keep up its device's enable
    return w.parts_runtime[p].state == _ENABLED or _is_braking(w, p) or are_outputs_settling(w, p)


@realtime
def _is_braking(w, p):
    """Whether a part that is not enabled has still to be brought to rest.

    With effort mode alone it is braked without a pause: once at rest it gets no more efforts, whoever moves it.
    """
    part, efforts = w.parts[p], has_efforts_alone(w, p)
    if efforts and (w.parts_runtime[p].written == 0 or has_rested(w, p)):
        return False
    for j in range(part.dof):
        if math.isfinite(part.velocity[j]) if efforts else part.commanded_velocity[j] != 0.0:
            return True
    return False


@realtime
def _is_being_enabled(pr, drives):
    """From the tick after the command on: in the first one, an error that was not cleared ends the enabling."""
    return drives.network == REPORTED and 0 < pr.enabling < drives.enable_ticks


@realtime
def write(w, ch):
    """Write the commands of all parts that may move, then hand each command image over as a whole."""
    for d in range(w.n_devices):
        w.devices[d].enabled = 0
    for p in range(w.n_parts):
        pr = w.parts_runtime[p]
        written = _is_written(w, p)
        if written and w.parts[p].dof > 0:
            hold_border(w, ch, p)
            written = _is_written(w, p)
        note_left(w, p, written)
        pr.written = written
        dev = w.devices[pr.device]
        dev.mode[p] = pr.last_modes if written else 0
        if dev.drives != 0 and _is_being_enabled(pr, drives_at(dev.drives)):
            # A driver process enables motors that have a mode, where they are.
            pr.written = written = True
            dev.mode[p] = drives_at(dev.drives).holding_modes[p]
        if written:
            dev.enabled = 1
    base = address_of(w)
    links = base + _WRITES
    for address in range(links, links + w.n_writes * _LINK_SIZE, _LINK_SIZE):
        link = link_at(address)
        if load_relaxed(base + int(link.written)) != 0:
            store_f8(base + link.place, load_f8(base + link.offset))
    for d in range(w.n_devices):
        dev = w.devices[d]
        if dev.image != 0:
            write_command(dev.image, dev)
