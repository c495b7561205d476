"""Matches against an opponent inside: a `gymnasium.Env` and a `VectorEnv` over the even rows of a session of matches."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from tetrion._checks import arguments
from tetrion._envs import rendering
from tetrion._envs.ahead import Observations, StepResult
from tetrion._envs.placement import PlacementVectorEnv
from tetrion._envs.spaces import checked_seed, known_options
from tetrion._envs.vector import chosen_envs, env_seeds
from tetrion._messages.policies import Policy
from tetrion._messages.requests import RulesLike
from tetrion._sessions.calls import check_rows
from tetrion._sessions.session import Session
from tetrion.errors import InvalidArgumentError, ResetNeededError

Opponent: TypeAlias = "Policy | str | Callable[[Observations, npt.NDArray[np.bool_]], npt.ArrayLike]"

_RULES = "tetrio"
_OPPONENT = "tetrion-guideline"


def match_rules(rules: RulesLike) -> RulesLike:
    """The rules of matches: of two players, under the preset `tetrio` by default."""
    if not isinstance(rules, Mapping):
        rules = {"preset": _RULES if rules is None else arguments.string("rules", rules)}
    if (players := rules.get("players", 2)) != 2:
        raise InvalidArgumentError("rules['players']", f"is {players}, expected 2: this is a match")
    return {**rules, "players": 2}


def one_row(observations: Observations, infos: Mapping[str, Any], row: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A row of a vector environment's answer, as `PlacementEnv` shows it: infos are Python's numbers."""
    known = {name: array[row] for name, array in infos.items() if not name.startswith("_")}
    return {name: array[row] for name, array in observations.items()}, {
        name: value if isinstance(value, np.ndarray) else value.item() for name, value in known.items()
    }


class VersusVectorEnv(VectorEnv[Observations, npt.NDArray[np.integer], npt.NDArray[Any]]):
    """M matches of two players, in which the agent plays one side and an opponent the other, in one session.

    Environment k is the agent's side of match k, row 2k of the session; the opponent has row 2k + 1, and errors name rows.
    Actions, observations, rewards, infos and `autoreset_mode` are those of `PlacementVectorEnv` with these rows, M of them.

    ## Observation Space

    With `observe_opponent`, each field occurs again for the opponent's row, with the prefix `opponent_`.

    ## Rewards

    By the rules: lines sent under `tetrio`. With `"clear_points": "exchange"`, lines that reach the opponent less those
    that arrive, and with `"result"`, 1 for a won match and -1 for a lost one.

    ## Seeds

    `reset(seed=s)` gives match k the seed s + k; a list gives one seed per match, or None. Equal seeds and actions give
    equal matches if the opponent is a policy, or a function of its arguments.

    Attributes:
        envs: Both sides of the matches, a `PlacementVectorEnv` with 2M rows.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": list(rendering.MODES),
        "render_fps": 10,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        *,
        opponent: Opponent = _OPPONENT,
        observe_opponent: bool = False,
        rules: RulesLike = None,
        **options: Any,
    ) -> None:
        """Creates a session of `num_envs` matches.

        Args:
            num_envs: Number of matches, M.
            opponent: A policy of the server by name, a `Policy`, or a function of the opponents' observations, arrays with
                M rows, and masks, bool (M, A), that returns integers (M,), such as a frozen copy of the agent. Rows of
                ended matches allow action 0 only, and their actions are ignored.
            observe_opponent: Whether observations also show the opponent's side.
            rules: Rules of two players: a preset's name, or fields by name; `players` is 2. Default: `tetrio`.
            **options: Further arguments of `PlacementVectorEnv`: address, observations, autoreset_mode, render_mode, ...

        Raises:
            InvalidRequestError: The server refuses the rules, a name or a number.
            InvalidArgumentError: An argument does not exist, the opponent is neither of these, the rules have one player, or
                a function is the opponent without `action_mask`.
            ServerUnavailableError: No server answers at the address.
            ServerFullError: The server has no room for this many matches.
        """
        num_envs = arguments.integer("num_envs", num_envs, 1, arguments.U32 // 2)
        self._observe_opponent = arguments.flag("observe_opponent", observe_opponent)
        self._opponent = opponent if callable(opponent) else None
        if callable(opponent) and not options.get("action_mask", True):
            raise InvalidArgumentError("action_mask", "is False, and the opponent is a function, which chooses by masks")
        self.envs = PlacementVectorEnv(2 * num_envs, rules=match_rules(rules), **options)
        try:
            self._request = b""
            if not callable(opponent):
                if not isinstance(opponent, (Policy, str)):
                    raise arguments.wrong("opponent", opponent, "the name of a policy, a Policy, or a function")
                opponents = np.arange(1, 2 * num_envs, 2)
                self._request = self.envs._stream._placements_request(opponents, {"policy": opponent}).encode()
                # The server refuses a wrong policy here, and a right one only because no match has started.
                with contextlib.suppress(ResetNeededError):
                    self.envs._stream._listed(self._request, num_envs)
        except BaseException:
            self.envs.close()
            raise
        self.num_envs = num_envs
        self.metadata = dict(self.envs.metadata)  # type: ignore[misc]
        self.render_mode = self.envs.render_mode
        space = self.envs._fields.space
        if observe_opponent:
            shown = {f"opponent_{name}": field for name, field in space.spaces.items()}
            space = spaces.Dict({**space.spaces, **shown})
        self.single_observation_space = space
        self.single_action_space = self.envs.single_action_space
        self.observation_space = batch_space(space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._seen: Observations = {}

    @property
    def session(self) -> Session:
        """The session of 2M rows on the server."""
        return self.envs.session

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Starts matches, all or those of `options["reset_mask"]`, bool (M,).

        Args:
            seed: 0 to 2**64 - M, or one per match; see "Seeds".
            options: `"reset_mask"`, and `"swap_sides"`, whether to start mirrored matches, in which each side has the holes
                of the other, until the next reset.

        Returns:
            Observations and infos, arrays with one row per match.

        Raises:
            InvalidArgumentError: The mask is not an array of bool or is false everywhere, the number of seeds or mask
                entries differs from M, a seed does not fit into 64 bits, or an option does not exist.
        """
        options = dict(known_options(options, ["reset_mask", "swap_sides"]))
        mask = options.get("reset_mask")
        seeds = None if seed is None else np.repeat(np.array(env_seeds(seed, self.num_envs), object), 2).tolist()
        chosen_envs(mask, self.num_envs)
        if mask is not None:
            options["reset_mask"] = np.repeat(mask, 2)
        observations, infos = self.envs.reset(seed=seeds, options=options)
        super().reset(seed=seeds[0] if seeds is not None else None)
        return self._shown(observations), _of_agent(infos)

    def step(self, actions: npt.NDArray[np.integer]) -> StepResult:
        """Takes a turn of each match: the agent's actions, and the opponent's.

        Args:
            actions: Integers (M,), 0 to A - 1.

        Returns:
            Like `PlacementVectorEnv.step`: observations; rewards, float64 (M,); terminated and truncated, bool (M,); infos.

        Raises:
            IllegalActionError: An action is outside the action space, or, with `invalid_action_policy="reject"`, forbidden
                by its mask. No match has moved.
            InvalidArgumentError: The number of actions is wrong, the agent's or the opponent's.
            EpisodeEndedError: With `DISABLED`, a match has ended.
            ResetNeededError: No matches have started.
            gymnasium.error.ClosedEnvironmentError: `close` was called.
            ServerUnavailableError: The server is gone, and did not come back within the client's `patience`.
        """
        self.envs._check_open("step")
        check_rows(actions, None, self.num_envs)
        both = np.stack([np.asarray(actions), self._answers()], axis=1).ravel()
        observations, rewards, terminated, truncated, infos = self.envs.step(both)
        return self._shown(observations), rewards[::2], terminated[::2], truncated[::2], _of_agent(infos)

    def _answers(self) -> npt.NDArray[np.integer]:
        """The opponent's actions, one per match."""
        if self._opponent is None:
            return self.envs._stream._listed(self._request, self.num_envs).policy_actions
        if not self._seen:
            raise gymnasium.error.ResetNeeded("no match has started, expected reset() before step()")
        answers = np.asarray(self._opponent(dict(self._seen), self.envs.action_masks()[1::2]))
        if answers.shape != (self.num_envs,) or answers.dtype.kind not in "iu":
            problem = f"returned {answers.dtype} of the shape {answers.shape}"
            raise InvalidArgumentError("opponent", f"{problem}, expected integers of the shape ({self.num_envs},)")
        return answers

    def _shown(self, observations: Observations) -> Observations:
        """What the agent sees, of the rows of both sides."""
        seen = {name: rows[::2] for name, rows in observations.items()}
        if self._opponent is not None or self._observe_opponent:
            self._seen = {name: rows[1::2] for name, rows in observations.items()}
        if self._observe_opponent:
            seen |= {f"opponent_{name}": rows for name, rows in self._seen.items()}
        return seen

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The agent's actions that are allowed now, bool (M, A).

        Raises:
            gymnasium.error.ResetNeeded: No match has started, or the session has no masks.
        """
        return self.envs.action_masks()[::2]

    def render(self) -> tuple[Any, ...] | None:
        """The pictures of the agent's games, one per match, as from `PlacementVectorEnv.render`."""
        frames = self.envs.render()
        return frames[::2] if frames is not None else None

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the session. `close` calls this once."""
        self.envs.close(**kwargs)


def _of_agent(infos: Mapping[str, Any]) -> dict[str, Any]:
    """The infos of the agent's rows."""
    return {name: _of_agent(rows) if isinstance(rows, dict) else rows[::2] for name, rows in infos.items()}


class VersusEnv(gymnasium.Env[dict[str, Any], np.int64]):
    """One match of two players against an opponent inside; the agent sees and plays one side, like a `PlacementEnv`.

    See `VersusVectorEnv` for the opponent, rewards and more matches, and `PlacementEnv` for the spaces and infos.
    `info["won"]` is 1 after a won match, -1 after a lost one, and 0 while it goes on, after a draw, and if a limit cut it.

    Attributes:
        matches: The match, as a `VersusVectorEnv`.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(rendering.MODES), "render_fps": 10}  # type: ignore[misc]

    def __init__(
        self,
        *,
        opponent: Opponent = _OPPONENT,
        observe_opponent: bool = False,
        rules: RulesLike = None,
        **options: Any,
    ) -> None:
        """Creates a session of one match.

        Args:
            opponent: A policy by name, a `Policy`, or a function of observations and masks of one row, arrays (1, ...), that
                returns one action, integers (1,).
            observe_opponent: Whether the observation also shows the opponent's side, with the prefix `opponent_`.
            rules: Rules of two players: a preset's name, or fields by name; `players` is 2. Default: `tetrio`.
            **options: Further arguments of `PlacementEnv`: address, observations, features, max_episode_steps, ...

        Raises:
            InvalidRequestError: The server refuses the rules, a name or a number.
            InvalidArgumentError: An argument does not exist, the opponent is neither of these, or the rules have one player.
            ServerUnavailableError: No server answers at the address.
        """
        self.matches = VersusVectorEnv(
            1, opponent=opponent, observe_opponent=observe_opponent, rules=rules, autoreset_mode="disabled", **options
        )
        self.render_mode = self.matches.render_mode
        self.observation_space = self.matches.single_observation_space
        self.action_space = self.matches.single_action_space

    @property
    def session(self) -> Session:
        """The session of two rows on the server."""
        return self.matches.session

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Starts a match.

        Args:
            seed: 0 to 2**64 - 1, or `info["seed"]`; None: the next match of the last seed.
            options: `"swap_sides"`, whether to start the mirrored match, in which each side has the holes of the other.

        Returns:
            The observation and the info.

        Raises:
            InvalidArgumentError: The seed does not fit into 64 bits, or an option does not exist.
        """
        options = dict(known_options(options, ["swap_sides"]))
        seed = checked_seed(seed)
        super().reset(seed=seed)
        return one_row(*self.matches.reset(seed=None if seed is None else [seed], options=options), 0)

    def step(self, action: int | np.integer) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Takes a turn: this action, and the opponent's.

        Args:
            action: 0 to A - 1.

        Returns:
            The observation; the reward; whether the match has ended (terminated); whether a limit cut it (truncated); the
            info.

        Raises:
            IllegalActionError: The action is outside the action space, or, with `invalid_action_policy="reject"`, forbidden
                by the mask. Nothing has changed.
            EpisodeEndedError: The match has ended; call `reset`.
            ResetNeededError: No match has started.
            gymnasium.error.ClosedEnvironmentError: `close` was called.
            ServerUnavailableError: The server is gone, and did not come back within the client's `patience`.
        """
        observations, rewards, terminated, truncated, infos = self.matches.step(np.array([action]))
        observation, info = one_row(observations, infos, 0)
        return observation, float(rewards[0]), bool(terminated[0]), bool(truncated[0]), info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The actions that are allowed now, bool (A,).

        Raises:
            gymnasium.error.ResetNeeded: No match has started.
        """
        (mask,) = self.matches.action_masks()
        return np.array(mask)

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """The picture of the agent's game, as from `PlacementEnv.render`."""
        frames = self.matches.render()
        return frames[0] if frames is not None else None

    def close(self) -> None:
        """Ends the session. Closing twice does no harm."""
        self.matches.close()
