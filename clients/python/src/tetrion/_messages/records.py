"""Messages as frozen dataclasses and rules as dictionaries, with the fields that their descriptors list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message

from tetrion._checks import arguments
from tetrion._checks.failures import invalid_answer, reads_answer
from tetrion._messages.policies import policy_from, search_from
from tetrion._messages.requests import features_from, word
from tetrion._pb import messages as pb
from tetrion._pb.fields import RulesFields
from tetrion._pb.records import FIELDS, RECORDS


@reads_answer
def record(message: Message, width: int = 0) -> Any:
    """The dataclass of a message, with None for absent fields, names for enum values, and seconds for durations.

    Args:
        message: The message.
        width: Width of the playfield for models in the message; 0: that of the message's rules, if any.

    Raises:
        InvalidAnswerError: The message has a value that no answer can have.
    """
    kind = RECORDS[message.DESCRIPTOR.full_name]
    rules = getattr(message, "rules", None)
    if isinstance(rules, pb.Rules):
        width = rules.width
    known: Mapping[str, Any] = message.DESCRIPTOR.fields_by_name
    renamed = FIELDS.get(message.DESCRIPTOR.name, {})
    values = {field.name: _value(message, known[renamed.get(field.name, field.name)], width) for field in fields(kind)}
    for field in fields(kind):
        if values[field.name] is None and not str(field.type).endswith("| None"):
            raise invalid_answer(f"{message.DESCRIPTOR.name} lacks {field.name}")
    return kind(**values)


@reads_answer
def rules_fields(message: pb.Rules) -> RulesFields:
    """Rules in the form of the argument `rules`, without absent fields."""
    return cast(RulesFields, _present(message))


def _present(message: Message) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name)
        if not (message.HasField(field.name) if field.has_presence else value):
            continue
        if isinstance(value, Message):
            found[field.name] = _present(value)
        elif field.enum_type is not None:
            found[field.name] = word(field.enum_type, value)
        else:
            found[field.name] = list(value) if hasattr(value, "extend") else value
    return found


def _value(message: Message, field: FieldDescriptor, width: int) -> Any:
    """The value of a field in the form of a dataclass."""
    value: Any = getattr(message, field.name)
    if hasattr(value, "extend"):
        return tuple(_single(one, field, width) for one in value)
    if field.has_presence and not message.HasField(field.name):
        # A server of an older revision does not send all limits, of which some are times.
        kind = field.message_type
        if kind is None or not (kind.name.endswith("Limits") or kind.name == "Duration"):
            return None
    return _single(value, field, width)


def _single(value: Any, field: FieldDescriptor, width: int) -> Any:
    if field.enum_type is not None:
        return word(field.enum_type, value) if value else None
    if isinstance(value, pb.Rules):
        return rules_fields(value)
    if isinstance(value, pb.Policy):
        return policy_from(value, width)
    if isinstance(value, pb.Search):
        return search_from(value)
    if isinstance(value, pb.FieldNames):
        return tuple(value.names)
    if isinstance(value, pb.FeatureSelection):
        return features_from(value)
    if isinstance(value, pb.Seeding):
        return value.seed if value.HasField("seed") else None
    if isinstance(value, Duration):
        return arguments.seconds(value)
    return record(value, width) if isinstance(value, Message) else value
