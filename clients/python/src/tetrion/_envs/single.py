"""One game as a `gymnasium.Env`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments, keywords
from tetrion._clients.client import Client
from tetrion._envs import rendering, spaces
from tetrion._envs.base import SessionEnv
from tetrion._envs.readers import OneReader
from tetrion._messages.answers import Observed, Stepped
from tetrion._messages.requests import FeaturesLike, PositionsLike, RulesLike

Observation = dict[str, Any]


class SingleEnv(SessionEnv, gymnasium.Env[Observation, np.int64]):
    """One game, whatever a step of it is."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(rendering.MODES), "render_fps": 10}  # type: ignore[misc]

    @keywords.checked
    def __init__(
        self,
        *,
        address: str | Client | None = None,
        rules: RulesLike = None,
        observations: Sequence[str] = (),
        features: FeaturesLike = None,
        infos: Sequence[str] = (),
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
    ) -> None:
        """Makes a session of one environment.

        Args:
            address: The server's `host:port`, or a `Client`. Left out: the address in the environment variable
                TETRION_SERVER; without it, the games are played in this process.
            rules: A preset's name, or fields of the rules by name, such as `{"width": 6, "height": 12}`.
            observations: The observation fields, in order. None given: the server's default.
            features: The name of a feature set or a list of features, for the observation `features`.
            infos: The info fields. None given: the server's default, which lacks `landing_row`.
            invalid_action_policy: What happens when the mask forbids an action: `terminate` ends the episode; `ignore` takes
                a step with `invalid_action_reward` and leaves the game as it is; `reject` raises `IllegalActionError`, which
                finds the bug in an agent that should follow the mask.
            invalid_action_reward: The reward of an ignored action, usually negative; only with `ignore`.
            observe_mask: Whether the observation also holds the action mask, as `action_mask`, int8 (A,): for libraries
                that look for it there, and for agents that store it with their observations.
            max_episode_steps: Truncates episodes after so many steps; None: never.
            token: The bearer token that the server wants.
            ttl: Seconds that a server keeps the session without a call.
            snapshot_every: Steps between snapshots, from which the game continues if the server is lost; 0: none.
            render_mode: `human` draws in the terminal at every step, `metadata["render_fps"]` times a second at most; `ansi`
                gives coloured text, `rgb_array` a picture. They show the playfield in the colours of the tetrominoes, the
                current piece and the next ones, lines, pieces and points. After `restore_state` with a snapshot of
                another environment or a drawing, cells that were full before are grey.
            render_scale: The size of pictures, 0.25 to 4; at 1 a cell is 16 x 16 pixels.
            render_palette: `usual`, or `color-blind` for colours that people with any kind of colour blindness can tell
                apart.

        Raises:
            InvalidRequestError: The server refuses the rules, a name or a number; `violations` says which and why.
            InvalidArgumentError: There is no such argument, render mode or palette, the rules have no field of that name or
                are those of key presses, or nothing is left to observe.
            ServerNotFoundError: There is no address, and this package came without its extension module.
            ServerUnavailableError: No server answers at the address.
        """
        self._render_with(render_mode, render_scale, render_palette)
        arguments.flag("observe_mask", observe_mask)
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
        )
        self._mask: npt.NDArray[np.bool_] | None = None
        self.observation_space = self._fields.space
        self.action_space = spaces.action_space(self.session._message.action_spec)
        self._expected_action = f"an integer from 0 to {self.session.num_actions - 1}"

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Begins an episode; see "Starting State".

        Args:
            seed: 0 to 2**64 - 1, or `info["seed"]`; None: the next episode of the last seed.
            options: `{"piece_sequence": "IOTZ..."}`, or nothing.

        Returns:
            The observation and the info; see "Observation Space" and "Information".

        Raises:
            InvalidArgumentError: The seed does not fit into 64 bits, the piece sequence is not a string, or there is no
                option of that name.
            InvalidRequestError: A piece sequence has other letters, or comes together with a seed.
        """
        self._check_open("reset")
        sequence = spaces.known_options(options, ["piece_sequence"]).get("piece_sequence")
        if sequence is not None:
            sequence = arguments.string("options['piece_sequence']", sequence, arguments.PIECES)
        seed = spaces.checked_seed(seed)
        super().reset(seed=seed)
        observed = self._stream.reset(
            seeds=[seed] if seed is not None else None, piece_sequences=[sequence] if sequence is not None else ()
        )
        return self._seen(observed)

    def step(self, action: int | np.integer) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Takes one action.

        Args:
            action: 0 to A - 1; see "Action Space".

        Returns:
            The observation; the reward; whether the episode has ended by the rules (terminated); whether a limit has cut
            it (truncated); the info, whose `lines` and other counts are those of the whole episode.

        Raises:
            IllegalActionError: The action is outside the action space, or, with `invalid_action_policy="reject"`, forbidden
                by the mask. Nothing has changed.
            EpisodeEndedError: The episode is over; call `reset`.
            ResetNeededError: No episode has begun.
            gymnasium.error.ClosedEnvironmentError: `close` was called.
            ServerUnavailableError: The server is gone, and did not come back for as long as the client's `patience`.
        """
        self._check_open("step")
        if type(action) is not int or not -(2**31) <= action < 2**31:
            action = arguments.integer("action", action, -(2**31), 2**31 - 1, self._expected_action)
        mask = self._mask
        stepped = self._stream._step_one(action)
        observation, info = self._seen(stepped)
        terminated = stepped.terminated.item()
        if terminated and self._counts_endings and mask is not None:
            self._count_endings(~mask[[action]], stacklevel=3)
        return observation, stepped.rewards.item(), terminated, stepped.truncated.item(), info

    def _seen(self, seen: Observed | Stepped) -> tuple[Observation, dict[str, Any]]:
        self._begun[0] = True
        reader = seen.observations.reader or OneReader(self._fields, seen)
        self._mask = reader.mask
        if self.render_mode == "human":
            self._draw()
        return reader.read()

    def save_state(self) -> bytes:
        """Takes a snapshot: everything that decides the future of the game, the pieces to come included.

        Raises:
            ResetNeededError: No episode has begun.
        """
        self._check_open("save_state")
        return self._stream.save_state()[0]

    def restore_state(self, state: PositionsLike, *, reseed: int | None = None) -> tuple[Observation, dict[str, Any]]:
        """Continues from a snapshot. Wrappers that count steps do not notice.

        Args:
            state: A snapshot of `save_state`, from this environment or another with the same rules; or a `Drawing`, which
                begins a new episode.
            reseed: Deals other pieces from here on, drawn from this seed; None: those of the snapshot.

        Returns:
            The observation and the info, as from `reset`.

        Raises:
            VersionMismatchError: The snapshot is of other rules.
            InvalidRequestError: It is not a snapshot, or a damaged one.
        """
        self._check_open("restore_state")
        return self._seen(self._stream.restore_state(state, reseed=reseed))

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Which actions are allowed now, bool (A,).

        Raises:
            gymnasium.error.ResetNeeded: No episode has begun.
        """
        if self._mask is None:
            raise gymnasium.error.ResetNeeded("there is no action mask before the first reset")
        return np.array(self._mask)

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """The current picture in the render mode; nothing for `human`, which has drawn it already.

        Returns:
            `ansi`: lines of text with colours; `rgb_array`: uint8 (height, width, 3) in pixels, both even.
        """
        self._check_open("render")
        frames = self._frames()
        return frames[0] if frames is not None else None

    def close(self) -> None:
        """Ends the session. Closing twice does no harm."""
        if not self.closed:
            self.closed = True
            self._let_go()
