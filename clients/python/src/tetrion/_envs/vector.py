"""Many games as one `gymnasium.vector.VectorEnv`: one session, one call per step."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from tetrion._checks import arguments, keywords
from tetrion._checks.names import expected
from tetrion._clients.client import Client
from tetrion._envs import rendering, spaces
from tetrion._envs.ahead import AheadEnv, Observations, StepResult
from tetrion._envs.readers import FinalReader, ManyReader
from tetrion._messages import requests
from tetrion._messages.answers import Final, Observed, Stepped
from tetrion._messages.requests import FeaturesLike, PositionsLike, RulesLike
from tetrion.errors import InvalidArgumentError

# The methods that return one row per game.
GAME_METHODS = ("action_masks", "save_state", "render")


class ManyEnv(AheadEnv, VectorEnv[Observations, npt.NDArray[np.integer], npt.NDArray[Any]]):
    """N games in one session, with any kind of step."""

    @keywords.checked
    def __init__(
        self,
        num_envs: int = 1,
        *,
        address: str | Client | None = None,
        rules: RulesLike = None,
        observations: Sequence[str] | None = None,
        features: FeaturesLike = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        infos: Sequence[str] | None = None,
        invalid_action_policy: str = "terminate",
        invalid_action_reward: float = 0.0,
        observe_mask: bool = False,
        max_episode_steps: int | None = None,
        action_mask: bool = True,
        copy: bool = True,
        token: str | None = None,
        ttl: float = 3600.0,
        snapshot_every: int = 256,
        render_mode: str | None = None,
        render_scale: float = 1.0,
        render_palette: str = "usual",
        label: str = "",
    ) -> None:
        """Creates a session of `num_envs` environments.

        Args:
            num_envs: Number of games.
            address: The server's `host:port`, or a `Client`. Default: the address in the environment variable TETRION_SERVER
                or, if it is not set, this process.
            rules: A preset's name, or fields of the rules by name, such as `{"width": 6, "height": 12}`.
            observations: The observation fields, in order. Default: the server's choice.
            features: The name of a feature set or a list of features, for the observation `features`.
            autoreset_mode: `next_step`, `same_step` or `disabled`, or Gymnasium's `AutoresetMode`.
            infos: The info fields; none if empty. Default: the server's choice, which excludes `landing_row`.
            invalid_action_policy: Consequence of an action that the mask forbids: `terminate` ends the episode of that game;
                `ignore` takes a step with `invalid_action_reward` and leaves that game unchanged; `reject` refuses the whole
                step with an `IllegalActionError`.
            invalid_action_reward: The reward of an ignored action, usually negative; only with `ignore`.
            observe_mask: Whether observations also contain the action masks, as `action_mask`, int8 (num_envs, A).
            max_episode_steps: Truncates episodes after this many steps. None: never.
            action_mask: Whether infos contain action masks.
            copy: Whether the caller may keep the arrays of an answer; one that is kept keeps the memory of the whole answer.
                If False, the step after the next one overwrites them, last states included, and the caller must not change
                them: a reset of some games shows the others from them.
            token: The bearer token for the server.
            ttl: Seconds without a call after which a server removes the session.
            snapshot_every: Steps between snapshots, from which the games continue if the server is lost; 0: none.
            render_mode: `human` draws the first game in the terminal at every step, at most `metadata["render_fps"]` times
                per second; `ansi` returns coloured text and `rgb_array` a picture per game. See `PlacementEnv`.
            render_scale: The size of pictures, 0.25 to 4; at 1 a cell is 16 x 16 pixels.
            render_palette: `usual` or `color-blind`.
            label: A name for people, such as "ppo lr 3e-4", at most 128 bytes, by which viewers find the session.

        Raises:
            InvalidRequestError: The server refuses the rules, a name or a number; `violations` says which and why.
            InvalidArgumentError: An argument, render mode, palette or autoreset mode does not exist, `observe_mask` is given
                without `action_mask`, the rules belong to the other kind of environments, or no observation is left.
            ServerUnavailableError: No server answers at the address.
            ServerFullError: The server has no room for this many environments.
        """
        self._render_with(render_mode, render_scale, render_palette)
        self._copy = arguments.flag("copy", copy)
        if arguments.flag("observe_mask", observe_mask) and not arguments.flag("action_mask", action_mask):
            raise InvalidArgumentError("observe_mask", "is True, and action_mask is not, expected both or neither")
        self.autoreset_mode = requests.autoreset_mode(autoreset_mode)
        self.metadata = {
            "render_modes": list(rendering.MODES),
            "render_fps": 10,
            "autoreset_mode": self.autoreset_mode,
        }
        self._make(
            address,
            token,
            observe_mask,
            num_envs=num_envs,
            rules=rules,
            observations=observations,
            features=features,
            autoreset_mode=self.autoreset_mode,
            infos=infos,
            invalid_action_policy=invalid_action_policy,
            invalid_action_reward=invalid_action_reward,
            max_episode_steps=max_episode_steps,
            action_mask=action_mask,
            ttl=ttl,
            snapshot_every=snapshot_every,
            label=label,
        )
        self.num_envs = num_envs = self.session.num_envs
        self._players: int = max(1, self.session._message.config.rules.players)
        self.single_observation_space = self._fields.space
        self.single_action_space = gymnasium.spaces.Discrete(self._num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._all = np.ones(num_envs, np.bool_)
        self._all.flags.writeable = False
        # Values that `set_attr` has set, one per game.
        self._attributes: dict[str, tuple[Any, ...]] = {}
        self._sent = deque()

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observations, dict[str, Any]]:
        """Starts episodes in all games, or in those of `options["reset_mask"]`.

        Args:
            seed: 0 to 2**64 - num_envs, or one per game, as in `infos["seed"]`; see "Seeds". Under rules of two players,
                equal seeds for both sides of a match.
            options: `"reset_mask"`, bool (num_envs,), and `"piece_sequences"`, a string of the letters IOTZSJL per reset
                game, or one for all; with them and under rules with garbage `"hole_columns"`, a list of columns per string,
                in the order in which lines get their holes; under rules of two players `"swap_sides"`, whether to start
                mirrored matches, in which each side has the holes of the other, until the next reset.

        Returns:
            Observations and infos, arrays with one row per game; see "Information" for games that were not reset.

        Raises:
            InvalidArgumentError: The mask is not an array of bool or is false everywhere, the number of seeds or mask
                entries differs from the number of games, a seed does not fit into 64 bits, an option does not exist, or the
                two sides of a match differ in seed or mask. No game has changed.
        """
        self._check_open("reset")
        options = dict(spaces.known_options(options, ["reset_mask", "piece_sequences", "hole_columns", "swap_sides"]))
        mask = options.get("reset_mask")
        chosen = chosen_envs(mask, self.num_envs)
        self._check_sides("options['reset_mask']", mask)
        # Gymnasium accepts no negative seeds.
        if seed is None:
            seeds, parts = None, [chosen]
        else:
            seeds = env_seeds(seed, self.num_envs, self._players)
            self._check_sides("seed", seeds)
            # The protocol seeds all environments of a call or none of them.
            seeded = np.array([seeds[env] is not None for env in chosen])
            parts = [chosen[seeded], chosen[~seeded]]
        super().reset(seed=seeds[0] if seeds is not None else None)
        present = self._all if mask is None else mask
        swap_sides = arguments.flag("options['swap_sides']", options.get("swap_sides", False))
        written = (options.get("piece_sequences", ()), options.get("hole_columns", ()), swap_sides)
        return self._seen(self._reset(parts, seeds, written, present), present)

    def _reset(
        self,
        parts: Sequence[npt.NDArray[np.int64]],
        seeds: Sequence[int | None] | None,
        written: tuple[Sequence[str], Sequence[Sequence[int]], bool],
        present: npt.NDArray[np.bool_],
    ) -> Observed:
        """Starts episodes in the games of these parts, and tells what all games show then."""
        stream, answers = self._stream, []
        sequences, holes, swap_sides = written
        is_plain = seeds is None and not len(sequences) and not len(holes) and not swap_sides
        if is_plain and parts[0].size < self.num_envs and stream._is_direct:
            observed = stream._reset_some(parts[0])
            if observed is not None:
                return self._without_waiting(observed, present)
        for envs in parts:
            if envs.size:
                numbers = [seeds[env] or 0 for env in envs] if seeds is not None and seeds[envs[0]] is not None else None
                ids = None if envs.size == self.num_envs else envs
                answers.append((stream._reset(ids, numbers, *written), envs))
        if answers[0][1].size == self.num_envs:
            return stream._blocks.observed(answers[0][0])
        return self._without_waiting(stream._blocks.merged(answers), present)

    def _check_sides(self, field: str, values: Sequence[Any] | npt.NDArray[np.bool_] | None) -> None:
        """Refuses different values for the two sides of a match, before any game changes."""
        if values is None or self._players == 1:
            return
        for env in range(0, self.num_envs, 2):
            if values[env] != values[env + 1]:
                problem = (
                    f"is {values[env]} for environment {env} and {values[env + 1]} for its opponent, environment {env + 1}"
                )
                raise InvalidArgumentError(field, f"{problem}, expected equal values for both sides of a match")

    def _without_waiting(self, observed: Observed, present: npt.NDArray[np.bool_]) -> Observed:
        """What all games show, with 0 for those that wait for their first episode, after a call about some."""
        if self._waits:
            begun = self._begun | present
            for name in self._fields.names:
                observed.observations[name][~begun] = 0
        return observed

    def step(self, actions: npt.NDArray[np.integer]) -> StepResult:
        """Takes one action per game; see "Autoreset" for games whose episode has ended.

        Args:
            actions: Integers (num_envs,), 0 to A - 1.

        Returns:
            Observations; rewards, float64 (num_envs,); terminated and truncated, bool (num_envs,); infos.

        Raises:
            IllegalActionError: An action is outside the action space, or, with `invalid_action_policy="reject"`, forbidden
                by its mask. No game has moved.
            EpisodeEndedError: With `DISABLED`, an episode has ended.
            ResetNeededError: No episodes have started.
            gymnasium.error.ClosedEnvironmentError: `close` was called.
            ServerUnavailableError: The server is gone, and did not come back within the client's `patience`.
        """
        return self._result(self._step(actions), self._all)

    def _step(self, actions: npt.NDArray[np.integer]) -> Stepped:
        """Takes one action per game, and counts the episodes that end."""
        self._check_open("step")
        mask, stepped = self._stream._blocks.mask, self._stream.step(actions)
        self._count(stepped, mask, actions, stacklevel=5)
        return stepped

    def _count(
        self,
        stepped: Stepped,
        mask: npt.NDArray[np.bool_] | None,
        actions: npt.NDArray[np.integer],
        *,
        stacklevel: int,
    ) -> None:
        ended = stepped.terminated
        if self._counts_endings and np.count_nonzero(ended):
            if mask is not None:
                invalid = ~mask[np.arange(len(mask)), actions][ended]
            elif "invalid_action" in stepped.infos:
                known = stepped.infos if stepped.final is None else stepped.final.infos
                rows = ended if stepped.final is None else slice(None)
                invalid = known["invalid_action"][rows].astype(np.bool_)
            else:
                return
            # A match counts once: both sides end together.
            self._count_endings(np.logical_or.reduce(invalid.reshape(-1, self._players), axis=1), stacklevel=stacklevel)

    def _result(
        self, stepped: Stepped, present: npt.NDArray[np.bool_], known: Mapping[str, npt.NDArray[Any]] | None = None
    ) -> StepResult:
        """An answer in Gymnasium's form, with additional infos that are known already."""
        observations, infos = self._read(stepped, present, known)
        final = stepped.final
        if final is not None:
            infos |= self._final_reader(final).read(final.rows, present.size, copy=self._copies)
        terminated, truncated = stepped.terminated, stepped.truncated
        if self._copy:
            terminated, truncated = terminated.copy(), truncated.copy()
        return observations, stepped.rewards.astype(np.float64), terminated, truncated, infos

    def _seen(self, observed: Observed, present: npt.NDArray[np.bool_]) -> tuple[Observations, dict[str, Any]]:
        """The state of all games after a reset or a restore."""
        if self._waits:
            self._begun |= present
            self._waits = not self._begun.all()
        return self._read(observed, present)

    def _read(
        self,
        observed: Observed | Stepped,
        present: npt.NDArray[np.bool_],
        known: Mapping[str, npt.NDArray[Any]] | None = None,
    ) -> tuple[Observations, dict[str, Any]]:
        reader = observed.observations.reader or self._reader(observed)
        valid = present if present is self._all and not self._copy else present.copy()
        observations, infos = reader.read(valid, copy=self._copies)
        for name, array in (known or {}).items():
            infos |= {name: array, f"_{name}": valid}
        self._draw()
        return observations, infos

    def _reader(self, observed: Observed | Stepped) -> ManyReader:
        reader = ManyReader(self._fields, observed)
        self._stream._blocks.lend(reader, final=False)
        return reader

    def _final_reader(self, final: Final) -> FinalReader:
        if final.infos.reader is not None:
            known: FinalReader = final.infos.reader
            return known
        reader = FinalReader(self._fields, final, spaces.ended_mask(self._num_actions))
        self._stream._blocks.lend(reader, final=True)
        return reader

    def save_state(self) -> list[bytes]:
        """Takes a snapshot of each game: everything that decides its future, including the next pieces.

        Raises:
            ResetNeededError: A game has not started.
        """
        self._check_open("save_state")
        return self._stream.save_state()

    def restore_state(
        self, states: PositionsLike, env_ids: Sequence[int] | None = None, *, reseed: int | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Continues from snapshots.

        Args:
            states: One snapshot per game, from `save_state` of this environment or another one with the same rules, or one
                for all games. Or `Drawing`s or `Packed` playfields, which start new episodes.
            env_ids: The games to restore. None: all.
            reseed: Deals other pieces from now on, different ones to each game. None: those of the snapshots.

        Returns:
            Observations and infos, as from `reset`.

        Raises:
            VersionMismatchError: The snapshots belong to other rules.
            InvalidRequestError: The number of snapshots differs from the number of games, or one is not a snapshot.
        """
        self._check_open("restore_state")
        observed = self._stream.restore_state(states, env_ids, reseed=reseed)  # which checks them
        envs = np.arange(self.num_envs, dtype=np.int64) if env_ids is None else np.asarray(env_ids, np.int64)
        present = np.zeros(self.num_envs, np.bool_)
        present[envs] = True
        blocks = self._stream._blocks
        if env_ids is not None:
            assert blocks.latest is not None, "there was an answer"
            observed = self._without_waiting(blocks.merged([(blocks.latest, envs)]), present)
        return self._seen(observed, present)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The actions that are allowed now, bool (num_envs, A).

        Raises:
            gymnasium.error.ResetNeeded: No episode has started, or the session has no masks.
        """
        mask = self._stream._blocks.mask
        if mask is None:
            raise gymnasium.error.ResetNeeded("there is no action mask before the first reset, or without action_mask")
        return np.array(mask)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Calls a method of every game, or reads an attribute, like Gymnasium's vector environments.

        Args:
            name: `action_masks`, `save_state` or `render`; or an attribute, such as `action_space` or one set by `set_attr`.
            *args: Positional arguments of the method.
            **kwargs: Keyword arguments of the method.

        Returns:
            The return value of each game.

        Raises:
            AttributeError: The games have no such method or attribute.
        """
        if name in GAME_METHODS:
            rows = getattr(self, name)(*args, **kwargs)
            return tuple(rows) if rows is not None else (None,) * self.num_envs
        if name in self._attributes:
            return self._attributes[name]
        value = getattr(self, f"single_{name}" if name in ("action_space", "observation_space") else name)
        if callable(value):
            raise AttributeError(f"the games of one session have no method {name!r}{expected(name, GAME_METHODS)}")
        return (value,) * self.num_envs

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Reads an attribute of every game; see `call`."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Sets an attribute of every game, for `call` and `get_attr`. Attributes that define the games are fixed.

        Args:
            name: A new name.
            values: A list or a tuple with one value per game, or one value for all.

        Raises:
            InvalidArgumentError: The attribute belongs to the environment, or the number of values differs from the number
                of games.
        """
        if hasattr(self, name) or name in inspect.signature(ManyEnv.__init__).parameters:
            raise InvalidArgumentError("name", f"is {name!r}, which is fixed; make a new environment with another value")
        if not isinstance(values, (list, tuple)):
            values = [values] * self.num_envs
        if len(values) != self.num_envs:
            raise InvalidArgumentError(
                "values", f"has {len(values)} values, expected one for each of {self.num_envs} environments"
            )
        self._attributes[name] = tuple(values)

    def render(self) -> tuple[Any, ...] | None:
        """The current pictures in the render mode, one per game; None for `human`, which has drawn already.

        Returns:
            `ansi`: lines of coloured text; `rgb_array`: uint8 (height, width, 3) in pixels, both even.
        """
        self._check_open("render")
        frames = self._frames()
        return tuple(frames) if frames is not None else None

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the session. `close` calls this once."""
        self._let_go()


def chosen_envs(reset_mask: Any, num_envs: int) -> npt.NDArray[np.int64]:
    """The environments that a mask chooses; all without a mask.

    Raises:
        InvalidArgumentError: The mask is no array of bool, has another shape than (num_envs,), or is false everywhere.
    """
    if reset_mask is None:
        return np.arange(num_envs, dtype=np.int64)
    field, wanted = "options['reset_mask']", f"a numpy array of bool of the shape ({num_envs},)"
    if not isinstance(reset_mask, np.ndarray):
        raise arguments.wrong(field, reset_mask, wanted)
    if reset_mask.dtype != np.bool_ or reset_mask.shape != (num_envs,):
        raise InvalidArgumentError(field, f"has {reset_mask.dtype} of the shape {reset_mask.shape}, expected {wanted}")
    (chosen,) = reset_mask.nonzero()
    if not chosen.size:
        raise InvalidArgumentError(field, "is false everywhere, expected at least one environment to reset")
    return chosen


def env_seeds(seed: Any, num_envs: int, players: int = 1) -> list[int | None]:
    """One seed per environment; None for environments that start their next episode. An integer seeds match by match.

    Raises:
        InvalidArgumentError: A seed does not fit into 64 bits, or the number of seeds differs from `num_envs`.
    """
    if isinstance(seed, str) or not isinstance(seed, (Sequence, np.ndarray)) or getattr(seed, "ndim", 1) == 0:
        first = arguments.integer("seed", seed, arguments.I64, arguments.U64 + 1 - num_envs)
        return [arguments.seed("seed", first + env // players) for env in range(num_envs)]
    if len(seed) != num_envs:
        wanted = f"one for each of {num_envs} environments, or an integer for all"
        raise InvalidArgumentError("seed", f"has {len(seed)} seeds, expected {wanted}")
    return [spaces.checked_seed(one, f"seed[{env}]") for env, one in enumerate(seed)]
