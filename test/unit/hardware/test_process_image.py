"""Who has an image: one driver, one executor, both may die."""

import signal
import subprocess
import sys
import textwrap
import uuid
from dataclasses import replace

import numpy as np
import pytest

from robot_rt_control.hardware.interfaces import standard_command_interfaces, standard_state_interfaces
from robot_rt_control.hardware.process_image import Manifest, ProcessImage
from robot_rt_control.memory.layout import IMAGE_LAYOUT, device_dtype
from robot_rt_control.memory.shared_memory import Segment, segment_path
from robot_rt_control.testing.devices import bench
from robot_rt_control.vocabulary.errors import ChannelError

INFO = bench()
MANIFEST = Manifest.of(INFO, standard_state_interfaces(INFO), standard_command_interfaces(INFO))


@pytest.fixture
def name():
    chosen = f"rrc_test_{uuid.uuid4().hex[:12]}"
    yield chosen
    segment_path(chosen).unlink(missing_ok=True)


@pytest.fixture
def image(name):
    made = ProcessImage.create(name, MANIFEST)
    yield made
    made.close()


def test_the_manifest_tells_what_the_numbers_mean(name, image):
    attached = ProcessImage.attach(name)
    assert attached.manifest == MANIFEST
    assert attached.manifest.state[0] == "arm/joint_1/position"
    assert attached.manifest.n_modes == 5
    device = np.zeros(1, device_dtype)[0]
    attached.connect_device(device)
    assert (device.n_state, device.n_command, device.n_parts) == (19, 10, 5)
    attached.close()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"device": "other"}, "device; expected 'other'; got 'bench'"),
        ({"state": ("arm/x",) + MANIFEST.state[1:]}, r"state\[0\]; expected 'arm/x'; got 'arm/joint_1/position'"),
        ({"command": MANIFEST.command[:-1]}, "length of command; expected 9; got 10"),
        ({"indices": (0, 1, 2, 3, 5)}, r"indices\[4\]; expected 5; got 4"),
    ],
)
def test_another_manifest_is_refused(name, image, change, text):
    with pytest.raises(ChannelError, match=text):
        ProcessImage.attach(name, replace(MANIFEST, **change))
    ProcessImage.attach(name, MANIFEST).close()


def test_a_second_driver_is_refused(name, image):
    with pytest.raises(ChannelError, match="is owned by a running process; expected one owner"):
        ProcessImage.create(name, MANIFEST)


def test_a_second_executor_is_refused_until_the_first_has_left(name, image):
    first = ProcessImage.attach(name)
    with pytest.raises(ChannelError, match="is attached already; expected one executor"):
        ProcessImage.attach(name)
    first.close()
    ProcessImage.attach(name).close()


def test_a_killed_executor_is_noticed(name, image):
    script = textwrap.dedent(
        """
        import sys, time
        from robot_rt_control.hardware.process_image import ProcessImage
        image = ProcessImage.attach(sys.argv[1])
        print("ready", flush=True)
        time.sleep(60)
        """
    )
    assert not image.executor_alive()
    with subprocess.Popen([sys.executable, "-c", script, name], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        assert image.executor_alive()
        process.kill()
    assert not image.executor_alive()


def test_attaching_disables_motion_and_mends_a_command_cut_in_half(name, image):
    image.record.command_enable = image.record.is_clock = 1
    image.record.command_sequence = 7
    attached = ProcessImage.attach(name)
    assert (image.record.command_enable, image.record.command_sequence) == (0, 8)
    assert image.record.is_clock == 0, "the driver does not wait for the answers of a loop that is gone"
    image.record.command_enable = 1
    attached.close()
    assert image.record.command_enable == 0


def test_another_layout_is_refused(name, image):
    image.record.layout = IMAGE_LAYOUT + 1
    with pytest.raises(ChannelError, match=f"has another layout; expected {IMAGE_LAYOUT:x}"):
        ProcessImage.attach(name)


def test_a_segment_of_another_kind_is_refused(name):
    segment = Segment.create(name, 1_000_000)
    with pytest.raises(ChannelError, match=f"process image '{name}': magic number; expected 0x5254494d41474531; got"):
        ProcessImage.attach(name)
    segment.close()


def test_a_killed_driver_is_noticed_and_its_image_replaced(name):
    script = textwrap.dedent(
        """
        import sys, time
        from robot_rt_control.hardware.process_image import Manifest, ProcessImage
        image = ProcessImage.create(sys.argv[1], Manifest.from_bytes(sys.argv[2].encode()))
        print("ready", flush=True)
        time.sleep(60)
        """
    )
    arguments = [sys.executable, "-c", script, name, MANIFEST.to_bytes().decode()]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE) as driver:
        assert driver.stdout is not None and driver.stdout.readline() == b"ready\n"
        attached = ProcessImage.attach(name, MANIFEST)
        assert attached.driver_alive()
        old_epoch = int(attached.record.epoch)
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        assert not attached.driver_alive()
        successor = ProcessImage.create(name, MANIFEST)
        again = ProcessImage.attach(name, MANIFEST)
        assert again.record.epoch > old_epoch
        again.close()
        attached.close()
        assert segment_path(name).exists(), "an executor does not remove the driver's image"
        successor.close()
        assert not segment_path(name).exists()
