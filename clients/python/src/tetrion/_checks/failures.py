"""Failed calls as exceptions.

For every refusal, the server gives a reason that programs can read: the `ErrorInfo` in the details of a status. This file's
table from reasons to exceptions matches the one at the head of `environment_service.proto`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

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


# What the extension module says of a failed call: the name of its code, its message, its reason, metadata and violations,
# the seconds to wait before another try, and the id of the request.
Failure = tuple[str, str, str, dict[str, str], list[tuple[str, str]], float | None, str]


def from_call(
    code: str,
    message: str,
    reason: str,
    metadata: dict[str, str],
    violations: list[tuple[str, str]],
    wait: float | None,
    request_id: str,
    *,
    inside: bool = False,
) -> TetrionError:
    """The exception for a failed call.

    Args:
        code: The name of its code.
        message: Its message.
        reason: The server's reason; empty if the transport failed.
        metadata: Details of the reason.
        violations: Pairs of a field and the problem with it.
        wait: Seconds after which another try may help, if the server gives them.
        request_id: The id of the call; empty if no server answered.
        inside: Whether the services are in this process.
    """
    if any(words in message for words in _REFUSED_HERE):
        return InvalidAnswerError(message, code=code)
    kind = _BY_REASON.get(reason) or _BY_CODE.get(code, TetrionError)
    return kind(
        message,
        inside=inside,
        code=code,
        reason=reason,
        metadata=metadata,
        violations=violations,
        retry_after=wait if wait is not None and wait <= _MAX_RETRY_AFTER else None,
        request_id=request_id,
    )
