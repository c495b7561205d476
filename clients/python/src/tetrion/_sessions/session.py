"""A session: N environments on the server that step together."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from tetrion import _native
from tetrion._checks import arguments
from tetrion._checks.failures import invalid_answer
from tetrion._messages import digits, drawings
from tetrion._messages.answers import check_size
from tetrion._messages.digits import ActionDigit
from tetrion._messages.records import record, rules_fields
from tetrion._messages.requests import enum_value
from tetrion._pb import messages as pb
from tetrion._pb.fields import RulesFields
from tetrion._pb.records import SessionConfig, TensorSpec
from tetrion._sessions.calls import Calls, EnvIds, ids
from tetrion._sessions.link import Link, Listener
from tetrion._sessions.stream import StepStream
from tetrion._transport.connection import Connection
from tetrion.errors import ServerUnavailableError, visible

# Most bytes of pictures in an answer of several. Larger answers are slower: their memory, which is copied a few times on the
# way, comes from the system and not from the heap.
_PIXEL_BYTES = 2 << 20

# The formats of `RenderFormat` that are text.
_STYLES = (
    "ascii",
    "lab",
    "leiden",
    "ansi",
    "letters",
    "prompt_board",
    "prompt_actions",
    "prompt_consequences",
    "prompt_short",
)


class Session(Calls):
    """N environments on the server, created by `Client.create_session`. It allows one user at a time.

    Calls that change it are numbered, so a call whose answer was lost is sent again and happens once. If its server is
    killed and started again, the client recreates the session in the same state.
    """

    def __init__(
        self,
        connection: Connection,
        message: pb.Session,
        *,
        native: _native.Session | None = None,
        snapshot_every: int = 0,
        copy: bool = True,
    ) -> None:
        """Wraps an existing session. Internal: `Client.create_session` creates sessions."""
        if native is None:
            connection.check_usable()
            with connection.calling():
                native = _native.Session.existing(connection.caller(), message.encode(), connection.call_settings())
        super().__init__(Link(connection, native, message, copy=copy), native)
        self._copy = copy
        # A session in this process cannot be lost.
        self._snapshot_every = 0 if connection.address is None else snapshot_every
        self._digits = digits.read(tuple((digit.name, digit.size, digit.description) for digit in message.action_digits))
        numbers = math.prod(digit.size for digit in self._digits)
        if numbers != self.num_actions:
            raise invalid_answer(f"the session has {self.num_actions} actions, and their digits make {numbers}")

    @classmethod
    def _create(
        cls,
        connection: Connection,
        request: pb.CreateSessionRequest,
        snapshot_every: int,
        *,
        copy: bool = True,
        patient: bool = True,
    ) -> Session:
        """Creates a session on the server. With `patient`, waits for a lost server."""
        connection.check_usable()
        connection.check_server()
        request.config = request.config.changed(min_revision=connection.min_revision)
        with connection.calling():
            native = _native.Session.create(
                connection.caller(), request.encode(), snapshot_every, connection.call_settings(), patient
            )
            message = pb.Session.decode(native.description())
        check_size(message.config.rules)
        return cls(connection, message, native=native, snapshot_every=snapshot_every, copy=copy)

    def __repr__(self) -> str:
        """Name, size and address, in a line."""
        return f"<tetrion.Session {visible(self.name)}: {self.num_envs} environments on {self._connection.place}>"

    @property
    def _connection(self) -> Connection:
        """The connection to the session's server."""
        return self._link.connection

    @property
    def _message(self) -> pb.Session:
        """The server's description of the session: the configuration with every default, and the specs."""
        return self._link.message

    @property
    def address(self) -> str | None:
        """Address of the session's server; None if it is in this process."""
        return self._connection.address

    @property
    def name(self) -> str:
        """The session's name on the server. It grants access to the session, and changes if the server is lost."""
        return self._link.native.name()

    @property
    def sequence_number(self) -> int:
        """The number of the last mutating call, including calls that a stream sends ahead."""
        return self._link.native.number

    @property
    def num_envs(self) -> int:
        """Number of environments."""
        return self._answers.num_envs

    @property
    def config(self) -> SessionConfig:
        """The configuration with every default, but without `env_seeds` and `piece_sequences`."""
        config: SessionConfig = record(self._message.config)
        return config

    @property
    def rules(self) -> RulesFields:
        """The rules, with every field filled in."""
        return rules_fields(self._message.config.rules)

    @property
    def rules_version(self) -> str:
        """The server's version of the rules."""
        return self._message.rules_version

    @property
    def ttl(self) -> float:
        """Seconds without a call after which the server removes the session."""
        return arguments.seconds(self._message.ttl)

    @property
    def num_actions(self) -> int:
        """Number of actions, A."""
        return self._answers.num_actions

    @property
    def observation_specs(self) -> tuple[TensorSpec, ...]:
        """Type, shape for one environment, and bounds of each observation, in order."""
        return tuple(record(spec) for spec in self._message.observation_specs)

    @property
    def info_specs(self) -> tuple[TensorSpec, ...]:
        """Type, shape for one environment, and bounds of each info, in order."""
        return tuple(record(spec) for spec in self._message.info_specs)

    @property
    def action_digits(self) -> tuple[ActionDigit, ...]:
        """The digits of an action, most significant first."""
        return self._digits

    def decode_actions(self, actions: npt.ArrayLike) -> dict[str, npt.NDArray[np.int64]]:
        """The meaning of actions: the values of each digit by its name, in arrays of the shape of `actions`.

            session.decode_actions(23)  # {"orientation": array(2), "column": array(3)}

        Raises:
            InvalidArgumentError: A number is not an action of the session.
        """
        return digits.decode(self._digits, actions, "actions")

    def encode_actions(self, **values: npt.ArrayLike) -> npt.NDArray[np.int32]:
        """The actions with these digits, in an array of their common shape. Missing digits are 0.

            session.encode_actions(orientation=2, column=3)  # array(23, dtype=int32)

        Raises:
            InvalidArgumentError: The digit does not exist, or a value is not below its size.
        """
        return digits.encode(self._digits, values)

    @property
    def snapshot_every(self) -> int:
        """Number of calls between snapshots, from which the session continues if the server is lost; 0: none.

        A session in this process cannot be lost, and takes none.
        """
        return self._snapshot_every

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of the session's features; empty without features."""
        return tuple(self._message.feature_columns.names)

    def clone(self, num_envs: int | None = None) -> Session:
        """Creates a second session with the same configuration.

        Args:
            num_envs: Number of environments, none of which has started an episode. Default: as many as in this session, each
                in the state of its original.
        """
        if num_envs is None:
            states = self.save_state()
            twin = self.clone(self.num_envs)
            twin.restore_state(states)
            return twin
        config = self._message.config.changed(num_envs=arguments.integer("num_envs", num_envs))
        request = pb.CreateSessionRequest(config=config, ttl=self._message.ttl)
        return Session._create(self._connection, request, self.snapshot_every, copy=self._copy)

    def stream(self) -> StepStream:
        """Opens a stream: the same calls with less overhead."""
        return StepStream(self._link)

    def _listen(self, listener: Listener) -> None:
        """Notifies a listener from now on of every mutating call, on any stream."""
        self._link.listen([*self._link.listeners, listener])

    def _unlisten(self, listener: Listener) -> None:
        """Stops notifying a listener."""
        self._link.listen([other for other in self._link.listeners if other is not listener])

    def render(self, env_ids: EnvIds = None, *, style: str = "ascii", palette: str = "usual") -> list[str]:
        """Draws environments as text.

        Args:
            env_ids: Environments to draw. Default: all; an empty list means none.
            style: `ascii`, `lab`, `leiden`, `ansi` or `letters`; or for language models `prompt_board`, `prompt_actions`,
                `prompt_consequences` or `prompt_short`. See `RenderFormat` in the proto files.
            palette: Colours of `ansi`: `usual` or `color-blind`.
        """
        style = arguments.choice("style", style, _STYLES)
        request = pb.RenderRequest(
            envs=ids(env_ids),
            format=enum_value(pb.RenderFormat, style),
            palette=drawings.palette("palette", palette),
        )
        frames: list[str] = self._answers.listed("drawings", request, self._link.render(request).frames)
        return frames

    def pictures(
        self, env_ids: EnvIds = None, *, render_scale: float = 1.0, render_palette: str = "usual"
    ) -> npt.NDArray[np.uint8]:
        """Draws environments as pictures of one size. A session with `keep_colors` shows the tetromino of each cell.

        Args:
            env_ids: Environments to draw. Default: all; an empty list means none.
            render_scale: Size of the pictures, 0.25 to 4; at 1 a cell is 16 x 16 pixels.
            render_palette: `usual`, or `color-blind`.

        Returns:
            uint8 [B, height, width, 3] in pixels, both even.
        """
        envs = ids(env_ids)
        chosen = range(self.num_envs) if envs is None else list(envs.ids)

        def ask(some: Sequence[int]) -> npt.NDArray[np.uint8]:
            request = pb.RenderRequest(
                envs=ids(some),
                format=pb.RENDER_FORMAT_RGB,
                palette=drawings.palette("render_palette", render_palette),
                cell_pixels=drawings.cell_pixels("render_scale", render_scale),
            )
            return self._answers.pictures(request, self._link.render(request).pixels)

        first = ask(chosen[:1])
        pictures = np.empty((len(chosen), *first.shape[1:]), np.uint8)
        pictures[:1] = first
        # Half of the limit, because an answer contains more than its pixels.
        most = max(1, min(_PIXEL_BYTES, self._message.config.max_response_bytes // 2) // max(1, first.nbytes))
        for start in range(1, len(chosen), most):
            some = ask(chosen[start : start + most])
            if some.shape[1:] != first.shape[1:]:
                raise invalid_answer(f"a picture is {first.shape[1:]}, and the next ones are {some.shape[1:]}")
            pictures[start : start + most] = some
        return pictures

    def refresh(self) -> Session:
        """Reads the session from the server, which renews its lease, and adopts the server's sequence number.

        Returns:
            The session itself.
        """
        self._link.refresh()
        return self

    def close(self) -> None:
        """Ends the session on the server. Works even if the session, its server or its client is already gone.

        Does nothing in a forked child, because its parent still uses the session.
        """
        if not self._connection.usable:
            return
        with contextlib.suppress(ServerUnavailableError):
            self._link.close()

    def __enter__(self) -> Session:
        """The session itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Ends the session."""
        self.close()


class HasSession(Protocol):
    """An environment of this package, or a wrapper with such an `unwrapped`."""

    @property
    def unwrapped(self) -> Any:
        """The environment without its wrappers."""


Source: TypeAlias = "Session | HasSession"


def session_of(field: str, source: Any) -> Session:
    """A session, or the session of an environment.

    Raises:
        InvalidArgumentError: The source is neither a session nor an environment with one.
    """
    unwrapped = getattr(source, "unwrapped", source)
    # `TetrisVecEnv` for Stable-Baselines3 contains a vector environment.
    unwrapped = getattr(unwrapped, "envs", unwrapped)
    session = getattr(unwrapped, "session", unwrapped)
    if not isinstance(session, Session):
        raise arguments.wrong(field, source, "a session, or an environment of this package")
    return session
