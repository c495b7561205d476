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
from tetrion._envs.base import RemoteEnv
from tetrion._messages.answers import Observed
from tetrion._messages.requests import FeaturesLike, PositionsLike, RulesLike

Observation = dict[str, Any]


class TetrisEnv(RemoteEnv, gymnasium.Env[Observation, np.int64]):
    """One game of Tetris, played by a Tetrion server.

    For more than a few games use `TetrisVectorEnv`: most of the cost of a step is its call, and there all games share one.

    ## Description

    The rules are those of the server's preset `simplified`, the game of the research literature, unless `rules` says
    otherwise: an empty playfield of 10 columns and 20 rows, each tetromino drawn with probability 1/7, placed by a
    straight drop.

    ## Action Space

    `Discrete(4 * width)`: an action is a placement, `orientation * width + column of the leftmost cell`. Which of them
    are allowed depends on the current tetromino: see `info["action_mask"]` (int8, as `Discrete.sample(mask)` takes it) and
    `action_masks()` (bool, as MaskablePPO takes it). The game key by key is `KeypressEnv`. With `rules="guideline"` pieces
    turn on their way down and can be held, and there are 5,760 actions; `ActionModel` in `rules.proto` has their numbers.

    ## Observation Space

    A `Dict` with the shapes and bounds that the server reports, by default

    - `board`: `Box` uint8 (height, width), 1 where a cell is full; row 0 is the lowest
    - `current`: `Discrete(8)`, the current tetromino as its number in I O T Z S J L; 7 means none (behind the last piece
      of an explicit sequence). With another `piece_set` of n pieces it is `Discrete(n + 1)`, and n means none
    - `queue`: `MultiDiscrete([8] * preview)`, the next ones, if the rules show any
    - `held`: `Discrete(8)`, the held one, if the rules let one be held; 7 while none is
    - `garbage`: uint8 (delay + 1,), where the rules have garbage: lines that wait, by the piece with which they may rise
    - `features`: `Box` float32, if `features` names some
    - `action_mask`: `Box` int8 (A,), with `observe_mask`

    Libraries turn `Discrete` and `MultiDiscrete` into a one-hot code, which suits a tetromino: it is a name and not an
    amount. Sessions of `Client.create_session` return the server's own numbers, with -1 for none.

    ## Starting State

    An empty playfield. `reset(seed=s)` begins episode 0 of the seed s, `reset()` the next episode of the last seed. The
    pieces of each are a pure function of the seed and the number of the episode, which `info["seed"]` holds as one number:
    `reset(seed=info["seed"])` deals the same pieces again, on every server of the same `rules_version`. If you never give a
    seed, the server draws one.

    ## Rewards

    The points of the rules' scoring; by default 1 a line. With `invalid_action="ignore"`, `invalid_action_reward` for an
    action that the mask forbids.

    ## Episode End

    ### Termination

    By the rules: by default when a landed cell lies above the playfield. With `invalid_action="terminate"` an action
    that the mask forbids ends the episode too, which `info["invalid_action"]` says.

    ### Truncation

    After `max_episode_steps` steps, or at the end of an explicit piece sequence. A step after the end of the episode
    raises `EpisodeEndedError`.

    ## Information

    `lines`, `pieces`, `length` and `episode_return` of the episode so far, as Python's numbers; `seed`, that of the
    episode: its 64 bits as a number with a sign, which fits int64; and `action_mask`. Unless `invalid_action="reject"`:
    `invalid_action`, whether the mask forbade the last action, and `invalid_actions`, how many it has forbidden in the
    episode. If `infos` asks for it: `landing_row`, the row in which the last piece came to rest.

    ## Snapshots and copies

    `clone_state()` takes a snapshot of everything that decides the future of the game; `restore_state` returns to it, in
    this environment or in another with the same rules. `copy.deepcopy` and `pickle` make an environment that continues from
    where this one is, in a session of its own. On a wrapped environment call the methods of `env.unwrapped`.

    ## Arguments

    The `options` of `reset` take a `"piece_sequence"`: letters of IOTZSJL to deal in this and all later episodes.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(rendering.MODES), "render_fps": 10}  # type: ignore[misc]

    @keywords.checked
    def __init__(
        self,
        address: str | Client | None = None,
        *,
        rules: RulesLike = None,
        observations: Sequence[str] = (),
        features: FeaturesLike = None,
        infos: Sequence[str] = (),
        invalid_action: str = "terminate",
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
            address: The server's `host:port`, or a `Client`; left out, a server is started, one for this process.
            rules: A preset's name, or fields of the rules by name, such as `{"width": 6, "height": 12}`.
            observations: The observation fields, in order. None given: the server's default.
            features: The name of a feature set or a list of features, for the observation `features`.
            infos: The info fields. None given: the server's default, which lacks `landing_row`.
            invalid_action: What happens when the mask forbids an action: `terminate` ends the episode; `ignore` takes a step
                with `invalid_action_reward` and leaves the game as it is; `reject` raises `IllegalActionError`, which finds
                the bug in an agent that should follow the mask.
            invalid_action_reward: The reward of an ignored action, usually negative; only with `ignore`.
            observe_mask: Whether the observation also holds the action mask, as `action_mask`, int8 (A,): for libraries
                that look for it there, and for agents that store it with their observations.
            max_episode_steps: Truncates episodes after so many steps; None or 0: never.
            token: The bearer token that the server wants.
            ttl: Seconds that the server keeps the session without a call.
            snapshot_every: Steps between snapshots, from which the game continues if the server is lost; 0: none.
            render_mode: `human` draws in the terminal at every step, `metadata["render_fps"]` times a second at most; `ansi`
                gives coloured text, `rgb_array` a picture. They show the playfield in the colours of the tetrominoes, the
                current piece and the next ones, lines, pieces and points. After `restore_state` with a snapshot of
                another environment or a drawing, cells that were full before are grey.
            render_scale: The size of pictures, 0.25 to 4; at 1 a cell is 16 x 16 pixels.
            render_palette: `usual`, or `colour-blind` for colours that people with any kind of colour blindness can tell
                apart.

        Raises:
            InvalidRequestError: The server refuses the rules, a name or a number; `violations` says which and why.
            InvalidArgumentError: There is no such argument, render mode or palette, the rules have no field of that name or
                are those of key presses, or nothing is left to observe.
            ServerNotFoundError: There is no address, and no server program to start.
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
            invalid_action=invalid_action,
            invalid_action_reward=invalid_action_reward,
            max_episode_steps=0 if max_episode_steps is None else max_episode_steps,
            ttl=ttl,
            snapshot_every=snapshot_every,
        )
        self._mask: npt.NDArray[np.bool_] | None = None
        self.observation_space = self._fields.space
        self.action_space = spaces.action_space(self.session.message.action_spec)
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
            IllegalActionError: The action is outside the action space, or, with `invalid_action="reject"`, forbidden by the
                mask. Nothing has changed.
            EpisodeEndedError: The episode is over; call `reset`.
            ResetNeededError: No episode has begun.
            gymnasium.error.ClosedEnvironmentError: `close` was called.
            ServerUnavailableError: The server is gone, and did not come back for as long as the client's `patience`.
        """
        self._check_open("step")
        mask, action = self._mask, arguments.integer("action", action, -(2**31), 2**31 - 1, self._expected_action)
        stepped = self._stream.step(np.array([action]))
        if stepped.terminated[0] and mask is not None:
            self._count_endings(~mask[[action]])
        observation, info = self._seen(Observed(stepped.observations, stepped.action_mask, stepped.infos))
        return (
            observation,
            float(stepped.rewards[0]),
            bool(stepped.terminated[0]),
            bool(stepped.truncated[0]),
            info,
        )

    def _seen(self, observed: Observed) -> tuple[Observation, dict[str, Any]]:
        self._begun[0] = True
        # Copies: the arrays of an answer are read-only, and learners may write into theirs. The scalar `current` becomes a
        # numpy integer, as Discrete spaces have them.
        fields = self._fields.observations(observed.observations)
        observation: Observation = {name: np.copy(array[0])[()] for name, array in fields.items()}
        info = spaces.info(observed.infos)
        if observed.action_mask is not None:
            self._mask = mask = observed.action_mask[0]
            info["action_mask"] = mask.astype(np.int8)
            if self._observe_mask:
                observation["action_mask"] = mask.astype(np.int8)
        self._draw()
        return observation, info

    def clone_state(self) -> bytes:
        """Takes a snapshot: everything that decides the future of the game, the pieces to come included.

        Raises:
            ResetNeededError: No episode has begun.
        """
        self._check_open("clone_state")
        return self._stream.save()[0]

    def restore_state(self, state: PositionsLike, *, reseed: int | None = None) -> tuple[Observation, dict[str, Any]]:
        """Continues from a snapshot. Wrappers that count steps do not notice.

        Args:
            state: A snapshot of `clone_state`, from this environment or another with the same rules; or a `Drawing`, which
                begins a new episode.
            reseed: Deals other pieces from here on, drawn from this seed; None: those of the snapshot.

        Returns:
            The observation and the info, as from `reset`.

        Raises:
            VersionMismatchError: The snapshot is of other rules.
            InvalidRequestError: It is not a snapshot, or a damaged one.
        """
        self._check_open("restore_state")
        return self._seen(self._stream.restore(state, reseed=reseed))

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
