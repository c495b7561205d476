"""What type checkers and editors tell users: rules are typed, and the README's programs are right."""

import json
import re
import subprocess
import sys
import typing
from pathlib import Path

import protocol as pb
import pytest
from google.protobuf.descriptor import FieldDescriptor

from tetrion import GarbageFields, RulesFields, ScoringFields

README = Path(__file__).parent.parent / "README.md"

MESSAGES = {RulesFields: pb.Rules, ScoringFields: pb.Scoring, GarbageFields: pb.Garbage}


def written(field):
    """The type of a field as a caller writes it, with the values of an enum in the order of the proto files."""
    if field.enum_type is not None:
        names = [value.name for value in field.enum_type.values]
        prefix = names[0].removesuffix("UNSPECIFIED")
        return typing.Literal[tuple(name.removeprefix(prefix).lower() for name in names[1:])]
    if field.message_type is not None:
        return next(fields for fields, message in MESSAGES.items() if message.DESCRIPTOR is field.message_type)
    kinds = {
        FieldDescriptor.CPPTYPE_UINT32: int,
        FieldDescriptor.CPPTYPE_DOUBLE: float,
        FieldDescriptor.CPPTYPE_BOOL: bool,
        FieldDescriptor.CPPTYPE_STRING: str,
    }
    kind = kinds[field.cpp_type]
    return typing.get_type_hints(ScoringFields)["lines"].__origin__[kind] if field.is_repeated else kind


@pytest.mark.parametrize("fields", MESSAGES)
def test_fields_by_name_are_those_of_the_message(fields):
    expected = {field.name: written(field) for field in MESSAGES[fields].DESCRIPTOR.fields}
    assert typing.get_type_hints(fields) == expected
    assert list(fields.__annotations__) == list(expected)


PROGRAM = """
import tetrion

client = tetrion.Client()
client.create_session(rules={"width": 6, "scoring": {"piece": 1.0}, "garbage": {"delay_pieces": 2}, "randomizer": "bag7"})
client.create_session(rules="lab")
rules: tetrion.RulesFields = {"piece_set": "melax", "hold": True}
client.evaluate("bcts", seeds=[1, 2], rules=rules).mean_lines.max()
tetrion.PlacementVectorEnv(4, rules=rules, features=["holes"]).action_masks().any()
next(tetrion.cem(client, rules=rules)).check.lines.mean
client.evaluate(tetrion.Policy("dt-10", search=tetrion.Search(lookahead=1)), seeds=[1]).summary.policies[0].lines.std
tetrion.cem(client, search=tetrion.Search()).run().mean()
width: int = client.create_session(rules=rules).rules.get("width", 0)
client.enumerate_placements(tetrion.Drawing([], "I"), rules=rules, cells=True).key_names(0)

client.create_session(rules={"widht": 6})  # wrong
client.create_session(rules={"width": "6"})  # wrong
client.create_session(rules={"randomizer": "bag"})  # wrong
client.create_session(rules={"scoring": {"pieces": 1.0}})  # wrong
client.evaluate("bcts", seed=[1])  # wrong
client.evaluate("bcts", seeds=[1], lookahead=1)  # wrong
tetrion.Policy(expectation={})  # wrong
tetrion.PlacementEnv(rules={"garbage": {"delays": 1}})  # wrong
client.enumerate_placements(tetrion.Drawing([], "I"), cell=True)  # wrong
tetrion.Client(patience="3")  # wrong
"""

CHECKERS = {
    "mypy": ["--strict", "--follow-imports=silent", "--disable-error-code=no-untyped-call"],
    "pyright": ["--level", "error", "--pythonpath", sys.executable],
}


# Libraries of some programs are not installed here; a program may use the last value of a loop that has some; an interval is
# None for a single game only; and the types of Gymnasium do not know what our environments return.
IGNORED = ["MissingImports", "PossiblyUnboundVariable", "OptionalMemberAccess", "OptionalOperand", "AttributeAccessIssue"]
SETTINGS = json.dumps({"typeCheckingMode": "standard", **{f"report{name}": False for name in IGNORED}})
# A line of the README that is wrong, to show the error.
KNOWN = 'client.create_session(rules={"randomizer": "bag"})'


def complaints(checker, folder, program):
    """The lines of a program that a checker refuses, and what it says."""
    pytest.importorskip(checker)
    (folder / "program.py").write_text(program)
    (folder / "pyrightconfig.json").write_text(SETTINGS)
    command = [sys.executable, "-m", checker, *CHECKERS[checker], "program.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return {int(line): words for line, words in re.findall(r"program\.py:(\d+)(?::\d+)?(?: -)?:? error: (.*)", done.stdout)}


@pytest.mark.parametrize("checker", CHECKERS)
def test_typos_are_found_and_nothing_else(checker, tmp_path):
    wrong = [number for number, line in enumerate(PROGRAM.splitlines(), start=1) if line.endswith("# wrong")]
    found = complaints(checker, tmp_path, PROGRAM)
    assert sorted(found) == wrong, found


def test_the_programs_of_the_readme_are_right(tmp_path):
    text = README.read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) > 10
    program = "\n".join(blocks)
    found = complaints("pyright", tmp_path, program)
    lines = {number: line.strip() for number, line in enumerate(program.splitlines(), start=1)}
    assert {lines[number]: words for number, words in found.items() if not lines[number].startswith(KNOWN)} == {}
