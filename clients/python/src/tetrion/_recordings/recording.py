"""A game in a file: rules, where the pieces came from, and actions. See `recording.proto`.

Nothing else is needed to show it, in colours too: the server plays it again. The outcome stands beside the actions, so
that a replay can be checked. This file knows the message, its two forms and its replay; `recorder` makes them.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from google.protobuf import json_format
from google.protobuf.message import DecodeError

from tetrion._checks import arguments
from tetrion._messages.ends import EpisodeEnd
from tetrion._messages.records import rules_fields
from tetrion._messages.requests import Drawing
from tetrion._pb import messages as pb
from tetrion._pb.fields import RulesFields
from tetrion._pictures import pictures
from tetrion._pictures.scenes import ENDINGS, INVALID_ACTION, OUT_OF_PIECES, TOPPED_OUT, Course, drawn
from tetrion._recordings import viewer
from tetrion._recordings.replay import Replay
from tetrion._recordings.replayer import CreateSession, Replayer
from tetrion._sessions.session import Session
from tetrion._transport.connection import Connection
from tetrion.errors import (
    InvalidArgumentError,
    ServerNotFoundError,
    ServerUnavailableError,
    TetrionError,
    VersionMismatchError,
)

# As the server program has them.
MAX_BYTES = 32 << 20
MAX_TEXT = 200

# A replay knows no limits: a game that one cut could go on.
_ENDS: dict[int, str | None] = {
    EpisodeEnd.NOT_ENDED: None,
    EpisodeEnd.TOPPED_OUT: TOPPED_OUT,
    EpisodeEnd.OUT_OF_PIECES: OUT_OF_PIECES,
    EpisodeEnd.INVALID_ACTION: INVALID_ACTION,
}
_END_NUMBERS = {end: number for number, end in _ENDS.items()}

# Steps that a page in a notebook holds; more would make it slow.
_MAX_SHOWN = 20_000


class HasServer(Protocol):
    """A `Client`, which makes sessions."""

    def _create(self, request: pb.CreateSessionRequest, snapshot_every: int) -> Session: ...


class Recording:
    """A game that was played.

        recording = tetrion.Recording.load("games/bcts-best.json")
        recording                        # in a notebook: the game, to play and to step through
        recording.check()                # None, or where it differs from what the server makes of it
        recording.replay().scene(120)    # what a viewer draws of a step

    `tetrion replay FILE` and `tetrion export FILE` take its files.
    """

    def __init__(self, message: pb.Recording, client: HasServer | None = None) -> None:
        """A recording from its message. Internal: `load` and `from_bytes` read recordings, a `Recorder` makes them.

        Args:
            message: The message.
            client: What replays it. Left out: this process, when it is needed.
        """
        self._message = message
        self._create: CreateSession | None = _creator(client)

    @classmethod
    def _from_server(cls, message: pb.Recording, create: CreateSession | None) -> Recording:
        """A recording that a server has made, and what makes a session in which it is replayed."""
        recording = cls(message)
        recording._create = create
        return recording

    @classmethod
    def load(cls, path: str | os.PathLike[str], client: HasServer | None = None) -> Recording:
        """Reads a file, in JSON or in binary form.

        Args:
            path: The file.
            client: See `Recording`.

        Raises:
            InvalidArgumentError: It is no recording.
        """
        with Path(path).open("rb") as file:
            return cls.from_bytes(file.read(MAX_BYTES + 1), client)

    @classmethod
    def from_bytes(cls, data: bytes, client: HasServer | None = None) -> Recording:
        """Reads the content of a file, in JSON or in binary form.

        Raises:
            InvalidArgumentError: It is no recording.
        """
        if len(data) > MAX_BYTES:
            raise InvalidArgumentError("recording", f"has more than {MAX_BYTES} bytes")
        message = pb.Recording()
        try:
            if data.lstrip(b" \t\r\n\f").startswith(b"{"):
                _parse(data, message)
            else:
                message.ParseFromString(data)
        except (json_format.ParseError, DecodeError, ValueError) as error:
            raise InvalidArgumentError(
                "recording", f"is neither a recording in JSON nor one in binary form: {error}"
            ) from None
        for field in ("rules_version", "rules", "outcome"):
            missing = not message.HasField(field) if field != "rules_version" else not message.rules_version
            if missing:
                raise InvalidArgumentError(f"recording.{field}", "is missing")
        if message.WhichOneof("pieces") is None:
            raise InvalidArgumentError("recording.pieces", "are missing, expected a seed or a piece_sequence")
        if message.outcome.end not in _ENDS:
            name = pb.EpisodeEnd.Name(message.outcome.end) if message.outcome.end in pb.EpisodeEnd.values() else "unknown"
            raise InvalidArgumentError("recording.outcome.end", f"is {name}, expected an end that a replay can have")
        for step, action in enumerate(message.actions):
            if action > 65_535:
                raise InvalidArgumentError(f"recording.actions[{step}]", f"is {action}, expected at most 65535")
        return cls(message, client)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file: JSON if its name ends in `.json`, else the binary form, a byte or two a step."""
        as_json = os.fspath(path).lower().endswith(".json")
        Path(path).write_bytes(self.to_json().encode() if as_json else self.to_bytes())

    def to_json(self) -> str:
        """The file in JSON: a line."""
        return json.dumps(json_format.MessageToDict(self._message), separators=(",", ":"), ensure_ascii=False) + "\n"

    def to_bytes(self) -> bytes:
        """The file in binary form."""
        return self._message.SerializeToString(deterministic=True)

    @property
    def rules(self) -> RulesFields:
        """The rules, every field filled in."""
        return rules_fields(self._message.rules)

    @property
    def rules_version(self) -> str:
        """The version of the rules that it was played under."""
        return self._message.rules_version

    @property
    def seed(self) -> int | None:
        """The episode seed: `env.reset(seed=...)` deals the same pieces. None for explicit pieces."""
        return self._message.seed if self._message.WhichOneof("pieces") == "seed" else None

    @property
    def piece_sequence(self) -> str | None:
        """The explicit pieces, letters of IOTZSJL. None for a seed."""
        return self._message.piece_sequence if self._message.WhichOneof("pieces") == "piece_sequence" else None

    @property
    def start(self) -> Drawing | None:
        """The position that the game began from; None for an empty playfield."""
        if not self._message.HasField("start"):
            return None
        start = self._message.start
        return Drawing(tuple(start.rows), start.piece, start.queue, start.held)

    @property
    def actions(self) -> npt.NDArray[np.uint16]:
        """The actions, uint16 [steps]."""
        return np.fromiter(self._message.actions, np.uint16, len(self._message.actions))

    @property
    def landings(self) -> npt.NDArray[np.uint8]:
        """The lines that each piece cleared, uint8 [pieces]."""
        return np.frombuffer(self._message.landing_lines, np.uint8)

    @property
    def pieces(self) -> int:
        """Pieces landed."""
        return self._message.outcome.pieces

    @property
    def lines(self) -> int:
        """Lines cleared."""
        return self._message.outcome.lines

    @property
    def score(self) -> float:
        """Points, as the rules score them."""
        return self._message.outcome.score

    @property
    def end(self) -> str | None:
        """How it ended: `topped_out`, `out_of_pieces` or `invalid_action`; None if it could have gone on."""
        return _ENDS[self._message.outcome.end]

    @property
    def rows(self) -> list[str]:
        """The final playfield, the top row first, `#` full and `.` empty; empty rows at the top are left out."""
        rows = list(self._message.outcome.rows)
        while rows and "#" not in rows[0]:
            rows.pop(0)
        return rows

    @property
    def player(self) -> str:
        """Who or what played it; may be empty."""
        return self._message.player

    @property
    def origin(self) -> str:
        """Where the game comes from; may be empty."""
        return self._message.origin

    def __len__(self) -> int:
        """How many steps it has."""
        return len(self._message.actions)

    def __eq__(self, other: object) -> bool:
        """Whether both say the same."""
        return isinstance(other, Recording) and self._message == other._message

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """The outcome, in a line."""
        whose = f" by {self.player}" if self.player else ""
        ended = ENDINGS.get(self.end or "", "not ended")
        return f"<tetrion.Recording{whose}: {self.pieces} pieces, {self.lines} lines, {ended}>"

    def __getstate__(self) -> dict[str, Any]:
        """The message; a copy is replayed in its own process."""
        return {"_message": self._message, "_create": None}

    def replay(self, client: HasServer | None = None, *, max_steps: int | None = None) -> Replay:
        """Plays it again, to walk through.

        Args:
            client: What plays it. Left out: the client that the recording came from, or was loaded with; if there is none
                or its server is gone, this process.
            max_steps: Only so many steps.

        Raises:
            InvalidArgumentError: Its pieces are not tetrominoes, which scenes are of.
            VersionMismatchError: It was played under another version of the rules.
            InvalidRequestError: It cannot be played: its rules or its pieces are none.
            IllegalActionError: An action cannot be done.
            EpisodeEndedError: It has actions behind the end of its game.
        """
        pictures.check_pieces(self._message.rules)
        actions = self.actions[: arguments.integer("max_steps", max_steps)] if max_steps is not None else self.actions
        with self._replayer(client) as replayer:
            replay = Replay(self._message.rules, replayer.course(0), self.player)
            replayer.play({0: actions.tolist()}, lambda _, course: replay._follow(course))
        return replay

    def check(self, client: HasServer | None = None) -> str | None:
        """Plays it again and compares: the lines of every landing, the totals, how it ended, and the final playfield.

        Args:
            client: See `replay`.

        Returns:
            Where it first differs; None if it does not.

        Raises:
            VersionMismatchError: It was played under another version of the rules, which may make another game of it.
        """
        _creator(client)  # for its check
        differs: list[str] = []
        landings = self.landings.tolist()

        def follow(_: int, course: Course) -> None:
            if course.landing is None or differs:
                return
            piece, step = course.state.pieces - course.start.pieces, course.state.steps - course.start.steps
            recorded = landings[piece - 1] if piece <= len(landings) else None
            if course.landing.lines != recorded:
                differs.append(f"step {step}, piece {piece}: {course.landing.lines} lines, recorded {recorded}")

        try:
            with self._replayer(client) as replayer:
                try:
                    replayer.play({0: self.actions.tolist()}, follow)
                except TetrionError as error:
                    steps = replayer.course(0).state.steps - replayer.course(0).start.steps
                    return differs[0] if differs else f"step {steps + 1}: {error.details}"
                course = replayer.course(0)
        except VersionMismatchError:
            raise
        except TetrionError as error:
            return f"it cannot be played: {error.details}"
        return differs[0] if differs else self._difference(course)

    def _difference(self, course: Course) -> str | None:
        """The first thing at the end that is not as it was recorded."""
        scene, outcome = course.scene(), self._message.outcome
        # Points are added up landing by landing here and there; fractions may differ in their last bits.
        close = abs(outcome.score - scene.score) <= 1e-9 * max(1.0, abs(scene.score))
        played = drawn(course.state.rows, self._message.rules.width)
        for what, recorded, replayed in (
            ("pieces", outcome.pieces, scene.pieces),
            ("pieces with lines", len(self._message.landing_lines), scene.pieces),
            ("lines", outcome.lines, scene.lines),
            ("points", outcome.score, outcome.score if close else scene.score),
            ("end", self.end, scene.end),
            ("playfield", self.rows, played),
        ):
            if recorded != replayed:
                return f"at the end: {what} {replayed}, recorded {recorded}"
        return None

    def _replayer(self, client: HasServer | None) -> Replayer:
        """A replayer whose game has begun."""
        create = _creator(client) or self._create
        if create is None:
            return self._begun(_in_this_process)
        try:
            return self._begun(create)
        except TetrionError as error:
            # Calls of a client that was closed are cancelled.
            is_gone = isinstance(error, ServerUnavailableError) or error.code == "CANCELLED"
            if client is not None or not is_gone:
                raise
            with contextlib.suppress(ServerNotFoundError):
                return self._begun(_in_this_process)
            raise

    def _begun(self, create: CreateSession) -> Replayer:
        message = self._message
        config = pb.SessionConfig(
            rules=message.rules,
            invalid_action_policy=message.invalid_action_policy,
            invalid_action_reward=message.invalid_action_reward,
        )
        seeds = [self.seed] if self.seed is not None else []
        sequences = [self.piece_sequence] if self.piece_sequence is not None else []
        replayer = Replayer(create, config, seeds=seeds, sequences=sequences)
        try:
            if replayer.rules_version != message.rules_version:
                raise VersionMismatchError(
                    f"the recording has the rules version {message.rules_version!r}, and the server plays by "
                    f"{replayer.rules_version!r}, which may make another game of it",
                    code="FAILED_PRECONDITION",
                    reason="RULES_VERSION_MISMATCH",
                )
            if self.start is not None:
                replayer.begin_at(0, self.start)
            else:
                replayer.begin_all()
        except BaseException:
            replayer.close()
            raise
        return replayer

    def picture(
        self, step: int | None = None, *, render_scale: float = 1.0, render_palette: str = "usual"
    ) -> npt.NDArray[np.uint8]:
        """The picture of a step, as `tetrion export` makes it.

        Where a step is a placement, it shows the next piece at rest and the rows that it completes; behind the last step
        the end of the game. Pictures of a game have one size, which is even. For more than one, keep the `replay`.

        Args:
            step: 0 to the number of steps; None: the last.
            render_scale: The size, 0.25 to 4; at 1 a cell is 16 x 16 pixels.
            render_palette: `usual` or `color-blind`.

        Returns:
            uint8 [pixels, pixels, 3].
        """
        return self.replay().picture(step, render_scale=render_scale, render_palette=render_palette)

    def html(self, *, render_palette: str = "usual", speed: float = 4.0) -> str:
        """The game as a piece of a page, with controls to play it and to step through; it loads nothing.

        Args:
            render_palette: `usual` or `color-blind`, to begin with.
            speed: Steps a second, to begin with.
        """
        palette = pictures.checked_palette("render_palette", render_palette)
        replay = self.replay(max_steps=_MAX_SHOWN)
        return viewer.page(replay, self._message, len(self), palette, arguments.number("speed", speed, 0.1, "0.1 or more"))

    def _repr_html_(self) -> str | None:
        """How notebooks show it; nothing if no server can play it."""
        try:
            return self.html()
        except (TetrionError, OSError, RuntimeError):
            return None


# The connection of each process; a forked child makes another.
_connections: dict[int, Connection] = {}


def _in_this_process(request: pb.CreateSessionRequest, snapshot_every: int) -> Session:
    connection = _connections.get(os.getpid())
    if connection is None:
        connection = _connections[os.getpid()] = Connection(None)
    return Session._create(connection, request, snapshot_every)


def written(
    config: pb.SessionConfig,
    rules_version: str,
    dealt: Mapping[str, Any],
    start: Drawing | None,
    actions: Sequence[int],
    landings: Sequence[int],
    course: Course,
    player: str,
    origin: str,
    create: CreateSession | None,
) -> Recording:
    """A recording of a game that was played again for it.

    Args:
        config: Its rules, and what an action did that does not exist.
        rules_version: The version of the rules.
        dealt: The field `seed` or `piece_sequence`.
        start: The position that it began from; None for an empty playfield.
        actions: Its actions.
        landings: The lines of each landing.
        course: The game as it stands at the end.
        player: Who or what played it.
        origin: Where it comes from.
        create: Makes a session on the server that can replay it.
    """
    scene = course.scene()
    ignores = config.invalid_action_policy == pb.INVALID_ACTION_POLICY_IGNORE
    message = pb.Recording(
        rules_version=rules_version,
        rules=config.rules,
        invalid_action_policy=config.invalid_action_policy or pb.INVALID_ACTION_POLICY_REJECT,
        invalid_action_reward=config.invalid_action_reward if ignores else 0.0,
        start=pb.Drawing(rows=start.rows, piece=start.piece, queue=start.queue, held=start.held)
        if start is not None
        else None,
        actions=actions,
        landing_lines=bytes(landings),
        outcome=pb.RecordedOutcome(
            pieces=scene.pieces,
            lines=scene.lines,
            score=scene.score,
            end=pb.EpisodeEnd.Name(_END_NUMBERS[scene.end]),
            rows=drawn(course.state.rows, config.rules.width),
        ),
        player=player,
        origin=origin,
        **dealt,
    )
    return Recording._from_server(message, create)


def _parse(data: bytes, message: pb.Recording) -> None:
    """Reads JSON. Fields of newer programs are passed over, as in the binary form."""
    try:
        json_format.Parse(data, message)
    except json_format.ParseError as error:
        # Passing over fields, protobuf would pass over unknown names of enum values as well.
        if "has no field named" not in str(error):
            raise
        message.Clear()
        json_format.Parse(data, message, ignore_unknown_fields=True)


def _creator(client: HasServer | None) -> CreateSession | None:
    """How a client makes the session in which a game is played again.

    Raises:
        InvalidArgumentError: It is no client.
    """
    if client is not None and not callable(getattr(client, "_create", None)):
        raise arguments.wrong("client", client, "a tetrion.Client")
    return client._create if client is not None else None


def checked_text(field: str, text: Any) -> str:
    """A text for people, `player` or `origin`.

    Raises:
        InvalidArgumentError: It is no text, too long, or has control characters.
    """
    checked = arguments.string(field, text)
    size = len(checked.encode())
    if size > MAX_TEXT:
        raise InvalidArgumentError(field, f"has {size} bytes, expected at most {MAX_TEXT}")
    control = next((letter for letter in checked if ord(letter) < 32 or 127 <= ord(letter) < 160), None)
    if control is not None:
        raise InvalidArgumentError(field, f"has the control character {control!r}")
    return checked
