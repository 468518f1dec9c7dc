"""A module's digest: its code and that of what it imports, without what a compiler does not see."""

import importlib
import sys

import numpy as np
import pytest

from robot_rt_control.native import module_digest as module
from robot_rt_control.native.module_digest import is_installed, module_digest

MAIN = """'''Text.'''
from wares.inner import thing
from . import other

def f():
    '''More.'''
    return thing
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "wares"
    (folder / "inner").mkdir(parents=True)
    texts = {"__init__.py": "", "main.py": MAIN, "other.py": "B = 2\n", "lonely.py": "C = 3\n"}
    texts |= {"inner/__init__.py": "", "inner/thing.py": "from ..deep import A\n", "deep.py": "A = (1, 'a')\n"}
    for name, text in texts.items():
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.import_module("wares.main")
    yield folder
    for name in [n for n in sys.modules if n.partition(".")[0] == "wares"]:
        del sys.modules[name]


def _after(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    module._parsed.cache_clear()


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("main.py", "return thing", "return 1"),
        ("other.py", "B = 2", "B = 3"),
        ("inner/thing.py", "A", "A as Z"),
        ("deep.py", "(1, 'a')", "(1, 'b')"),
    ],
)
def test_an_edit_of_it_or_of_what_it_imports_counts(package, name, old, new):
    before = module_digest("wares.main")
    _after(package / name, old, new)
    assert module_digest("wares.main") != before


def test_imports_count_only_if_wanted(package):
    before = module_digest("wares.main", imports=False)
    _after(package / "deep.py", "(1, 'a')", "(1, 'b')")
    assert module_digest("wares.main", imports=False) == before


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("main.py", "'''Text.'''", "'''Another\n\ntext.'''"),
        ("main.py", "'''More.'''", "'''Less.'''  # or not"),
        ("main.py", "\n\ndef", "\n\n\n\n# why\ndef"),
        ("other.py", "B = 2", "'The first docstring.'\n\n\nB = 2\n'''Of B.'''"),
        ("lonely.py", "C = 3", "C = 4"),
    ],
)
def test_comments_docstrings_and_other_files_do_not_count(package, name, old, new):
    before = module_digest("wares.main")
    _after(package / name, old, new)
    assert module_digest("wares.main") == before


def test_only_python_source_files_have_one():
    assert module_digest("math") is None
    assert module_digest("never.imported") is None


def test_installed_is_what_belongs_to_python_or_a_package_but_not_this_one():
    assert is_installed(np.__file__)
    assert is_installed(importlib.__file__)
    assert not is_installed(module.__file__)
    assert not is_installed(__file__)
