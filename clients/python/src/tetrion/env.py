"""One game as a `gymnasium.Env`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from tetrion import rendering, spaces
from tetrion.calls import Observed
from tetrion.client import Client
from tetrion.requests import FeaturesLike, RulesLike
from tetrion.session import Session
from tetrion.stream import StepStream

Observation = dict[str, Any]


class TetrisEnv(gymnasium.Env[Observation, np.int64]):
    """One game of Tetris, played by a Tetrion server.

    For more than a few games use `TetrisVectorEnv`: a call a step is most of the cost, and it has one call for all.

    ## Description

    The rules are those of the server's preset `simplified`, the game of the research literature, unless `rules` says
    otherwise: an empty playfield of 10 columns and 20 rows, each tetromino drawn with probability 1/7, placed by a
    straight drop.

    ## Action Space

    `Discrete(4 * width)`: an action is a placement, `orientation * width + column of the leftmost cell`. Which of them
    exist depends on the current tetromino: `info["action_mask"]` (int8, as `Discrete.sample(mask)` takes it) and
    `action_masks()` (bool, as MaskablePPO takes it) say so. For rules with the action model `keypress`, `Discrete(6)`:
    idle, left, right, rotate left, rotate right, drop.

    ## Observation Space

    A `Dict` of `Box`es with the bounds that the server tells, by default

    - `board`: uint8 (height, width), 1 where a cell is full; row 0 is the lowest
    - `current`: int8, the current tetromino as its number in I O T Z S J L, -1 where there is none
    - `queue`: int8 (preview,), the next ones, if the rules show any
    - `features`: float32, if `features` names some
    - `action_mask`: int8 (A,), with `observe_mask`

    ## Starting State

    An empty playfield. `reset(seed=s)` begins episode 0 of the seed s, `reset()` the next episode of the last seed; the
    pieces of each are a pure function of the seed and the number of the episode, told in `info["seed"]`, on every
    server of the same `rules_version`. Without any seed the server draws one.

    ## Rewards

    The points of the rules' scoring; by default 1 a line.

    ## Episode End

    ### Termination

    By the rules: by default when a landed cell lies above the playfield. With `invalid_action="terminate"` an action
    that the mask forbids ends the episode too.

    ### Truncation

    After `max_episode_steps` steps, or at the end of an explicit piece sequence. A step after the end of the episode
    raises `EpisodeEnded`.

    ## Information

    `lines`, `pieces`, `length`, `episode_return` and `seed` of the episode so far, and `action_mask`.

    ## Arguments

    `reset` takes in `options` a `"piece_sequence"`: letters of IOTZSJL to be dealt in this and all later episodes.
    """

    metadata = {"render_modes": ["human", "ansi", "rgb_array"], "render_fps": 10}  # noqa: RUF012

    def __init__(
        self,
        address: str | Client | None = None,
        *,
        rules: RulesLike = None,
        observations: Sequence[str] = (),
        features: FeaturesLike = None,
        invalid_action: str = "terminate",
        observe_mask: bool = False,
        max_episode_steps: int = 0,
        token: str | None = None,
        ttl: float = 3600.0,
        snapshot_every: int = 256,
        render_mode: str | None = None,
    ) -> None:
        """Makes a session of one environment.

        Args:
            address: The server's `host:port`, or a `Client`; left out, a server is started, one for this process.
            rules: A preset's name, or fields of the rules by name, such as `{"width": 6, "height": 12}`.
            observations: The observation fields wanted, in order; none: the server's default.
            features: A feature set's name or a list of features.
            invalid_action: What an action does that the mask forbids: `terminate` the episode, or be refused (`reject`)
                with an `IllegalAction`, which finds the bug in an agent that means to use the mask.
            observe_mask: Whether the observation holds the action mask too, as `action_mask`, int8 (A,): for libraries
                that look there, and for agents that keep it with what they have seen.
            max_episode_steps: Truncates episodes after so many steps; 0: never.
            token: The bearer token that the server wants.
            ttl: Seconds that the server keeps the session when nothing is done with it.
            snapshot_every: Steps between the snapshots from which the games go on if the server is lost; 0: none.
            render_mode: `human` draws in the terminal at every step, `ansi` gives coloured text, `rgb_array` a picture.

        Raises:
            InvalidRequest: The server refuses the rules, a name or a number; `violations` says which and why.
            ValueError: There is no such render mode, or rules have no field of that name.
            ServerNotFound: There is no address, and no server program to start.
            ServerUnavailable: Nobody answers at the address.
        """
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(f"render_mode is {render_mode!r}, expected one of {self.metadata['render_modes']}")
        self.render_mode = render_mode
        self._owns_client = not isinstance(address, Client)
        self.client = address if isinstance(address, Client) else Client(address, token=token)
        self.session: Session = self.client.create_session(
            rules=rules,
            observations=observations,
            features=features,
            autoreset="disabled",
            invalid_action=invalid_action,
            max_episode_steps=max_episode_steps,
            ttl=ttl,
            snapshot_every=snapshot_every,
        )
        self._stream: StepStream = self.session.stream()
        self._closed = False
        self._mask: npt.NDArray[np.bool_] | None = None
        self._observe_mask = observe_mask
        self.observation_space = spaces.observation_space(
            self.session.message.observation_specs, self.session.num_actions if observe_mask else 0
        )
        self.action_space = spaces.action_space(self.session.message.action_spec)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Begins an episode; see "Starting State".

        Args:
            seed: 0 to 2**64 - 1; None: the next episode of the last seed.
            options: `{"piece_sequence": "IOTZ..."}`, or nothing.

        Returns:
            The observation and the info, as "Observation Space" and "Information" tell.
        """
        super().reset(seed=seed)
        sequence = (options or {}).get("piece_sequence")
        observed = self._stream.reset(
            seeds=[seed] if seed is not None else None, piece_sequences=[sequence] if sequence is not None else ()
        )
        return self._seen(observed)

    def step(self, action: int | np.integer) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Does one action.

        Args:
            action: 0 to A - 1; see "Action Space".

        Returns:
            The observation; the reward; whether the episode has ended by the rules (terminated); whether a limit has cut
            it (truncated); the info, of which `lines` and the like are those of the whole episode.

        Raises:
            IllegalAction: The action is outside the action space, or, with `invalid_action="reject"`, forbidden by the
                mask. Nothing has changed.
            EpisodeEnded: The episode is over; call `reset`.
            ResetNeeded: No episode has begun.
            ServerUnavailable: The server is gone, and did not come back for as long as the client's `patience`.
        """
        stepped = self._stream.step(np.array([action]))
        observation, info = self._seen(Observed(stepped.observations, stepped.action_mask, stepped.infos))
        return (
            observation,
            float(stepped.rewards[0]),
            bool(stepped.terminated[0]),
            bool(stepped.truncated[0]),
            info,
        )

    def _seen(self, observed: Observed) -> tuple[Observation, dict[str, Any]]:
        # Copies, because the arrays of an answer are read-only and learners may write into theirs.
        observation = {name: array[0, ...].copy() for name, array in observed.observations.items()}
        # Numbers keep their numpy types: seeds of 64 bits would not fit where Gymnasium puts a Python integer.
        info: dict[str, Any] = {name: array[0] for name, array in observed.infos.items()}
        if observed.action_mask is not None:
            self._mask = observed.action_mask[0]
            info["action_mask"] = self._mask.astype(np.int8)
            if self._observe_mask:
                observation["action_mask"] = self._mask.astype(np.int8)
        if self.render_mode == "human":
            rendering.show(self.session)
        return observation, info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Which actions exist now, bool (A,).

        Raises:
            gymnasium.error.ResetNeeded: No episode has begun.
        """
        if self._mask is None:
            raise gymnasium.error.ResetNeeded("there is no action mask before the first reset")
        return np.array(self._mask)

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """The current picture in the render mode; nothing for `human`, which has drawn it already.

        Returns:
            `ansi`: lines of text with colours; `rgb_array`: uint8 (height, width, 3) in pixels.
        """
        if self.render_mode == "ansi":
            return rendering.ansi(self.session)[0]
        if self.render_mode == "rgb_array":
            return rendering.rgb(self.session)[0]
        return None

    def close(self) -> None:
        """Ends the session; once is enough, twice does no harm."""
        if self._closed:
            return
        self._closed = True
        self._stream.close()
        self.session.close()
        if self._owns_client:
            self.client.close()
