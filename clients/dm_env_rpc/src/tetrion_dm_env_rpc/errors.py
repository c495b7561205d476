"""Refusals: errors of `tetrion`, and the message in which a client gets them."""

from __future__ import annotations

from typing import Any

from google.rpc import code_pb2, error_details_pb2, status_pb2
from tetrion.errors import InvalidRequestError, TetrionError

# Most characters of a text in an answer. Some list every name that is known.
_MAX_TEXT = 2000


def refusal(code: str, reason: str, message: str) -> TetrionError:
    """A refusal: the name of a gRPC code, a reason for programs, and a message for people."""
    return TetrionError(message, code=code, reason=reason)


def wrong_field(field: str, problem: str, reason: str = "INVALID_FIELD") -> TetrionError:
    """The refusal of a field. The problem says what is wrong, and what was expected."""
    text = f"{field}: {problem}"
    return InvalidRequestError(text, code="INVALID_ARGUMENT", reason=reason, violations=[(field, problem)])


def shown(name: str) -> str:
    """An unknown name in quotation marks, short enough for an answer."""
    return repr(name) if len(name) <= 128 else f"{name[:32]!r}... of {len(name)} characters"


def status(error: TetrionError) -> Any:
    """The `google.rpc.Status` of an error, with details as in Tetrion's own protocol."""
    answer = status_pb2.Status(code=code_pb2.Code.Value(error.code), message=error.details[:_MAX_TEXT])
    details = [error_details_pb2.ErrorInfo(reason=error.reason, domain="tetrion.dev", metadata=error.metadata)]
    for field, problem in error.violations[:1]:
        violation = error_details_pb2.BadRequest.FieldViolation(field=field, description=problem[:_MAX_TEXT])
        details.append(error_details_pb2.BadRequest(field_violations=[violation]))
    for detail in details:
        answer.details.add().Pack(detail)
    return answer
