import pytest

from robot_rt_control.model.yaml_source import read_yaml
from robot_rt_control.vocabulary.errors import DefinitionError


def _read(tmp_path, text):
    path = tmp_path / "cell.yaml"
    path.write_text(text)
    return read_yaml(path)


def test_values_and_lines(tmp_path):
    document = _read(tmp_path, "a: 1e-3\nb:\n  - on\n  - {c: 5}\n  - '5'\nd: null\n")
    assert document.data == {"a": 0.001, "b": ["on", {"c": 5}, "5"], "d": None}
    assert str(document.root / "a") == f"{document.path}:1: a"
    assert str(document.root / "b" / 1 / "c") == f"{document.path}:4: b[1].c"
    assert str(document.root / "d" / "missing") == f"{document.path}:6: d.missing"
    assert str(document.root) == f"{document.path}:1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", "cell.yaml:3: the document: key 'a' is given twice"),
        ("a:\n  b: 1\n  b: 2\n", "cell.yaml:3: a: key 'b' is given twice"),
        ("a: [1\n", "not valid YAML"),
        ("", "the document is empty"),
        ("a: &x [*x]\n", "nested too deeply; expected at most 50 levels"),
    ],
)
def test_refusals(tmp_path, text, message):
    with pytest.raises(DefinitionError) as error:
        _read(tmp_path, text)
    assert message in str(error.value)


def test_missing_file(tmp_path):
    with pytest.raises(DefinitionError, match="expected a readable UTF-8 file; got .*No such file"):
        read_yaml(tmp_path / "none.yaml")
