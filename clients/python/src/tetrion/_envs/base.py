"""The base of single and vector environments: a session, its snapshots, and its end.

An environment can be pickled and copied. The copy contains the configuration of the session, with every default and the seed
filled in, and a snapshot of each started game. From these it creates a new session: on the server that it reaches from its
process, or in that process.
"""

from __future__ import annotations

import contextlib
import gc
import queue
import time
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments
from tetrion._clients.client import Client
from tetrion._envs import rendering
from tetrion._envs.listing import Listing
from tetrion._envs.spaces import Fields
from tetrion._messages import drawings, requests
from tetrion._messages.requests import RulesLike
from tetrion._pb import messages as pb
from tetrion._sessions.session import Session
from tetrion._sessions.stream import StepStream
from tetrion.errors import InvalidArgumentError, ServerFullError, TetrionError

# After this many episodes, it is clear whether the agent follows the mask.
_ENOUGH_ENDINGS = 100


class SessionEnv:
    """The part of an environment that owns its session.

    Attributes:
        client: The connection to the server.
        session: The environment's session on the server.
        closed: Whether the session has ended.
    """

    closed = True  # until the session is made: Gymnasium also closes environments whose constructor failed
    client: Client
    session: Session
    render_mode: str | None
    metadata: dict[str, Any]
    _copy: bool = False

    # The kind of step, and the environments for the other kind of rules.
    _action_model: int = pb.ACTION_MODEL_PLACEMENT
    _other = "'tetrion/Keypress-v0' (KeypressEnv, KeypressVectorEnv)"

    def _rules_of(self, rules: RulesLike) -> RulesLike:
        """The rules of the session, given those of the caller."""
        return rules

    def _render_with(self, render_mode: str | None, scale: float, palette: str) -> None:
        """Chooses how games are shown, before the session is created.

        Raises:
            InvalidArgumentError: The render mode or palette does not exist, or the scale is out of range.
        """
        self.render_mode = rendering.checked_mode(render_mode)
        drawings.cell_pixels("render_scale", scale)
        drawings.palette("render_palette", palette)
        self._render_options = scale, palette

    def _make(self, address: str | Client | None, token: str | None, observe_mask: bool, **config: Any) -> None:
        """Creates the session.

        Args:
            address: The address of a server, a client, or None for this process.
            token: The bearer token for the server.
            observe_mask: Whether observations contain the action mask.
            **config: Arguments of `Client.create_session`.

        Raises:
            InvalidArgumentError: The rules belong to the other kind of environments, or features are selected but not
                observed.
        """
        selected = requests.selected_features(config["features"])
        if selected and config["observations"] is not None:
            shown = arguments.names("observations", config["observations"], "board")
            if "features" not in shown:
                raise InvalidArgumentError(
                    "features", f"are selected, and observations is {shown}, expected 'features' among them"
                )
        config["rules"] = self._rules_of(config["rules"])
        self._observe_mask = observe_mask
        self._owns_client = not isinstance(address, Client)
        self.client = address if isinstance(address, Client) else Client(address, token=token)
        try:
            keep_colors = self.render_mode is not None
            self._hold(_with_room(lambda: self.client.create_session(**config, copy=False, keep_colors=keep_colors)))
        except BaseException:
            self._let_go()
            raise

    def _hold(self, session: Session) -> None:
        """Adopts a session that was just created for this environment."""
        self.session = session
        if session._message.config.rules.action_model != self._action_model:
            name = pb.ActionModel.name_of(session._message.config.rules.action_model)
            model = name.removeprefix("ACTION_MODEL_").lower()
            raise InvalidArgumentError("rules", f"have the action model {model!r}, which is played by {self._other}")
        self._num_actions, specs, self._stream = self._opened(session)
        # Callers may keep the arrays of a vector environment: lent ones if the games are in this process, else copies.
        self._stream._blocks.lends = lends = self._copy and self._stream._is_direct
        self._copies = self._copy and not lends
        self._fields = Fields(specs, self._num_actions if self._observe_mask else 0)
        self._begun = np.zeros(session.num_envs, np.bool_)
        # Whether some games still wait for their first episode.
        self._waits = True
        # Numbers of episodes that ended by the rules and by invalid actions, until there are enough to warn.
        self._endings = [0, 0]
        self._counts_endings = True
        self._renderer: rendering.Renderer | None = None
        if self.render_mode is not None:
            scale, palette = self._render_options
            self._renderer = rendering.Renderer(session, self.render_mode, scale=scale, palette=palette)
        self.closed = False

    def _opened(self, session: Session) -> tuple[int, Sequence[pb.TensorSpec], StepStream | Listing]:
        """The number of actions, the specs of the observations, and what takes the calls."""
        return session.num_actions, session._message.observation_specs, session.stream()

    def _count_endings(self, invalid: npt.NDArray[np.bool_], *, stacklevel: int) -> None:
        """Warns once if most of the first episodes have ended by invalid actions.

        Args:
            invalid: For each episode that has ended in this step, whether an invalid action ended it.
            stacklevel: Number of calls from here up to the learner's call.
        """
        self._endings[0] += int(np.count_nonzero(~invalid))
        self._endings[1] += int(np.count_nonzero(invalid))
        self._counts_endings = sum(self._endings) < _ENOUGH_ENDINGS
        if not self._counts_endings and self._endings[1] > self._endings[0]:
            warnings.warn(
                f"actions that the mask forbids ended {self._endings[1]} of the first {sum(self._endings)} episodes; let "
                "the agent choose among the actions of info['action_mask'] or action_masks(), as MaskablePPO of "
                "sb3-contrib does, or let it learn them: with a scoring that pays for pieces, or with "
                "invalid_action_policy='ignore', invalid_action_reward=-0.1 and max_episode_steps",
                stacklevel=stacklevel,
            )

    def _let_go(self) -> None:
        """Ends the session, and the connection if it belongs to this environment."""
        if hasattr(self, "_stream"):
            self._stream.close()
        if hasattr(self, "session"):
            self.session.close()
        if self._owns_client:
            self.client.close()

    def _check_open(self, what: str) -> None:
        """Refuses calls after the session has ended.

        Raises:
            gymnasium.error.ClosedEnvironmentError: `close` was called.
        """
        if self.closed:
            raise gymnasium.error.ClosedEnvironmentError(
                f"{what} after close(): the environment has ended its session; make a new one"
            )

    def _draw(self) -> None:
        """Draws the new state in the render mode `human`."""
        if self.render_mode == "human" and self._renderer is not None:
            self._renderer.show(self.metadata["render_fps"])

    def _frames(self) -> list[str] | list[npt.NDArray[np.uint8]] | None:
        """The return value of `render` for each environment; None for `human`, which has drawn it already."""
        return self._renderer.frames() if self._renderer is not None and self.render_mode != "human" else None

    def __getstate__(self) -> dict[str, Any]:
        """The state for pickling and copying."""
        self._check_open("pickle or copy")
        state = self.__dict__.copy()
        for name in ("session", "_stream", "_fields", "_renderer", "_begun", "closed"):
            del state[name]
        for name in ("_single", "_block", "_step"):
            state.pop(name, None)
        if self._owns_client:
            # A copy gets a new connection. A caller's client is shared, or pickled on its own terms.
            state["client"] = self.client._connection.settings
        begun = np.flatnonzero(self._begun).tolist()
        creation = pb.CreateSessionRequest(config=self.session._message.config, ttl=self.session._message.ttl)
        state["_saved"] = (
            creation.encode(),
            self.session.snapshot_every,
            begun,
            self._stream.save_state(begun) if begun else [],
        )
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Creates a session like the original's, in the same state."""
        creation, snapshot_every, begun, states = state.pop("_saved")
        self.__dict__.update(state)
        if self._owns_client:
            self.client = Client(**state["client"])
        try:
            request = pb.CreateSessionRequest.decode(creation)
            self._hold(_with_room(lambda: self.client._create(request, snapshot_every, False)))
            if begun:
                if len(begun) == self.session.num_envs:
                    self._stream.restore_state(states)
                else:
                    self._stream.restore_state(states, begun)
                    self._stream._blocks.gather(np.array(begun, np.int64))
                self._begun[begun] = True
        except BaseException:
            self._let_go()
            raise

    def __del__(self) -> None:
        """Leaves the session of a dropped environment for the next environment to end.

        The garbage collector may run this at any moment, even while a lock is held, so it must not make a call.
        """
        if not self.closed:
            self.closed = True
            _dropped.put((self._stream, self.session, self.client if self._owns_client else None))


# A SimpleQueue, whose `put` may be interrupted by another `put`: the garbage collector does that.
_dropped: queue.SimpleQueue[tuple[StepStream | Listing, Session, Client | None]] = queue.SimpleQueue()


def _with_room(make: Callable[[], Session]) -> Session:
    """Creates a session, after ending those of dropped environments: room on a server is limited."""
    _end_dropped()
    try:
        return make()
    except ServerFullError:
        # Environments in reference cycles, such as those of a learner, wait for the garbage collector.
        _collect_garbage()
        _end_dropped()
        return make()


class _Garbage:
    """An object in a reference cycle with itself."""

    def __init__(self) -> None:
        self.cycle = self


def _collect_garbage() -> None:
    """Collects all garbage. `gc.collect` returns at once, without effect, while another thread is collecting."""
    garbage = weakref.ref(_Garbage())
    deadline = time.monotonic() + 10.0
    gc.collect()
    # Our own garbage disappears in a collection that starts after its creation.
    while garbage() is not None and time.monotonic() < deadline:
        time.sleep(0.001)
        gc.collect()


def _end_dropped() -> None:
    with contextlib.suppress(queue.Empty):
        while True:
            stream, session, client = _dropped.get_nowait()
            with contextlib.suppress(TetrionError):
                stream.close()
                session.close()
            if client is not None:
                client.close()
