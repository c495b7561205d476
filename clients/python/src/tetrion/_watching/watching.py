"""Watching a session while its learner steps it, in this process, in another one or on another machine.

Watching changes nothing and does not renew the session's lease, and the learner's calls never wait for it. A thread reads
frames as they arrive and keeps the newest one, so a slow caller misses frames but never sees old ones.
"""

from __future__ import annotations

import contextlib
import threading
import time
import weakref
from types import TracebackType
from typing import Any

from tetrion._checks import arguments
from tetrion._checks.failures import invalid_answer
from tetrion._messages import drawings
from tetrion._messages.answers import check_size
from tetrion._messages.records import rules_fields
from tetrion._messages.scenes import check_pieces
from tetrion._pb import messages as pb
from tetrion._pb.fields import RulesFields
from tetrion._sessions.calls import EnvIds, ids
from tetrion._sessions.session import Session
from tetrion._transport.connection import Connection, Patience
from tetrion._watching.frames import Style, WatchedFrame
from tetrion.errors import ServerUnavailableError, SessionNotFoundError, TetrionError


class Watching:
    """The frames of a session, created by `Client.watch`. Each shows the newest state.

        for frame in client.watch("sessions/3f2a...", render_fps=5):
            print(frame.envs[0].scene.lines, frame.picture().shape)

    The first frame arrives at once. After that, one arrives whenever the session has changed, and one every ten seconds if
    it has not. The iteration ends when the session does. If the server is lost, the iteration waits for it like all calls of
    a client.

    A watch ends with `close`, at the end of its `with` block, or when no reference to it is left.
    """

    def __init__(
        self,
        connection: Connection,
        session: str | Session,
        env_ids: EnvIds = None,
        *,
        fps: int | None = None,
        scale: float = 1.0,
        palette: str = "usual",
    ) -> None:
        """Starts watching; see `Client.watch`."""
        cell, colours = drawings.cell_pixels("render_scale", scale), drawings.palette("render_palette", palette)
        request = pb.WatchSessionRequest(envs=ids(env_ids), max_frames_per_second=arguments.limit("render_fps", fps))
        self._reader = _Reader(connection, session, request)
        weakref.finalize(self, self._reader.stop)
        check_pieces(self._rules)
        self._style = Style(self._rules, cell, colours)

    @property
    def name(self) -> str:
        """The session's name on the server."""
        return self._reader.started.session.name

    @property
    def rules(self) -> RulesFields:
        """The rules, with every field filled in."""
        return rules_fields(self._rules)

    @property
    def _rules(self) -> pb.Rules:
        return self._reader.started.session.config.rules

    @property
    def num_envs(self) -> int:
        """Number of environments of the session."""
        return self._reader.started.session.config.num_envs

    @property
    def env_ids(self) -> tuple[int, ...]:
        """The watched environments, in the order of `WatchedFrame.envs`."""
        return tuple(self._reader.started.env_ids)

    @property
    def render_fps(self) -> int:
        """Most frames per second."""
        return self._reader.started.max_frames_per_second

    @property
    def end(self) -> TetrionError | None:
        """The reason why no more frames arrive, such as `SessionNotFoundError`; None while they do, and after `close`."""
        return self._reader.end

    def __iter__(self) -> Watching:
        """Iterates over the frames from now on."""
        return self

    def __next__(self) -> WatchedFrame:
        """Waits for a frame that was not returned before.

        Raises:
            StopIteration: The session or the watch has ended.
            TetrionError: The watch failed, or the server did not come back.
        """
        frame = self.next()
        if frame is None:
            raise StopIteration
        return frame

    def next(self, timeout: float | None = None) -> WatchedFrame | None:
        """Like iterating, but for at most `timeout` seconds; None if no frame arrives in time, or no more will arrive."""
        if timeout is not None:
            timeout = arguments.number("timeout", timeout, 0, "seconds, 0 or more")
        message = self._reader.take(timeout)
        if message is None:
            return None
        if len(message.envs) != len(self.env_ids):
            raise invalid_answer(f"the frame is of {len(message.envs)} environments, expected {len(self.env_ids)}")
        return WatchedFrame._from_message(message, self._style)

    def show(self, seconds: float | None = None, *, wait: bool = True) -> None:
        """Shows the frames in a notebook cell, each replacing the previous one.

        The notebook's button to interrupt a cell ends it.

        Args:
            seconds: Duration. None: until the session ends.
            wait: Whether to return only at the end. If False, the cell goes on showing frames while others run, until
                `close`.

        Raises:
            RuntimeError: There is no notebook.
            TetrionError: The watch failed, or the server did not come back.
        """
        display = _notebook_display()
        deadline = None if seconds is None else time.monotonic() + arguments.number("seconds", seconds, 0, "0 or more")
        with contextlib.suppress(KeyboardInterrupt):
            first = self.next(seconds)
            if first is None:
                return
            # In this thread, so that the display belongs to the running cell.
            cell = display(first, display_id=True)
            if wait:
                return self._update(cell, deadline)
            threading.Thread(target=self._update_quietly, args=(cell, deadline), name="tetrion-show", daemon=True).start()

    def _update(self, cell: Any, deadline: float | None) -> None:
        while True:
            frame = self.next(None if deadline is None else max(0.0, deadline - time.monotonic()))
            if frame is None:
                return
            cell.update(frame)

    def _update_quietly(self, cell: Any, deadline: float | None) -> None:
        # A thread has no caller; `end` holds the error.
        with contextlib.suppress(TetrionError):
            self._update(cell, deadline)

    def close(self) -> None:
        """Ends the watch, but not the session."""
        self._reader.stop()

    def __enter__(self) -> Watching:
        """The watch itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Ends the watch."""
        self.close()


class _Reader:
    """Reads the frames of a session in a thread, and keeps the newest one.

    Attributes:
        started: Description of the watch.
        end: The reason why no more frames arrive.
    """

    def __init__(self, connection: Connection, session: str | Session, request: pb.WatchSessionRequest) -> None:
        self.end: TetrionError | None = None
        self._connection = connection
        self._session = session
        self._request = request
        self._changed = threading.Condition()
        self._newest: pb.WatchFrame | None = None
        self._stopped = False
        self._call: Any = None
        patience = Patience(connection)
        while True:
            try:
                self.started = self._open()
                break
            except ServerUnavailableError as error:
                patience.wait(error)
        threading.Thread(target=self._read, name="tetrion-watch", daemon=True).start()

    def take(self, timeout: float | None) -> pb.WatchFrame | None:
        """Waits for a frame that was not taken before; None if the time is up or no more frames arrive.

        Raises:
            TetrionError: The watch failed for another reason than the end of the session.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._newest is not None or self._is_over, timeout)
            frame, self._newest = self._newest, None
        if frame is None and self.end is not None and not isinstance(self.end, SessionNotFoundError):
            raise self.end
        return frame

    @property
    def _is_over(self) -> bool:
        return self._stopped or self.end is not None

    def stop(self) -> None:
        """Stops reading. Callers that wait for a frame get none."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        self._call.cancel()

    @property
    def _name(self) -> str:
        return self._session if isinstance(self._session, str) else self._session.name

    def _open(self) -> pb.WatchStarted:
        """Makes the call. Returns its first message."""
        self._request.session = self._name
        self._call = self._connection.watch(self._request)
        try:
            first: pb.WatchSessionResponse = next(self._call)
        except TetrionError as error:
            raise self._connection.failure(error) from None
        except StopIteration:
            raise _broken_off() from None
        if first.which("event") != "started":
            raise invalid_answer("the watch did not begin with a description of the session")
        check_size(first.started.session.config.rules)
        return first.started

    def _read(self) -> None:
        """Takes frames as they arrive, until the watch is over."""
        while not self._is_over:
            try:
                for message in self._call:
                    with self._changed:
                        self._newest = message.frame
                        self._changed.notify_all()
                error: TetrionError = _broken_off()
            except TetrionError as problem:
                error = self._connection.failure(problem)
            try:
                self._find(error)
            except TetrionError as problem:
                self._give_up(problem)
        # The watch may have been stopped while another call was made.
        self._call.cancel()

    def _give_up(self, error: TetrionError) -> None:
        with self._changed:
            # The call was cancelled here, because the watch was stopped or the client closed.
            if error.code == "CANCELLED":
                self._stopped = True
            else:
                self.end = error
            self._changed.notify_all()

    def _find(self, error: TetrionError) -> None:
        """Watches the session again after the server was lost, under its new name if it was recreated.

        Raises:
            TetrionError: The session cannot be watched any more.
        """
        patience, was_lost = Patience(self._connection), False
        while True:
            is_lost = isinstance(error, ServerUnavailableError)
            was_lost = was_lost or is_lost
            if self._stopped or not (is_lost or self._may_return(error, was_lost=was_lost)):
                raise error
            patience.wait(error)
            try:
                before, self.started = self.started, self._open()
            except TetrionError as problem:
                error = problem
                continue
            if _shape(before) != _shape(self.started):
                raise SessionNotFoundError(f"{self._name} is another session now", code="NOT_FOUND")
            return

    def _may_return(self, error: TetrionError, *, was_lost: bool) -> bool:
        """Whether the session exists under another name, or its owner will recreate it."""
        if not isinstance(error, SessionNotFoundError) or isinstance(self._session, str):
            return False
        return self._session.name != self._request.session or (was_lost and self._session.snapshot_every > 0)


def _shape(started: pb.WatchStarted) -> tuple[Any, ...]:
    """The properties that a recreated session keeps."""
    return started.session.config.rules, started.session.config.num_envs, started.env_ids


def _broken_off() -> ServerUnavailableError:
    return ServerUnavailableError("the frames broke off before the session ended", code="UNAVAILABLE")


def _notebook_display() -> Any:
    """IPython's `display` in a notebook.

    Raises:
        RuntimeError: There is no notebook.
    """
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ModuleNotFoundError:
        pass
    else:
        if get_ipython() is not None:
            return display
    raise RuntimeError("frames are shown in a notebook; in a terminal, `tetrion watch --session NAME` shows them")
