"""Failed calls as exceptions.

For every refusal, the server gives a reason that programs can read: the `ErrorInfo` in the details of a status. This file's
table from reasons to exceptions matches the one at the head of `environment_service.proto`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import DecodeError, Message
from google.rpc import code_pb2, error_details_pb2, status_pb2

from tetrion._checks.arguments import seconds
from tetrion.errors import (
    DeadlineExceededError,
    EpisodeEndedError,
    IllegalActionError,
    IncompatibleServerError,
    InternalError,
    InvalidAnswerError,
    InvalidRequestError,
    RequestTooLargeError,
    ResetNeededError,
    ResponseTooLargeError,
    SequenceMismatchError,
    ServerFullError,
    ServerUnavailableError,
    SessionNotFoundError,
    TetrionError,
    UnauthenticatedError,
    UnimplementedError,
    UnknownHostError,
    VersionMismatchError,
)

_BY_REASON: dict[str, type[TetrionError]] = {
    "INVALID_FIELD": InvalidRequestError,
    "INVALID_TENSOR": InvalidRequestError,
    "INVALID_RULES": InvalidRequestError,
    "INVALID_POSITION": InvalidRequestError,
    "INVALID_STATE": InvalidRequestError,
    "INVALID_MESSAGE": InvalidRequestError,
    "UNKNOWN_NAME": InvalidRequestError,
    "UNKNOWN_FIELD": IncompatibleServerError,
    "REVISION_TOO_OLD": IncompatibleServerError,
    "REQUEST_ID_REUSED": InvalidRequestError,
    "ACTION_OUT_OF_RANGE": IllegalActionError,
    "ILLEGAL_ACTION": IllegalActionError,
    "RESPONSE_TOO_LARGE": ResponseTooLargeError,
    "TOO_MUCH_WORK": RequestTooLargeError,
    "REQUEST_TOO_LARGE": RequestTooLargeError,
    "INVALID_TOKEN": UnauthenticatedError,
    "UNKNOWN_HOST": UnknownHostError,
    "SESSION_NOT_FOUND": SessionNotFoundError,
    "SESSION_EXPIRED": SessionNotFoundError,
    "NOT_RESET": ResetNeededError,
    "EPISODE_ENDED": EpisodeEndedError,
    "RULES_MISMATCH": VersionMismatchError,
    "RULES_VERSION_MISMATCH": VersionMismatchError,
    "FEATURE_SET_MISMATCH": VersionMismatchError,
    "SEQUENCE_MISMATCH": SequenceMismatchError,
    "SESSION_LIMIT": ServerFullError,
    "ENV_LIMIT": ServerFullError,
    "EVALUATION_LIMIT": ServerFullError,
    "ANSWER_UNREAD": ServerFullError,
    "WATCH_LIMIT": ServerFullError,
    "ANSWER_LIMIT": ServerFullError,
    "MEMORY_LIMIT": ServerFullError,
    "CALL_LIMIT": ServerFullError,
    "REQUEST_LIMIT": ServerFullError,
    "SLOW_REQUEST": DeadlineExceededError,
    "DRAINING": ServerUnavailableError,
}

# For failures of the transport, which have no reason.
_BY_CODE: dict[str, type[TetrionError]] = {
    "DEADLINE_EXCEEDED": DeadlineExceededError,
    "UNAVAILABLE": ServerUnavailableError,
    "UNAUTHENTICATED": UnauthenticatedError,
    "UNIMPLEMENTED": UnimplementedError,
    "INTERNAL": InternalError,
}


# Longest time for which a server can ask a client to wait, in seconds; Python's clocks take no more than some centuries.
_MAX_RETRY_AFTER = 1e9

_P = ParamSpec("_P")
_Result = TypeVar("_Result")


def invalid_answer(problem: str) -> InvalidAnswerError:
    """The exception for an answer that does not fit its request."""
    return InvalidAnswerError(problem, code="INTERNAL")


def reads_answer(read: Callable[_P, _Result]) -> Callable[_P, _Result]:
    """Makes a function that reads an answer raise an `InvalidAnswerError` for every answer that it cannot read."""

    @functools.wraps(read)
    def wrapper(*args: _P.args, **kwargs: _P.kwargs) -> _Result:
        try:
            return read(*args, **kwargs)
        except InvalidAnswerError:
            raise
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise invalid_answer(f"the answer cannot be read: {type(error).__name__}: {error}") from error

    return wrapper


# Beginnings of the messages of clients that refuse an answer.
_REFUSED_HERE = (
    "Received message larger than max",
    "Compression algorithm",
    "Missing response message",
    "Several response messages",
)


def from_call(code: int, message: str, details: bytes, *, inside: bool = False) -> TetrionError:
    """The exception for a failed call.

    Args:
        code: Its numeric code.
        message: Its message.
        details: Its encoded `google.rpc.Status`.
        inside: Whether the services are in this process.
    """
    if any(words in message for words in _REFUSED_HERE):
        return InvalidAnswerError(message, code=_code_name(code))
    status = status_pb2.Status()
    _parse(status, details)
    return _from_details(code, message, status.details, inside=inside)


def from_status(status: status_pb2.Status, *, inside: bool = False) -> TetrionError:
    """The exception for a failure reported in a stream."""
    return _from_details(status.code, status.message, status.details, inside=inside)


def _code_name(code: int) -> str:
    """The name of a code. A failure with an unknown code, or with that of success, is of no known kind."""
    known = code_pb2.Code.DESCRIPTOR.values_by_number.get(code)
    return str(known.name) if known is not None and code != code_pb2.OK else "UNKNOWN"


def _parse(message: Message, data: bytes) -> None:
    """Reads the content of a message; one that cannot be read leaves it empty."""
    try:
        message.ParseFromString(data)
    except DecodeError:
        message.Clear()


def _from_details(number: int, message: str, details: Iterable[AnyMessage], *, inside: bool) -> TetrionError:
    code = _code_name(number)
    info = error_details_pb2.ErrorInfo()
    bad_request = error_details_pb2.BadRequest()
    retry = error_details_pb2.RetryInfo()
    request = error_details_pb2.RequestInfo()
    for detail in details:
        for known in (info, bad_request, retry, request):
            if detail.TypeName() == known.DESCRIPTOR.full_name:
                _parse(known, detail.value)
    wait = seconds(retry.retry_delay) if retry.HasField("retry_delay") else -1.0
    kind = _BY_REASON.get(info.reason) or _BY_CODE.get(code, TetrionError)
    return kind(
        message,
        inside=inside,
        code=code,
        reason=info.reason,
        metadata=dict(info.metadata),
        violations=[(violation.field, violation.description) for violation in bad_request.field_violations],
        retry_after=wait if 0 <= wait <= _MAX_RETRY_AFTER else None,
        request_id=request.request_id,
    )
