"""Messages as frozen dataclasses and rules as dictionaries, with the fields that their descriptors list."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, cast

from tetrion._checks import arguments
from tetrion._checks.failures import invalid_answer, reads_answer
from tetrion._messages.policies import policy_from, search_from
from tetrion._messages.requests import features_from, word
from tetrion._pb import messages as pb
from tetrion._pb.fields import RulesFields
from tetrion._pb.records import FIELDS, RECORDS


@reads_answer
def record(message: pb.Message, width: int = 0) -> Any:
    """The dataclass of a message, with None for absent fields, names for enum values, and seconds for durations.

    Args:
        message: The message.
        width: Width of the playfield for models in the message; 0: that of the message's rules, if any.

    Raises:
        InvalidAnswerError: The message has a value that no answer can have.
    """
    kind, known = RECORDS[message.NAME], pb.FIELDS[message.NAME]
    if "rules" in known and known["rules"].kind == "Rules":
        width = message.rules.width
    name = message.NAME.rpartition(".")[2]
    renamed = FIELDS.get(name, {})
    values = {field.name: _value(message, known[renamed.get(field.name, field.name)], width) for field in fields(kind)}
    for field in fields(kind):
        if values[field.name] is None and not str(field.type).endswith("| None"):
            raise invalid_answer(f"{name} lacks {field.name}")
    return kind(**values)


@reads_answer
def rules_fields(message: pb.Rules) -> RulesFields:
    """Rules in the form of the argument `rules`, without absent fields."""
    return cast(RulesFields, _present(message))


def _present(message: pb.Message) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, field in pb.FIELDS[message.NAME].items():
        value = getattr(message, name)
        if not (message.has(name) if field.has_presence else value):
            continue
        if field.is_message:
            found[name] = _present(value)
        elif field.is_enum:
            found[name] = word(getattr(pb, field.kind), value)
        else:
            found[name] = list(value) if field.is_list else value
    return found


def _value(message: pb.Message, field: pb.Field, width: int) -> Any:
    """The value of a field in the form of a dataclass."""
    value: Any = getattr(message, field.name)
    if field.is_list:
        return tuple(_single(one, field, width) for one in value)
    # A server of an older revision does not send all limits, of which some are times.
    always = field.is_message and (field.kind.endswith("Limits") or field.kind == "Duration")
    if field.has_presence and not always and not message.has(field.name):
        return None
    return _single(value, field, width)


def _single(value: Any, field: pb.Field, width: int) -> Any:
    if field.is_enum:
        return word(getattr(pb, field.kind), value) if value else None
    match field.kind:
        case "Rules":
            return rules_fields(value)
        case "Policy":
            return policy_from(value, width)
        case "Search":
            return search_from(value)
        case "FieldNames":
            return tuple(value.names)
        case "FeatureSelection":
            return features_from(value)
        case "Seeding":
            return value.seed if value.has("seed") else None
        case "Duration":
            return arguments.seconds(value)
    return record(value, width) if field.is_message else value
