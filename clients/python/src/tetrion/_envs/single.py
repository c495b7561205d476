"""One game as a `gymnasium.Env`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt

from tetrion import _native
from tetrion._checks import arguments, keywords
from tetrion._clients.client import Client
from tetrion._envs import readers, rendering, spaces
from tetrion._envs.base import SessionEnv
from tetrion._messages.requests import FeaturesLike, PositionsLike, RulesLike
from tetrion._sessions.session import Session
from tetrion.errors import InvalidArgumentError

Observation = dict[str, Any]


class SingleEnv(SessionEnv, gymnasium.Env[Observation, np.int64]):
    """One game, with any kind of step."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(rendering.MODES), "render_fps": 10}  # type: ignore[misc]

    @keywords.checked
    def __init__(
        self,
        *,
        address: str | Client | None = None,
        rules: RulesLike = None,
        observations: Sequence[str] | None = None,
        features: FeaturesLike = None,
        infos: Sequence[str] | None = None,
        invalid_action_policy: str = "terminate",
        invalid_action_reward: float = 0.0,
        observe_mask: bool = False,
        max_episode_steps: int | None = None,
        token: str | None = None,
        ttl: float = 3600.0,
        snapshot_every: int = 256,
        render_mode: str | None = None,
        render_scale: float = 1.0,
        render_palette: str = "usual",
        label: str = "",
    ) -> None:
        """Creates a session of one environment.

        Args:
            address: The server's `host:port`, or a `Client`. Default: the address in the environment variable TETRION_SERVER
                or, if it is not set, this process.
            rules: A preset's name, or fields of the rules by name, such as `{"width": 6, "height": 12}`.
            observations: The observation fields, in order. Default: the server's choice.
            features: The name of a feature set or a list of features, for the observation `features`.
            infos: The info fields; none if empty. Default: the server's choice, which excludes `landing_row`.
            invalid_action_policy: Consequence of an action that the mask forbids: `terminate` ends the episode; `ignore`
                takes a step with `invalid_action_reward` and leaves the game unchanged; `reject` raises
                `IllegalActionError`, which reveals the bug in an agent that should follow the mask.
            invalid_action_reward: The reward of an ignored action, usually negative; only with `ignore`.
            observe_mask: Whether the observation also contains the action mask, as `action_mask`, int8 (A,), for libraries
                that look for it there and agents that store it with their observations.
            max_episode_steps: Truncates episodes after this many steps. None: never.
            token: The bearer token for the server.
            ttl: Seconds without a call after which a server removes the session.
            snapshot_every: Steps between snapshots, from which the game continues if the server is lost; 0: none.
            render_mode: `human` draws in the terminal at every step, at most `metadata["render_fps"]` times per second;
                `ansi` returns coloured text, `rgb_array` a picture. They show the playfield in the colours of the
                tetrominoes, the current piece and the next ones, lines, pieces and points. After `restore_state` with a
                snapshot of another environment or a drawing, the old full cells are grey.
            render_scale: The size of pictures, 0.25 to 4; at 1 a cell is 16 x 16 pixels.
            render_palette: `usual`, or `color-blind` for colours that people with any kind of colour blindness can
                distinguish.
            label: A name for people, such as "ppo lr 3e-4", at most 128 bytes, by which viewers find the session.

        Raises:
            InvalidRequestError: The server refuses the rules, a name or a number; `violations` says which and why.
            InvalidArgumentError: An argument, render mode, palette or field of the rules does not exist, the rules use key
                presses or have two players, or no observation is left.
            ServerUnavailableError: No server answers at the address.
        """
        self._render_with(render_mode, render_scale, render_palette)
        arguments.flag("observe_mask", observe_mask)
        if isinstance(rules, Mapping) and rules.get("players", 1) == 2:
            problem = (
                "have 2 players, and this is one game, expected 'tetrion/Versus-v0' (VersusEnv), with an opponent inside"
            )
            raise InvalidArgumentError("rules", f"{problem}, or a vector environment, whose environments play each other")
        self.metadata = dict(type(self).metadata)  # type: ignore[misc]
        self._make(
            address,
            token,
            observe_mask,
            rules=rules,
            observations=observations,
            features=features,
            autoreset_mode="disabled",
            infos=infos,
            invalid_action_policy=invalid_action_policy,
            invalid_action_reward=invalid_action_reward,
            max_episode_steps=max_episode_steps,
            ttl=ttl,
            snapshot_every=snapshot_every,
            label=label,
        )
        self.observation_space = self._fields.space
        self.action_space = gymnasium.spaces.Discrete(self._num_actions)
        self._expected_action = f"an integer from 0 to {self._num_actions - 1}"

    def _hold(self, session: Session) -> None:
        super()._hold(session)
        blocks = self._stream._blocks
        self._block = blocks.keep_one()
        calls = self._stream._native
        self._single = readers.single(self._fields, calls, self._block, blocks.places)
        self._step = self._single.step

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Starts an episode; see "Starting State".

        Args:
            seed: 0 to 2**64 - 1, or `info["seed"]`; None: the next episode of the last seed.
            options: `{"piece_sequence": "IOTZ..."}`, under rules with garbage also with `"hole_columns"`, the columns of the
                holes in the order in which lines get them; or nothing.

        Returns:
            The observation and the info; see "Observation Space" and "Information".

        Raises:
            InvalidArgumentError: The seed does not fit into 64 bits, the piece sequence is not a string, or an option does
                not exist.
            InvalidRequestError: A piece sequence has other letters, or is given together with a seed.
        """
        self._check_open("reset")
        options = dict(spaces.known_options(options, ["piece_sequence", "hole_columns"]))
        sequence = options.get("piece_sequence")
        if sequence is not None:
            sequence = arguments.string("options['piece_sequence']", sequence, arguments.PIECES)
        seed = spaces.checked_seed(seed)
        super().reset(seed=seed)
        seeds = [seed] if seed is not None else None
        holes = [options["hole_columns"]] if "hole_columns" in options else ()
        self._stream._reset(None, seeds, [sequence] if sequence is not None else (), holes)
        return self._seen()

    def step(self, action: int | np.integer) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Takes one action.

        Args:
            action: 0 to A - 1; see "Action Space".

        Returns:
            The observation; the reward; whether the rules ended the episode (terminated); whether a limit cut it
            (truncated); the info, whose `lines` and other counts are for the whole episode.

        Raises:
            IllegalActionError: The action is outside the action space, or, with `invalid_action_policy="reject"`, forbidden
                by the mask. Nothing has changed.
            EpisodeEndedError: The episode has ended; call `reset`.
            ResetNeededError: No episode has started.
            gymnasium.error.ClosedEnvironmentError: `close` was called.
            ServerUnavailableError: The server is gone, and did not come back within the client's `patience`.
        """
        self._check_open("step")
        if type(action) is not int or not -(2**31) <= action < 2**31:
            action = arguments.integer("action", action, -(2**31), 2**31 - 1, self._expected_action, allow_float=False)
        try:
            step = self._step(action)
            if step is None:
                self._stream.step(np.array([action]))
                step = self._single.stepped()
        except (_native.CallError, _native.AnswerError) as error:
            raise self.client._connection.raised(error) from None
        if step[2] and self._counts_endings:
            self._count_endings(np.array([not self._single.was_allowed]), stacklevel=3)
        if self.render_mode == "human":
            self._draw()
        return step

    def _seen(self) -> tuple[Observation, dict[str, Any]]:
        self._begun[0] = True
        if self.render_mode == "human":
            self._draw()
        try:
            return self._single.seen()
        except _native.AnswerError as error:
            raise self.client._connection.raised(error) from None

    def save_state(self) -> bytes:
        """Takes a snapshot of everything that decides the future of the game, including the next pieces.

        Raises:
            ResetNeededError: No episode has started.
        """
        self._check_open("save_state")
        return self._stream.save_state()[0]

    def restore_state(self, state: PositionsLike, *, reseed: int | None = None) -> tuple[Observation, dict[str, Any]]:
        """Continues from a snapshot. Wrappers that count steps do not notice.

        Args:
            state: A snapshot from `save_state` of this environment or another one with the same rules; or a `Drawing`, which
                starts a new episode.
            reseed: Deals other pieces from now on, drawn from this seed. None: those of the snapshot.

        Returns:
            The observation and the info, as from `reset`.

        Raises:
            VersionMismatchError: The snapshot belongs to other rules.
            InvalidRequestError: The state is not a snapshot, or is damaged.
        """
        self._check_open("restore_state")
        self._stream.restore_state(state, reseed=reseed)
        return self._seen()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The actions that are allowed now, bool (A,).

        Raises:
            gymnasium.error.ResetNeeded: No episode has started.
        """
        observed = self._block.observed
        if not self._begun[0] or observed is None or observed.action_mask is None:
            raise gymnasium.error.ResetNeeded("there is no action mask before the first reset")
        return np.array(observed.action_mask[0])

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """The current picture in the render mode; None for `human`, which has drawn it already.

        Returns:
            `ansi`: lines of coloured text; `rgb_array`: uint8 (height, width, 3) in pixels, both even.
        """
        self._check_open("render")
        frames = self._frames()
        return frames[0] if frames is not None else None

    def close(self) -> None:
        """Ends the session. Closing twice does no harm."""
        if not self.closed:
            self.closed = True
            self._let_go()
