"""What a session and its streams share: the session of the extension module, and those who listen to its calls.

The Rust client makes the calls, repeats those whose answers were lost, and makes a session that was lost with its server
again, with another name. So callers of this package notice only a pause.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from tetrion import _native
from tetrion._messages.answers import AnswerDecoder
from tetrion._pb import messages as pb
from tetrion._sessions.blocks import Blocks
from tetrion._transport.connection import Connection

# The request and the answer of each kind of call, by its name in `StepStreamRequest`.
KINDS: dict[str, tuple[Any, Any]] = {
    "reset": (pb.ResetRequest, pb.ResetResponse),
    "step": (pb.StepRequest, pb.StepResponse),
    "save_state": (pb.SaveStateRequest, pb.SaveStateResponse),
    "restore_state": (pb.RestoreStateRequest, pb.RestoreStateResponse),
    "enumerate_placements": (pb.EnumeratePlacementsRequest, pb.EnumeratePlacementsResponse),
}


class Listener(Protocol):
    """A listener to the mutating calls of a session.

    Attributes:
        unsaved: Environments whose snapshots the listener needs before their next action.
    """

    unsaved: set[int]

    def heard(self, kind: str, request: Any, response: Any) -> None:
        """Receives a mutating call and its answer."""

    def keep(self, env_ids: Sequence[int], states: Sequence[bytes]) -> None:
        """Receives the snapshots that it needs."""

    def saved(self, env_ids: Sequence[int], states: Sequence[bytes]) -> None:
        """Receives snapshots that were taken."""


class Link:
    """The link to one session, for one thread.

    Attributes:
        connection: The connection to the server.
        native: The session of the extension module.
        message: The server's description of the session, when it was created or last refreshed.
        answers: What the session's answers have in common.
        blocks: Memory for the answers about environments.
        listeners: Listeners, which receive every numbered call once it is answered, in order.
    """

    def __init__(self, connection: Connection, native: _native.Session, message: pb.Session, *, copy: bool) -> None:
        """Links to a session.

        Args:
            connection: The connection to the session's server.
            native: The session of the extension module.
            message: The server's description of the session.
            copy: Whether each answer has new arrays; see `Client.create_session`.
        """
        self.connection = connection
        self.native = native
        self.message = message
        self.answers = AnswerDecoder(self.message)
        self.blocks = Blocks(native, self.answers, copy=copy)
        self.listeners: list[Listener] = []
        connection.hold(self)

    def listen(self, listeners: list[Listener]) -> None:
        """Notifies these listeners from now on of every mutating call, on any stream, and no others."""
        self.listeners = listeners
        self.native.listen(bool(listeners))

    def tell(self) -> None:
        """Tells the listeners of the calls that were answered since the last time."""
        for kind, request, response in self.native.heard():
            of_request, of_response = KINDS[kind]
            heard = of_request.decode(request), of_response.decode(response)
            for listener in self.listeners:
                listener.heard(kind, *heard)

    def render(self, request: pb.RenderRequest) -> pb.RenderResponse:
        """Draws environments."""
        self.connection.check_usable()
        with self.connection.calling():
            return pb.RenderResponse.decode(self.native.render(request.encode()))

    def refresh(self) -> None:
        """Reads the session from the server, which renews its lease, and adopts the server's sequence number."""
        self.connection.check_usable()
        with self.connection.calling():
            self.native.renew()
            self.message = pb.Session.decode(self.native.description())

    def set_metadata(self) -> None:
        """Sends from now on what the connection sends now besides messages."""
        self.native.set_metadata(self.connection.metadata())

    def release(self) -> None:
        """Leaves every call to messages, which find out what is wrong with the connection."""
        self.native.release()

    def close(self) -> None:
        """Deletes the session permanently: it is not recreated."""
        with self.connection.calling():
            self.native.delete()
