"""Reading and writing an image: whole or not at all, also while another process writes."""

import subprocess
import sys
import textwrap
import time
import uuid

import numpy as np
import pytest

from robot_rt_control.hardware.image import publish_state, read_state, take_command, write_command
from robot_rt_control.hardware.process_image import Manifest, ProcessImage
from robot_rt_control.memory.atomics import address_of, copy_words
from robot_rt_control.memory.layout import device_dtype
from robot_rt_control.native.realtime_code import realtime

N = 200
MANIFEST = Manifest(
    device="device",
    parts=("a", "b"),
    indices=(0, 3),
    state=tuple(f"a/s{i}" for i in range(N)),
    command=("a/c0", "a/c1"),
)


@pytest.fixture
def sides():
    """A private image with the loop's side (device) and the driver's side."""
    image = ProcessImage.private(MANIFEST)
    device = np.zeros(1, device_dtype)[0]
    image.connect_device(device)
    return image, device, image.new_driver_side()


def test_before_the_first_publication_there_is_nothing_and_all_is_unknown(sides):
    image, device, _ = sides
    assert read_state(image.address, device) == 0
    assert np.isnan(device.state).all()


def test_a_publication_is_read_once(sides):
    image, device, driver = sides
    driver.state[:3] = (1.0, 2.0, 3.0)
    publish_state(image.address, driver)
    assert read_state(image.address, device) == 1
    assert device.state[:3].tolist() == [1.0, 2.0, 3.0]
    assert read_state(image.address, device) == 0
    publish_state(image.address, driver)
    assert read_state(image.address, device) == 1


def test_an_error_is_reported_and_the_state_is_new_all_the_same(sides):
    image, device, driver = sides
    driver.error = 5
    driver.state[0] = 4.0
    publish_state(image.address, driver)
    assert read_state(image.address, device) == -1
    assert device.state[0] == 4.0
    assert read_state(image.address, device) == -1
    assert image.record.state_error == 5
    driver.error = 0
    publish_state(image.address, driver)
    assert read_state(image.address, device) == 1


def test_a_writer_that_stopped_halfway_leaves_the_last_whole_state(sides):
    image, device, driver = sides
    driver.state[0] = 1.0
    publish_state(image.address, driver)
    assert read_state(image.address, device) == 1
    image.record.state_sequence += 1
    image.record.state_cycle += 1
    image.record.state[0] = 99.0
    assert read_state(image.address, device) == 0
    assert device.state[0] == 1.0


def test_commands_modes_and_enable_arrive_together(sides):
    image, device, driver = sides
    assert take_command(image.address, driver) == 0
    device.command[:2] = (0.5, -0.5)
    device.mode[[0, 3]] = (1, 2)
    device.enabled = 1
    write_command(image.address, device)
    assert take_command(image.address, driver) == 1
    assert driver.command[:2].tolist() == [0.5, -0.5]
    assert driver.mode[:4].tolist() == [1, 0, 0, 2]
    assert driver.enable == 1
    assert take_command(image.address, driver) == 0
    assert image.record.command_cycle == 1


def test_only_what_is_in_use_is_copied(sides):
    image, device, driver = sides
    device.command[2] = 7.0
    write_command(image.address, device)
    take_command(image.address, driver)
    assert image.record.command[2] == driver.command[2] == 0.0


WRITER = textwrap.dedent(
    """
    import select, sys
    from robot_rt_control.hardware.image import publish_state
    from robot_rt_control.hardware.process_image import Manifest, ProcessImage
    from robot_rt_control.memory.atomics import load_acquire
    from robot_rt_control.native.realtime_code import realtime

    @realtime
    def publish_many(address, driver, first, count):
        for k in range(first, first + count):
            for i in range(driver.n_state):
                driver.state[i] = k
            publish_state(address, driver)
            for _ in range(2000):  # leave the reader a chance
                load_acquire(address)

    manifest = Manifest.from_bytes(sys.argv[2].encode())
    image = ProcessImage.create(sys.argv[1], manifest)
    driver = image.new_driver_side()
    publish_many(image.address, driver, 0, 1)
    print("ready", flush=True)
    k = 1
    while not select.select([sys.stdin], [], [], 0.0)[0]:
        publish_many(image.address, driver, k, 1000)
        k += 1000
    image.close()
    """
)


@realtime
def read_many(address, device, count):
    """Counts (new states, torn states among them)."""
    new = 0
    torn = 0
    for _ in range(count):
        if read_state(address, device) == 1:
            new += 1
            for i in range(1, device.n_state):
                if device.state[i] != device.state[0]:
                    torn += 1
                    break
    return new, torn


@realtime
def copy_many(source, device, count):
    """Counts torn copies made without the lock: how often this test would fail without it."""
    torn = 0
    for _ in range(count):
        copy_words(address_of(device.incoming), source, device.n_state)
        for i in range(1, device.n_state):
            if device.incoming[i] != device.incoming[0]:
                torn += 1
                break
    return torn


@pytest.mark.long
def test_torn_reads_are_never_observed(tmp_path):
    script, name = tmp_path / "writer.py", f"rrc_test_{uuid.uuid4().hex[:12]}"
    script.write_text(WRITER)
    here = ProcessImage.private(MANIFEST)  # to compile before the clock runs
    device = np.zeros(1, device_dtype)[0]
    here.connect_device(device)
    assert read_many(here.address, device, 1) == (0, 0)
    copy_many(here.address, device, 1)
    arguments = [sys.executable, str(script), name, MANIFEST.to_bytes().decode()]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None and writer.stdout.readline() == b"ready\n"
        image = ProcessImage.attach(name, MANIFEST)
        image.connect_device(device)
        states = address_of(image.record.state)
        new, torn, torn_without_lock = 0, 0, 0
        given_up = time.monotonic() + 60.0
        while (new < 2000 or torn_without_lock < 20) and time.monotonic() < given_up:
            found = read_many(image.address, device, 2000)
            new, torn = new + found[0], torn + found[1]
            torn_without_lock += copy_many(states, device, 200)
        image.close()
        writer.stdin.close()
    assert writer.returncode == 0
    assert torn == 0
    assert new > 20
    assert torn_without_lock > 0, "the writer never wrote while the reader read: nothing was tested"
