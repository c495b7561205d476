"""Failed calls as exceptions.

For every refusal, the server gives a reason that programs can read: the `ErrorInfo` in the details of a status. This file's
table from reasons to exceptions matches the one at the head of `environment_service.proto`.
"""

from __future__ import annotations

from collections.abc import Iterable

from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc import code_pb2, error_details_pb2, status_pb2

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


def invalid_answer(problem: str) -> InvalidAnswerError:
    """The exception for an answer that does not fit its request."""
    return InvalidAnswerError(problem, code="INTERNAL")


# Messages of clients that refuse an answer.
_REFUSED_HERE = ("Received message larger than max", "Compression algorithm", "Exception deserializing response")


def from_call(code: int, message: str, details: bytes) -> TetrionError:
    """The exception for a failed call, from its numeric code, its message and its encoded `google.rpc.Status`."""
    if any(words in message for words in _REFUSED_HERE):
        return InvalidAnswerError(message, code=code_pb2.Code.Name(code))
    return _from_details(code_pb2.Code.Name(code), message, status_pb2.Status.FromString(details).details)


def from_status(status: status_pb2.Status) -> TetrionError:
    """The exception for a failure reported in a stream."""
    return _from_details(code_pb2.Code.Name(status.code), status.message, status.details)


def _from_details(code: str, message: str, details: Iterable[AnyMessage]) -> TetrionError:
    info = error_details_pb2.ErrorInfo()
    bad_request = error_details_pb2.BadRequest()
    retry = error_details_pb2.RetryInfo()
    request = error_details_pb2.RequestInfo()
    retry_after = None
    for detail in details:
        detail.Unpack(info)
        detail.Unpack(bad_request)
        detail.Unpack(request)
        if detail.Unpack(retry):
            retry_after = retry.retry_delay.ToTimedelta().total_seconds()
    kind = _BY_REASON.get(info.reason) or _BY_CODE.get(code, TetrionError)
    return kind(
        message,
        code=code,
        reason=info.reason,
        metadata=dict(info.metadata),
        violations=[(violation.field, violation.description) for violation in bad_request.field_violations],
        retry_after=retry_after,
        request_id=request.request_id,
    )
