"""Every exception of the package. Each message gives advice, and a refused call has changed nothing.

The package also exports the exceptions that programs catch most.
"""

from __future__ import annotations

import re
from typing import Any

import gymnasium.error

# Characters that a terminal obeys instead of showing them, or after which it writes in another direction, and halves of
# surrogate pairs, which cannot be printed. Line ends and tabs are harmless.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """A text of a server as it may be printed: characters that a terminal would obey are escaped as in JSON."""
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class TetrionError(Exception):
    """A call that failed. All its texts can be printed: they show control characters as escapes.

    `advice` is the end of the message; `advice_inside`, if any, replaces it if the services are in this process.

    Attributes:
        details: The message without the code and the advice.
        code: Name of the canonical gRPC code, such as `INVALID_ARGUMENT`.
        reason: The server's reason, such as `ILLEGAL_ACTION`; empty if the transport failed.
        metadata: Details of the reason, such as `{"env_ids": "3,17"}`.
        violations: Pairs of a field's path and the problem with it.
        retry_after: Seconds after which another try may help, if the server gives them.
        request_id: Id of the call in the server's log; empty if no server answered.
    """

    advice = ""
    advice_inside: str | None = None

    def __init__(
        self,
        message: object,
        *,
        inside: bool = False,
        code: str = "",
        reason: str = "",
        metadata: dict[str, str] | None = None,
        violations: list[tuple[str, str]] | None = None,
        retry_after: float | None = None,
        request_id: str = "",
    ) -> None:
        """Joins the message of a failed call, its code and the advice of this class.

        A message without other arguments stays unchanged, because libraries raise errors again as `type(error)(message)`.
        Some pass the error itself as the message; its attributes are copied.
        """
        if isinstance(message, TetrionError):
            super().__init__(str(message))
            self.__dict__.update(message.__dict__)
            return
        self.details = visible(str(message))
        self.code = code or "UNKNOWN"
        self.reason = visible(reason)
        self.metadata = {visible(key): visible(value) for key, value in (metadata or {}).items()}
        self.violations = [(visible(field), visible(problem)) for field, problem in violations or []]
        self.retry_after = retry_after
        self.request_id = visible(request_id)
        text = self.details
        if code:
            label = f"{code} {self.reason}".strip() + (f", request {self.request_id}" if request_id else "")
            advice = self.advice_inside if inside and self.advice_inside is not None else self.advice
            text += f" ({label})" + (f"; {advice}" if advice else "")
        super().__init__(text)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the attributes too, so that an error crosses processes unchanged."""
        return _unpickled, (type(self), self.args, self.__dict__)


def _unpickled(kind: type[TetrionError], args: tuple[Any, ...], attributes: dict[str, Any]) -> TetrionError:
    error = kind.__new__(kind)
    # Not left to `__new__`: for classes with an `__init__`, `OSError.__new__` ignores its arguments.
    error.args = args
    error.__dict__.update(attributes)
    return error


class InvalidRequestError(TetrionError, ValueError):
    """A field of the request is missing, malformed, out of range or unknown."""

    advice = "`violations` names the fields; `Client.catalog()` lists the names, `Client.server_info()` the limits"


class InvalidArgumentError(InvalidRequestError):
    """An argument that no request could contain; nothing was sent.

    It is not a `TypeError`, because Gymnasium adds all arguments to the text of those, including the token.
    """

    def __init__(self, field: object, problem: str = "") -> None:
        """Builds the message from the argument, its value and the expected values.

        Args:
            field: The argument; or the whole message, if it is the only argument.
            problem: The problem with it.
        """
        # Without the code, because the protocol is not involved.
        super().__init__(f"{field} {problem}" if problem else field)
        if not isinstance(field, TetrionError):
            self.code = "INVALID_ARGUMENT"
            self.violations = [(str(field), problem)] if problem else []


class IllegalActionError(TetrionError, gymnasium.error.InvalidAction):
    """An action outside the action space, or one that the action mask forbids."""

    advice = (
        "choose among `action_masks()`, or let such actions end the episode with invalid_action_policy='terminate' or "
        "cost a step with 'ignore'; "
        "actions outside the action space are refused either way"
    )


class ResponseTooLargeError(TetrionError, ValueError):
    """The answer would be larger than the client or the server allows."""

    advice = (
        "ask for fewer environments, positions or policies a call (`metadata['max_rows']`), for fewer fields, or give the "
        "evaluation a larger max_response_bytes"
    )


class RequestTooLargeError(TetrionError, ValueError):
    """The request is larger than the server accepts, or asks for too much work."""

    advice = (
        "split it; `max_request_bytes` of `Client.server_info().limits.messages` is the limit, and "
        "`max_small_request_bytes` for calls without snapshots, playfields or weights"
    )


class SessionNotFoundError(TetrionError, LookupError):
    """The session was closed, its lease ran out, or it lives on another server."""

    advice = "create a new session; a longer `ttl` or a call now and then keeps one alive"


class ResetNeededError(TetrionError, gymnasium.error.ResetNeeded):
    """An environment was used before its first episode began."""

    advice = "call `reset` first"


class EpisodeEndedError(TetrionError, gymnasium.error.ResetNeeded):
    """An environment was stepped after the end of its episode, without autoreset."""

    advice = (
        "call `env.reset()` after a step that returns terminated or truncated; a vector environment resets these games with "
        "options={'reset_mask': terminated | truncated}, and all by itself with autoreset_mode='next_step'"
    )


class VersionMismatchError(TetrionError):
    """A snapshot or weights belong to other rules or another version, or the server has an unexpected version."""

    advice = "use it with a server and rules of the version that made it"


class SequenceMismatchError(TetrionError):
    """Another client changed the session, or an answer was lost and another call was sent after it."""

    advice = "`Session.refresh()` reads the state of the session; use a session from one place at a time"


class ServerFullError(TetrionError):
    """A limit on sessions, environments, evaluations, calls or their memory is reached; in this process that of memory."""

    advice = "close what you do not use, try again after `retry_after` seconds, or start the server with higher limits"
    advice_inside = "close what you do not use, or try again after `retry_after` seconds"


class UnauthenticatedError(TetrionError, PermissionError):
    """The server requires a token, and the client has none, an unknown one, or one that was removed."""

    advice = "give a token that the server knows as Client(address, token=...)"


class UnknownHostError(TetrionError, PermissionError):
    """The server does not accept calls to the host name of this address."""

    advice = "connect to localhost or 127.0.0.1, or start the server with `--allow-host NAME`"


class ServerUnavailableError(TetrionError, ConnectionError):
    """The server cannot be reached, or is shutting down."""

    advice = (
        "check that the server is running, that the address is `host:port` without a scheme, that tls= is given if and only "
        "if the server has a certificate, and tls=tetrion.Tls(client_cert=...) if it asks its clients for one; "
        "snapshots (`Session.save_state`) can be restored on another server"
    )


class ForkedClientError(TetrionError, RuntimeError):
    """A forked process used a connection of its parent."""

    advice = (
        "make the client or the environment in the child itself, and start children with spawn: "
        "multiprocessing.get_context('spawn'), AsyncVectorEnv(..., context='spawn') or SubprocVecEnv(..., "
        "start_method='spawn'); or fork before the parent uses a server; or use a vector environment of this package, which "
        "needs no processes"
    )


class ForeignServerError(TetrionError, ConnectionError):
    """Something other than a Tetrion server answers at the address."""

    advice = "check the host and the port; `python -m tetrion serve` prints where it listens"


class IncompatibleServerError(TetrionError):
    """The server does not know all of the protocol that this package uses."""

    advice = "use a newer server, or Client(..., any_version=True) for calls that it knows"


class UnimplementedError(TetrionError, NotImplementedError):
    """This server does not support the call."""

    advice = "a newer server may have it: `Client.server_info().server_version` is the version of this one"


class DeadlineExceededError(TetrionError, TimeoutError):
    """The answer did not come in time."""

    advice = "give a longer `timeout`; a step that timed out may have been taken, which `Session.refresh()` shows"


class InvalidAnswerError(TetrionError):
    """An answer of the server that does not fit the request, or is larger than any answer may be."""

    advice = "the server is faulty, or it is not a Tetrion server; connect to servers that you trust"


class InternalError(TetrionError):
    """A bug in the server, or in the services of this process."""

    advice = "please report it with the lines of the server's log that show this request"
    advice_inside = "please report it with the calls that led to it"


class ServerNotFoundError(TetrionError, FileNotFoundError):
    """There is no server program to start."""


class ServerNotStartedError(TetrionError, RuntimeError):
    """The server program ended, or printed something unexpected, before it was ready."""


class VersionWarning(UserWarning):
    """The server has another version of the rules than this package expects."""


__all__ = [
    "DeadlineExceededError",
    "EpisodeEndedError",
    "ForeignServerError",
    "ForkedClientError",
    "IllegalActionError",
    "IncompatibleServerError",
    "InternalError",
    "InvalidAnswerError",
    "InvalidArgumentError",
    "InvalidRequestError",
    "RequestTooLargeError",
    "ResetNeededError",
    "ResponseTooLargeError",
    "SequenceMismatchError",
    "ServerFullError",
    "ServerNotFoundError",
    "ServerNotStartedError",
    "ServerUnavailableError",
    "SessionNotFoundError",
    "TetrionError",
    "UnauthenticatedError",
    "UnimplementedError",
    "UnknownHostError",
    "VersionMismatchError",
    "VersionWarning",
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
