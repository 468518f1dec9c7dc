"""Which PDOs a drive needs, and what an EDS file must offer for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from robot_rt_control.hardware.canopen.objects import COMMAND_RECORD, into_pdos, received, transmitted
from robot_rt_control.hardware.canopen.plan import DrivePlan, plan_drive
from robot_rt_control.model.workcell.canopen import CanopenDrive
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import HardwareError

EDS = Path(__file__).resolve().parents[4] / "config" / "eds" / "cia402_servo.eds"
ALL = (CommandMode.POSITION, CommandMode.VELOCITY, CommandMode.EFFORT)


@pytest.fixture
def plan(tmp_path: Path) -> Callable[..., DrivePlan]:
    """A plan of a drive whose EDS file has some lines replaced."""

    def make(*changes: tuple[str, str], modes: tuple = (ALL,), velocity: bool = True, **given: object) -> DrivePlan:
        text = EDS.read_text()
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "servo.eds").write_text(text)
        motors = [{"joint": f"arm.joint_{k + 1}", "counts": 4096} for k in range(len(modes))]
        drive = CanopenDrive.model_validate(
            {"name": "elbow", "node": 5, "eds": "servo.eds", "vendor": 1, "product": 2, "motors": motors, **given}
        )
        return plan_drive(drive, modes, tmp_path, velocity)

    return make


def test_objects_are_packed_into_few_pdos() -> None:
    assert [[m.field for m in pdo] for pdo in into_pdos(received(ALL))] == [
        ["position", "velocity"],
        ["controlword", "torque", "mode"],
    ]
    assert [[m.field for m in pdo] for pdo in into_pdos(received(ALL[:1]))] == [["position", "controlword"]]
    assert [[m.field for m in pdo] for pdo in into_pdos(transmitted(velocity=True))] == [
        ["position", "velocity"],
        ["statusword", "torque", "error", "mode"],
    ]
    assert [m.field for m in into_pdos(transmitted(velocity=False, error=False))[1]] == ["mode"]
    for modes in (ALL, ALL[:2], ALL[1:], ALL[2:]):
        pdos = into_pdos(received(modes))
        assert all(sum(m.size for m in pdo) <= 8 for pdo in pdos)
        assert sorted(m.field for pdo in pdos for m in pdo) == sorted(m.field for m in received(modes))
    assert COMMAND_RECORD.itemsize == 13


def test_pdos_have_the_predefined_cob_ids(plan: Callable[..., DrivePlan]) -> None:
    made = plan()
    assert [(hex(p.communication), hex(p.mapping), hex(p.cob_id), p.size) for p in (*made.rpdos, *made.tpdos)] == [
        ("0x1400", "0x1600", "0x205", 8),
        ("0x1401", "0x1601", "0x305", 5),
        ("0x1800", "0x1a00", "0x185", 8),
        ("0x1801", "0x1a01", "0x285", 7),
    ]


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("[607A]", "[2607]", "object 0x607A; expected an object that the plugin needs; got none"),
        ("[1017]", "[2017]", "object 0x1017; expected an object that the plugin needs; got none"),
        ("[1401", "[2401", "object 0x1401:01; expected an object that the plugin needs; got none"),
        ("[1601sub3]", "[2601]", "object 0x1601, mapping of an RPDO; expected room for 3 objects; got 2"),
        (
            "ParameterName=Target velocity\nObjectType=0x7\nDataType=0x0004",
            "ParameterName=Target velocity\nObjectType=0x7\nDataType=0x0003",
            "object 0x60FF; expected INTEGER32; got 16 bits",
        ),
        (
            "ParameterName=Torque actual value\nObjectType=0x7\nDataType=0x0003\nAccessType=ro\nPDOMapping=1",
            "ParameterName=Torque actual value\nObjectType=0x7\nDataType=0x0003\nAccessType=ro\nPDOMapping=0",
            "object 0x6077; expected one that can be mapped to a TPDO; got PDOMapping=0",
        ),
        (
            "ParameterName=Number of mapped objects\nObjectType=0x7\nDataType=0x0005\nAccessType=rw",
            "ParameterName=Number of mapped objects\nObjectType=0x7\nDataType=0x0005\nAccessType=const",
            "object 0x1600; expected access rw; got const",
        ),
    ],
)
def test_an_eds_file_that_does_not_fit_is_refused(
    plan: Callable[..., DrivePlan], old: str, new: str, text: str
) -> None:
    with pytest.raises(HardwareError) as refused:
        plan((old, new))
    assert str(refused.value) == f"drive 'elbow', EDS file 'servo.eds': {text}"


@pytest.mark.parametrize(
    ("old", "new"),
    [("[603F]", "[203F]"), ("AccessType=ro\nDefaultValue=0\nPDOMapping=1", "AccessType=ro\nPDOMapping=0")],
)
def test_D21_a_drive_without_an_error_code_that_can_be_mapped_is_taken_without(
    plan: Callable[..., DrivePlan], old: str, new: str
) -> None:
    assert [entry[0] for entry in plan((old, new)).tpdos[1].entries] == [0x6041, 0x6077, 0x6061]
    assert [entry[0] for entry in plan().tpdos[1].entries] == [0x6041, 0x6077, 0x603F, 0x6061]


def test_startup_objects_must_be_in_the_eds_file(plan: Callable[..., DrivePlan]) -> None:
    with pytest.raises(HardwareError, match="object 0x2100:03; expected an object that the plugin needs"):
        plan(startup=[{"object": "0x2100", "sub": 3, "value": 1}])
    with pytest.raises(HardwareError, match="object 0x6041; expected access rw; got ro"):
        plan(startup=[{"object": "0x6041", "value": 1}])


def test_a_file_that_is_no_eds_file_is_refused(plan: Callable[..., DrivePlan], tmp_path: Path) -> None:
    with pytest.raises(HardwareError, match="EDS file 'none.eds'; expected a file; got .*No such file"):
        plan(eds="none.eds")
    (tmp_path / "other.eds").write_text("not an EDS file")
    with pytest.raises(HardwareError, match="EDS file 'other.eds'; expected an EDS file as in CiA 306"):
        plan(eds="other.eds")


def test_the_motors_of_a_drive_have_their_own_objects_and_pdos(plan: Callable[..., DrivePlan]) -> None:
    one = (CommandMode.POSITION,)
    text = EDS.read_text()
    own = ["1400", "1600", "1800", "1801", "1A00", "1A01"]
    second = [part for part in text.split("\n[") if part[:2] == "60" and part[4] == "]" or part[:4] in own]
    moved = "\n[".join(f"{int(p[:4], 16) + (0x800 if p[0] == '6' else 0x40):04X}{p[4:]}" for p in second)
    modes = next(part for part in text.split("\n[") if part.startswith("6502"))
    both = plan(("[6502", f"[{moved}\n[6D02{modes[4:]}\n[6502"), modes=(one, one), velocity=False)
    assert [(hex(p.communication), hex(p.cob_id), p.motor) for p in both.rpdos] == [
        ("0x1400", "0x205", 0),
        ("0x1440", "0x305", 1),
    ]
    assert both.tpdos[2].entries == [(0x6864, 32), (0x6841, 16), (0x6877, 16)]
    assert both.tpdos[3].entries == [(0x683F, 16), (0x6861, 8)]
    with pytest.raises(HardwareError, match="object 0x1440:01; expected an object that the plugin needs"):
        plan(modes=(one, one), velocity=False)
    with pytest.raises(HardwareError, match="PDOs of 3 motors; expected at most 4 in each direction.*; got 6. Fewer"):
        plan(modes=(ALL, ALL, ALL))
