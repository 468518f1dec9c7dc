"""The workcell: the content of a workcell file, read, checked and resolved."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from robot_rt_control.model.paths import find_workcell
from robot_rt_control.model.workcell import workcell_schema as schema
from robot_rt_control.model.workcell.canopen import CANOPEN, CanopenDrives
from robot_rt_control.model.workcell.controllers import ControllerDescription, read_controllers
from robot_rt_control.model.workcell.drives import DRIVES, Drives, drive_states, read_drives
from robot_rt_control.model.workcell.external import EXTERNAL as EXTERNAL
from robot_rt_control.model.workcell.external import External
from robot_rt_control.model.workcell.part_builder import PartBuilder
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.model.workcell.recovery import RecoveryDescription, read_recoveries
from robot_rt_control.model.workcell.robot_description import (
    frame_names,
    joint_frames,
    joint_state_names,
    robot_description,
)
from robot_rt_control.model.workcell.simulators import SIMULATORS, with_simulator
from robot_rt_control.model.workcell.tagged_devices import MOCK as MOCK
from robot_rt_control.model.workcell.tagged_devices import OWN_PLUGINS, TaggedDevices
from robot_rt_control.model.workcell.tools import with_sensors
from robot_rt_control.text.document import Document, Place
from robot_rt_control.text.mistakes import Mistakes
from robot_rt_control.text.schema import read
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError, unknown
from robot_rt_control.vocabulary.names import ROS2_CONTROL_DRIVER

TOPIC = "topic"
"""The plugin for ROS topics. A device with a configuration for it, but none for the chosen hardware, runs on it."""
COMPILED = (MOCK, DRIVES)
"""Plugins whose devices are computed in the loop, without a driver process."""
NOT_PYTHON = (*COMPILED, EXTERNAL)
"""Plugins that are no class in Python: no process of this package runs them as a driver."""


@dataclass(frozen=True, kw_only=True)
class DeviceDescription:
    """A device on the chosen plugin."""

    name: str
    index: int
    """Position in the workcell file, and in the world's `devices`."""
    plugin: str
    config: dict[str, Any]
    """The plugin's configuration, as in the file."""
    max_age_ticks: int | None
    """None: the plugin's default."""
    parts: tuple[str, ...]
    """The parts that the device serves, in the order of the file."""
    drives: Drives | None = None
    """Those of its plugin; on other hardware, such as mock, the first ones that are configured; None: none are."""
    world: dict[str, Any] | None = None
    """What simulators simulate, whatever the plugin is; None: the device is not simulated."""
    external: External | None = None
    """Its foreign driver, if that is its plugin."""
    control_tag: str | None = None
    """Name of the <ros2_control> tag that it is configured by."""

    @property
    def driver_command(self) -> tuple[str, ...]:
        """The command of its foreign driver; empty: it has none, or one that is started by hand."""
        if self.external is None or self.external.command is not None:
            return () if self.external is None else self.external.command or ()
        return (ROS2_CONTROL_DRIVER,) if self.control_tag else ()


@dataclass(frozen=True, kw_only=True)
class ActionTypeSource:
    """The source of user action types: a file, an importable module, or an entry point."""

    class_name: str = ""
    """Class name; empty: all types that the file or module defines."""
    path: Path | None = None
    module: str | None = None
    """Module, or the name of an entry point; then there is no class name."""

    @property
    def text(self) -> str:
        """The source as one text, with an absolute path."""
        place = str(self.path or self.module)
        return f"{place}:{self.class_name}" if self.class_name else place


@dataclass(frozen=True, kw_only=True)
class Workcell:
    """The result of `load_workcell`: all parts and devices, in the order of the file."""

    name: str
    path: Path
    period: float
    """[s]"""
    hardware: str
    """The chosen plugin; a device without a configuration for it may run on TOPIC."""
    parts: tuple[PartDescription, ...]
    devices: tuple[DeviceDescription, ...]
    action_types: tuple[ActionTypeSource, ...]
    fault_log: schema.FaultLog
    recordings: schema.Recordings
    overruns: schema.Overruns
    recoveries: Mapping[str, RecoveryDescription]
    """Part → its recovery after a fault; parts without a recovery program are omitted."""
    budget_policy: str
    """warn or fail: the response to an action that exceeds its time budget."""
    action_type_folders: tuple[Path, ...]
    """Folders below which clients may load action types."""
    trusted_native_code: tuple[Path, ...]
    """Folders whose C and C++ code of action types may run in the loop."""
    capabilities: tuple[Path, ...]
    """Files of Python functions for blueprints; one that is missing is listed as broken there."""
    allow_code_upload: bool
    """Whether clients may send the text of action types."""
    controllers: tuple[ControllerDescription, ...]
    """By which packages written for ros2_control command its parts."""
    clock_device: str | None
    """The device that the file names as the clock."""
    warnings: tuple[str, ...]
    """What its user should know: <ros2_control> tags that no device uses."""
    digest: int
    """63-bit digest of the file's and the URDFs' content, independent of the chosen hardware and the files' paths:
    two processes with the same digest have read the same workcell."""
    document: Document = field(repr=False, compare=False)
    """The file, for the lines in errors of what is checked later: by plugins."""

    def part(self, name: str) -> PartDescription:
        """The part with this name. Raises DefinitionError: there is no such part."""
        return _find("part", name, self.parts)

    def device(self, name: str) -> DeviceDescription:
        """The device with this name. Raises DefinitionError: there is no such device."""
        return _find("device", name, self.devices)

    def driving_device(self) -> DeviceDescription:
        """The device whose driver's cycle drives the loop with the clock `hardware`.

        Raises:
            DefinitionError: the named device has no driver of its own, or none is named and there is not exactly one.
        """
        drivers = {
            device.name: device
            for device in self.devices
            if device.plugin not in (*COMPILED, TOPIC) and (device.external is None or device.external.pace != "loop")
        }
        what = f"workcell {self.name!r}, clock:=hardware"
        if self.clock_device is not None:
            if self.clock_device not in drivers:
                plugin, external = self.device(self.clock_device).plugin, self.device(self.clock_device).external
                paced = "" if external is None else " with `pace: loop`"
                raise DefinitionError(
                    f"{what}: clock_device {self.clock_device!r}",
                    expected="a device with a driver that has a cycle of its own",
                    got=f"one on the plugin {plugin!r}{paced}",
                    hint="Choose other hardware, or clock:=realtime",
                )
            return drivers[self.clock_device]
        if len(drivers) != 1:
            raise DefinitionError(
                what,
                expected="one device with a driver, or clock_device in the workcell file",
                got=", ".join(drivers) or f"none on hardware {self.hardware!r}",
                hint="" if drivers else "Choose other hardware, or clock:=realtime",
            )
        return next(iter(drivers.values()))

    def with_tools(self, tools: Mapping[str, str]) -> Workcell:
        """The workcell with other tools on at the start. Its digest is that of the file.

        Args:
            tools: part → tool; other parts keep theirs.

        Raises:
            DefinitionError: there is no such part, or it has no such tool.
        """
        for name in tools:
            self.part(name)
        return replace(self, parts=tuple(p.with_tool(tools[p.name]) if p.name in tools else p for p in self.parts))

    def robot_description(self, tools: Mapping[str, str] = MappingProxyType({})) -> str:
        """One URDF for the ROS parameter robot_description; see robot_description.py.

        Args:
            tools: part → the tool that is on; those of other parts are those of the start.
        """
        return robot_description(self.name, self.with_tools(tools).parts)

    def joint_state_names(self) -> dict[str, tuple[str, ...]]:
        """Part → its joints' names in robot_description() and /joint_states."""
        return joint_state_names(self.parts)

    def frame_names(self) -> dict[str, str]:
        """Sensor or arm → the frame of its messages, or of its tool, in robot_description()."""
        return frame_names(self.parts)

    def joint_frames(self) -> dict[str, tuple[str, ...]]:
        """Part → the frame of each of its joints in robot_description(); empty: the joint is in no URDF."""
        return joint_frames(self.parts)


def _find(kind: str, name: str, items: Sequence[Any]) -> Any:
    for item in items:
        if item.name == name:
            return item
    raise DefinitionError(f"{kind} {name!r}", expected=unknown(kind, name, [item.name for item in items]))


def load_workcell(
    path: Path | str,
    hardware: str | None = None,
    *,
    simulator: str = "",
    start: Mapping[str, Sequence[float]] | None = None,
) -> Workcell:
    """Read a workcell file and everything that it names.

    Args:
        path: the YAML file, or the name of a workcell that comes with the package.
        hardware: the plugin for all devices; None: the file's default_hardware. A device with its own `plugin` runs
            on that plugin (unless MOCK is chosen). A device without a configuration for the chosen plugin, but with
            one for TOPIC, runs on TOPIC. Exceptions may follow: "pybullet,people=mock". SIMULATOR is one of SIMULATORS.
        simulator: which one; empty: the first that is installed.
        start: part → where its joints begin on simulated hardware [rad or m], in place of the file's start_position.

    Raises:
        DefinitionError: the file, or a URDF, is not valid; the message gives file, line and item.
        ProgramError: several such mistakes.
        CapacityError: more parts, devices, joints or interfaces than fit.
    """
    path = find_workcell(path).resolve()
    document = Document.load(path, max_bytes=capacities.MAX_WORKCELL_BYTES)
    content, found = read(schema.WorkcellFile, document)
    mistakes = Mistakes()
    mistakes.errors += [error for error, _ in found]
    mistakes.raise_all()
    assert content is not None  # otherwise there was a mistake
    _check_capacities(content, document.root)
    tagged = TaggedDevices(content.devices, document.root / "devices", mistakes)
    builder = PartBuilder(path.parent, content.gravity, content.period, tagged)
    parts, failed = [], set()
    for index, (name, part) in enumerate(content.parts.items()):
        if start and name in start:
            part = part.model_copy(update={"start_position": tuple(start[name])})
        place = document.root / "parts" / name
        with mistakes.collect():
            _check_device(part.device, content, place / "device")
            if getattr(part, "mounted_on", None) not in failed:  # otherwise that mistake comes first
                parts.append(builder.build(name, index, part, place))
                continue
        failed.add(name)
    with mistakes.collect():
        if content.clock_device is not None:
            _check_device(content.clock_device, content, document.root / "clock_device")
    action_types = []
    for i, text in enumerate(content.action_types):
        with mistakes.collect():
            action_types.append(_action_type(text, path.parent, document.root / "action_types" / i))
    recoveries = read_recoveries(content, document, path.parent, mistakes)
    if not failed:  # otherwise those mistakes come first
        content = content.model_copy(update={"devices": tagged.finish(parts, builder.urdfs.values())})
    mistakes.raise_all()
    _check_joints(parts, document.root / "parts")
    chosen = with_simulator(_default_hardware(content) if hardware is None else hardware, simulator)
    choice = _Choice(chosen, content.devices)
    drives = _drives(content, parts, choice, document, mistakes)
    externals = _externals(content, document, mistakes)
    parts = with_sensors(parts, document.root / "parts", mistakes)
    controllers = read_controllers(content.controllers, parts, document.root / "controllers", mistakes)
    mistakes.raise_all()
    return Workcell(
        name=content.name,
        path=path,
        period=content.period,
        hardware=chosen,
        parts=tuple(parts),
        devices=_devices(content, parts, drives, externals, choice, document.root / "devices", path.parent),
        action_types=tuple(action_types),
        fault_log=content.fault_log,
        recordings=content.recordings,
        overruns=content.overruns,
        recoveries=recoveries,
        budget_policy=content.budget_policy,
        action_type_folders=_beside(path, content.action_type_folders),
        trusted_native_code=_beside(path, content.trusted_native_code),
        capabilities=_beside(path, content.capabilities),
        allow_code_upload=content.allow_code_upload,
        controllers=controllers,
        clock_device=content.clock_device,
        warnings=tagged.unused(builder.urdfs.values()),
        digest=_digest(document, parts, builder),
        document=document,
    )


def _beside(path: Path, named: Sequence[str]) -> tuple[Path, ...]:
    """Files or folders that are named relative to a file's own folder."""
    return tuple((path.parent / Path(one).expanduser()).resolve() for one in named)


def _check_capacities(content: schema.WorkcellFile, root: Place) -> None:
    for key, count, name in (
        ("parts", len(content.parts), "MAX_PARTS"),
        ("devices", len(content.devices), "MAX_DEVICES"),
        ("parts", sum(len(getattr(part, "tools", None) or ()) for part in content.parts.values()), "MAX_TOOLS"),
    ):
        limit = getattr(capacities, name)
        if count > limit:
            raise CapacityError(str(root / key), expected=f"at most {name} = {limit}", got=str(count))


def _check_device(name: str, content: schema.WorkcellFile, place: Place) -> None:
    if name not in content.devices:
        raise DefinitionError(str(place), expected=unknown("device", name, content.devices), got=repr(name))


def _check_joints(parts: list[PartDescription], place: Place) -> None:
    """Check that each joint of a body belongs to one part only."""
    owners: dict[tuple[str, str], str] = {}
    for part in parts:
        body = part.name
        by_name = {p.name: p for p in parts}
        while (above := by_name[body].mounted_on) is not None:
            body = above
        for joint in part.joint_names:
            owner = owners.setdefault((body, joint), part.name)
            if owner != part.name:
                raise DefinitionError(
                    f"{place / part.name}, joint {joint!r}",
                    expected="a joint of no other part",
                    got=f"one that is already part of {owner!r}",
                )


def _default_hardware(content: schema.WorkcellFile) -> str:
    """The plugin if none is chosen. Without one in the file, devices with a <ros2_control> tag run on the tag's."""
    if "default_hardware" in content.model_fields_set:
        return content.default_hardware
    tagged = [f"{n}={d.plugin}" for n, d in content.devices.items() if d.ros2_control and d.plugin != MOCK]
    return ",".join([content.default_hardware, *tagged])


class _Choice:
    """The plugin of each device: "pybullet", or with exceptions "pybullet,people=mock"."""

    def __init__(self, text: str, devices: Mapping[str, schema.Device]) -> None:
        self._devices = devices
        self._general, *rest = (word.strip() for word in text.split(","))
        self._exceptions = {}
        for word in rest:
            name, equals, plugin = word.partition("=")
            if not equals or not plugin:
                raise DefinitionError(f"hardware {text!r}", expected="plugin,device=plugin,…", got=repr(word))
            if name not in devices:
                raise DefinitionError(
                    f"hardware {text!r}: device {name!r}", expected=unknown("device", name, devices), got=repr(name)
                )
            self._exceptions[name] = plugin

    def plugin(self, name: str, place: Place) -> str:
        """The plugin of this device."""
        device = self._devices[name]
        wanted = self._exceptions.get(name) or self._usual(device)
        if wanted in device.plugins or wanted == MOCK:
            return wanted
        if ":" not in wanted and wanted not in OWN_PLUGINS:
            known = unknown("plugin", wanted, {*OWN_PLUGINS, *device.plugins})
            raise DefinitionError(
                f"{place}: hardware {wanted!r}", expected=f"{known}; or package.module:Class, or file.py:Class"
            )
        raise DefinitionError(
            str(place),
            expected=f"a configuration for the hardware {wanted!r}, possibly an empty one",
            got=", ".join(sorted(device.plugins)) or "none",
            hint=f"Add `{wanted}: {{}}` to the device, or choose other hardware",
        )

    def _usual(self, device: schema.Device) -> str:
        if device.plugin is not None and self._general != MOCK:
            return device.plugin
        return TOPIC if self._general not in device.plugins and TOPIC in device.plugins else self._general


def _drives(
    content: schema.WorkcellFile,
    parts: list[PartDescription],
    choice: _Choice,
    document: Document,
    mistakes: Mistakes,
) -> dict[str, Drives]:
    """Device → its drives. Their parts get what these report."""
    found = {}
    for name, device in content.devices.items():
        own = [part for part in parts if part.device == name]
        read = {
            plugin: read_drives(document.part("devices", name, plugin), own, mistakes, plugin_schema)
            for plugin, plugin_schema in ((DRIVES, Drives), (CANOPEN, CanopenDrives))
            if plugin in device.plugins
        }
        if not read:
            continue
        drives = read.get(choice.plugin(name, document.root / "devices" / name), next(iter(read.values())))
        if drives is not None:
            found[name] = drives
            for part in own:
                states, motors = drive_states(part, drives), drives.motor_names(part)
                parts[part.index] = replace(part, drive_states=states, motor_names=motors)
    return found


def _externals(content: schema.WorkcellFile, document: Document, mistakes: Mistakes) -> dict[str, External]:
    """Device → its foreign driver, of those that have a configuration for one."""
    found = {}
    for name, device in content.devices.items():
        if EXTERNAL in device.plugins:
            written = EXTERNAL in document.data["devices"][name]  # else its tag has chosen the plugin
            external, wrong = read(External, document.part("devices", name, EXTERNAL)) if written else (External(), [])
            mistakes.errors += [error for error, _ in wrong]
            if external is not None:
                found[name] = external
    return found


def _devices(
    content: schema.WorkcellFile,
    parts: list[PartDescription],
    drives: Mapping[str, Drives],
    externals: Mapping[str, External],
    choice: _Choice,
    place: Place,
    folder: Path,
) -> tuple[DeviceDescription, ...]:
    found = []
    for index, (name, device) in enumerate(content.devices.items()):
        plugin = choice.plugin(name, place / name)
        own = tuple(part for part in parts if part.device == name)
        for kind in ("state", "command"):
            count = sum(len(getattr(part, f"{kind}_interfaces")) for part in own)
            if count > capacities.MAX_DEVICE_INTERFACES:
                raise CapacityError(
                    str(place / name),
                    expected=f"at most MAX_DEVICE_INTERFACES = {capacities.MAX_DEVICE_INTERFACES} {kind} interfaces",
                    got=str(count),
                )
        found.append(
            DeviceDescription(
                name=name,
                index=index,
                plugin=_plugin_path(plugin, folder),
                config=copy.deepcopy(_config(device, plugin)),
                world=copy.deepcopy(device.world),
                max_age_ticks=device.max_age_ticks,
                parts=tuple(part.name for part in own),
                drives=drives.get(name),
                external=externals[name] if plugin == EXTERNAL else None,
                control_tag=device.ros2_control,
            )
        )
    return tuple(found)


def _config(device: schema.Device, plugin: str) -> dict[str, Any]:
    config = device.plugins.get(plugin, {})
    return {**config, "world": device.world} if plugin in SIMULATORS and device.world is not None else config


def _plugin_path(plugin: str, folder: Path) -> str:
    """Resolve the path of a plugin in a file relative to the workcell file's folder."""
    file, colon, class_name = plugin.rpartition(":")
    return f"{(folder / file).resolve()}:{class_name}" if colon and file.endswith(".py") else plugin


def _action_type(text: str, folder: Path, place: Place) -> ActionTypeSource:
    source, separator, class_name = text.rpartition(":")
    if not separator:
        source, class_name = text, ""
    words = source.split(".") if not source.endswith(".py") else []
    if separator:
        words.append(class_name)
    if not all(word.isidentifier() for word in words):
        raise DefinitionError(
            str(place),
            expected="file.py, file.py:ClassName, package.module:ClassName, or the name of an entry point",
            got=repr(text),
        )
    if not source.endswith(".py"):
        return ActionTypeSource(module=source, class_name=class_name)
    path = (folder / source).resolve()
    if not path.is_file():
        raise DefinitionError(str(place), expected="a Python file", got=f"nothing at {path}")
    return ActionTypeSource(path=path, class_name=class_name)


def _digest(document: Document, parts: list[PartDescription], builder: PartBuilder) -> int:
    """Digest of the file's content, of the values resolved from it (defaults, limits, chains), and of the URDFs."""
    digest = hashlib.sha256(json.dumps(document.data).encode())
    for part in parts:
        digest.update(part.initial_record.tobytes() + part.system_limits.tobytes())
        urdf = builder.urdfs.get(part.name)
        if urdf is not None:
            digest.update(urdf.content)
    return int.from_bytes(digest.digest()[:8], "little") >> 1
