"""Records: their fields are their attributes whatever they are called, in Python as in compiled code."""

import ctypes
import pickle

import numba
import numpy as np
import pytest

from robot_rt_control.memory.layout import Record, offset_of, record

INNER = record([("device", "i8"), ("flags", "i4")])
AWKWARD = record([("size", "f8"), ("mean", "f8", (3,)), ("base", INNER), ("T", INNER, (2,))])


@pytest.fixture
def awkward():
    return np.zeros(2, AWKWARD)


def write(r):
    r.size = 5.0
    r.mean[1] = 0.5
    r.base.device = 7
    r.T[1].flags = 3


def read(r):
    return r.size + 10.0 * r.mean[1] + 100.0 * r.base.device + 1000.0 * r.T[1].flags


def test_fields_come_before_attributes_of_numpy(awkward):
    write(awkward[1])
    assert awkward["size"].tolist() == [0.0, 5.0]
    assert awkward["mean"][1].tolist() == [0.0, 0.5, 0.0]
    assert awkward["base"]["device"].tolist() == [0, 7]
    assert awkward["T"]["flags"].tolist() == [[0, 0], [0, 3]]
    assert read(awkward[1]) == 3710.0


def test_compiled_code_sees_the_same(awkward):
    numba.njit(write)(awkward[0])
    write(awkward[1])
    assert awkward[0].tobytes() == awkward[1].tobytes()
    assert numba.njit(read)(awkward[0]) == read(awkward[0]) == 3710.0


def test_nested_records_are_views(awkward):
    awkward[0].base.device = awkward[0].T[1].device = 9
    assert awkward["base"]["device"].tolist() == [9, 0]
    assert awkward["T"]["device"].tolist() == [[0, 9], [0, 0]]
    assert type(awkward[0].base) is Record
    assert type(awkward[0].T[1]) is Record


def test_what_is_no_field_cannot_be_set(awkward):
    with pytest.raises(AttributeError, match=r"the record has no field 'sise'; it has: size, mean, base, T"):
        awkward[0].sise = 1.0


def test_no_field_may_be_called_dtype():
    with pytest.raises(ValueError, match="a field of a record may not be called 'dtype'; call it something else"):
        record([("dtype", "f8")])


def test_records_survive_pickling(awkward):
    write(awkward[0])
    assert pickle.loads(pickle.dumps(awkward)).tobytes() == awkward.tobytes()


def test_offset_of_is_where_the_field_lies(awkward):
    write(awkward[1])
    address = awkward.ctypes.data + AWKWARD.itemsize + offset_of(AWKWARD, "T", 1, "flags")
    assert ctypes.c_int32.from_address(address).value == 3
    with pytest.raises(IndexError, match=r"\[2\]: the array has 2 elements"):
        offset_of(AWKWARD, "T", 2)
    with pytest.raises(KeyError, match="'x': not a record"):
        offset_of(AWKWARD, "size", "x")


def test_data_is_the_memory_of_the_record_and_describes_no_fields(awkward):
    for r, expected in ((awkward[1], awkward[1:]), (awkward[1].base, awkward["base"][1:])):
        assert (r.data.format, r.data.nbytes) == ("B", r.dtype.itemsize)
        assert np.frombuffer(r.data, np.uint8).ctypes.data == expected.ctypes.data
