"""Messages of the protocol: what their attributes say, and that protobuf's own library reads and writes the same bytes."""

import copy
import pickle
import random

import protocol
import pytest

import tetrion
from tetrion._pb import messages as pb

KINDS = [name for name in protocol.CLASSES if name.startswith("tetrion.v1.")]


def filled(message, dice, depth=0):
    """Fills a message of protobuf's library at random."""
    for field in message.DESCRIPTOR.fields:
        if dice.random() < 0.3:
            continue
        if field.message_type is not None:
            if depth < 4 and field.message_type.file.package == "tetrion.v1":
                for _ in range(dice.randrange(1, 4) if field.is_repeated else 1):
                    part = getattr(message, field.name).add() if field.is_repeated else getattr(message, field.name)
                    if not field.is_repeated:
                        part.SetInParent()
                    filled(part, dice, depth + 1)
            continue
        of = {
            field.CPPTYPE_INT32: lambda: dice.randrange(-(2**31), 2**31),
            field.CPPTYPE_INT64: lambda: dice.randrange(-(2**63), 2**63),
            field.CPPTYPE_UINT32: lambda: dice.randrange(2**32),
            field.CPPTYPE_UINT64: lambda: dice.randrange(2**64),
            field.CPPTYPE_DOUBLE: dice.random,
            field.CPPTYPE_FLOAT: lambda: dice.randrange(100) / 8,
            field.CPPTYPE_BOOL: lambda: dice.random() < 0.5,
            field.CPPTYPE_ENUM: lambda field=field: dice.choice(field.enum_type.values).number,
            field.CPPTYPE_STRING: lambda: dice.choice(["", "bcts", "\u00e4\U0001f600"]),
        }[field.cpp_type]
        value = (lambda: dice.randbytes(dice.randrange(9))) if field.type == field.TYPE_BYTES else of
        if field.is_repeated:
            getattr(message, field.name).extend(value() for _ in range(dice.randrange(4)))
        else:
            setattr(message, field.name, value())
    return message


def compare(ours, theirs):
    """Compares every field of a message, absent ones too."""
    for field in theirs.DESCRIPTOR.fields:
        one, other = getattr(ours, field.name), getattr(theirs, field.name)
        if field.has_presence:
            assert ours.has(field.name) == theirs.HasField(field.name), field.full_name
        if field.message_type is None:
            assert one == (tuple(other) if field.is_repeated else other), field.full_name
        elif field.is_repeated:
            assert len(one) == len(other)
            for pair in zip(one, other, strict=True):
                compare(*pair)
        elif ours.has(field.name):
            compare(one, other)
    for oneof in theirs.DESCRIPTOR.oneofs:
        if not oneof.name.startswith("_"):
            assert ours.which(oneof.name) == theirs.WhichOneof(oneof.name)


@pytest.mark.parametrize("name", KINDS)
def test_every_message_is_read_and_written_as_by_protobuf(name):
    seed = random.randrange(2**32)
    print("seed", seed)
    dice = random.Random(seed)
    for _ in range(5):
        theirs = filled(protocol.CLASSES[name](), dice)
        kind = getattr(pb, name.rpartition(".")[2])
        ours = kind.decode(theirs.SerializeToString())
        compare(ours, theirs)
        assert protocol.CLASSES[name].FromString(ours.encode()) == theirs
        assert kind.from_json(ours.to_json()) == ours


def test_what_is_absent_has_a_default():
    message = pb.Policy()
    assert (message.name, message.which("kind"), message.has("weights")) == ("", None, False)
    assert (message.weights.weights.shape, message.weights.weights.data) == ((), b"")
    assert pb.Policy(name=None, search=None) == message
    assert not message.has("weights"), "looking at a part does not add it"


def test_a_part_is_a_copy_that_refuses_changes():
    message = pb.Positions(rules=pb.Rules(width=6))
    part = message.rules
    with pytest.raises(AttributeError, match="this Rules is a copy of a part of another message"):
        part.width = 7
    message.rules = part.changed(width=7)
    assert (message.rules.width, part.width) == (7, 6)
    with pytest.raises(AttributeError):
        message.snapshots.states.append(b"x")


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: pb.Rules(widht=6), AttributeError),
        (lambda: pb.Rules().widht, AttributeError),
        (lambda: pb.Rules(width="6"), TypeError),
        (lambda: pb.Rules(width=-1), OverflowError),
        (lambda: pb.Positions(rules=pb.Policy()), TypeError),
        (lambda: pb.Rules().which("no"), ValueError),
        (lambda: pb.Rules.from_json('{"widht": 6}'), ValueError),
        (lambda: pb.Rules.from_json("{} {}"), ValueError),
        (lambda: pb.Rules.decode(b"\xff"), tetrion._native.AnswerError),
    ],
)
def test_mistakes(make, error):
    with pytest.raises(error):
        make()


def test_copies_are_equal():
    message = pb.Positions(rules=pb.Rules(width=6), snapshots=pb.Snapshots(states=[b"a", b"b"]))
    for other in (copy.deepcopy(message), pickle.loads(pickle.dumps(message)), message.changed()):
        assert (other.NAME, other) == ("tetrion.v1.Positions", message)
    assert message != pb.Positions()
    assert message.merged(pb.Positions(rules=pb.Rules(height=9))).rules == pb.Rules(width=6, height=9)
