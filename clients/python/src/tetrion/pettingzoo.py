"""A match of two players as a parallel environment of PettingZoo.

    from tetrion.pettingzoo import parallel_env

    env = parallel_env(rules={"preset": "tetrio", "players": 2, "clear_points": "result"})
    observations, infos = env.reset(seed=1)

In a checkout, `pip install './clients/python[pettingzoo]'` installs PettingZoo.
"""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces

from tetrion._checks import extras

try:
    from pettingzoo import ParallelEnv
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        extras.missing("tetrion.pettingzoo needs", "pettingzoo", "pettingzoo"), name="pettingzoo"
    ) from error

from tetrion._envs import rendering
from tetrion._envs.placement import PlacementVectorEnv
from tetrion._envs.spaces import checked_seed
from tetrion._envs.versus import match_rules, one_row
from tetrion._messages.requests import RulesLike
from tetrion._sessions.session import Session
from tetrion.errors import InvalidArgumentError

_Step = tuple[dict[str, dict[str, Any]], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]


class MatchEnv(ParallelEnv[str, dict[str, Any], np.int64]):
    """One match of `player_0` and `player_1`, who place a piece each in every step.

    An observation has the fields of `PlacementEnv` under `observation`, and the mask under `action_mask`, int8 (A,). Rewards
    and infos are those of a row of `PlacementVectorEnv`; `infos[agent]["won"]` is 1, -1 or 0. An action that the mask
    forbids loses the match. Both agents leave together, at the end of the match.

    Attributes:
        envs: Both sides, a `PlacementVectorEnv`.
    """

    metadata: ClassVar[dict[str, Any]] = {  # pyright: ignore[reportIncompatibleVariableOverride]
        "name": "tetrion_match_v0",
        "render_modes": list(rendering.MODES),
        "render_fps": 10,
        "is_parallelizable": True,
    }

    def __init__(self, *, rules: RulesLike = None, **options: Any) -> None:
        """Creates a session of one match; see `parallel_env`."""
        self.envs = PlacementVectorEnv(2, rules=match_rules(rules), autoreset_mode="disabled", **options)
        self.render_mode = self.envs.render_mode
        self.possible_agents = ["player_0", "player_1"]
        self.agents: list[str] = []
        mask = spaces.Box(0, 1, (self.envs._num_actions,), np.int8)
        seen = spaces.Dict({"observation": self.envs.single_observation_space, "action_mask": mask})
        # Each agent samples from spaces with a separate random state.
        self.observation_spaces = {agent: copy.deepcopy(seen) for agent in self.possible_agents}
        self.action_spaces = {agent: copy.deepcopy(self.envs.single_action_space) for agent in self.possible_agents}

    @property
    def session(self) -> Session:
        """The session of two rows on the server."""
        return self.envs.session

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's observations, the same object at each call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's actions, the same object at each call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Starts a match.

        Args:
            seed: 0 to 2**64 - 1; None: the next match of the last seed.
            options: `"swap_sides"`, whether to start the mirrored match, in which each agent has the holes of the other;
                others are ignored.

        Returns:
            Observations and infos by agent.

        Raises:
            InvalidArgumentError: The seed does not fit into 64 bits.
        """
        known = {name: value for name, value in (options or {}).items() if name == "swap_sides"}
        answer = self.envs.reset(seed=None if seed is None else [checked_seed(seed)] * 2, options=known)
        self.agents = list(self.possible_agents)
        return self._seen(*answer)

    def step(self, actions: dict[str, np.int64]) -> _Step:
        """Takes a turn.

        Args:
            actions: The action of each living agent, 0 to A - 1.

        Returns:
            Observations, rewards, terminations, truncations and infos by agent. After the end of the match, no agent lives,
            and all are empty.

        Raises:
            InvalidArgumentError: A living agent has no action.
            IllegalActionError: An action is outside the action space. Nothing has changed.
        """
        if not self.agents:
            return {}, {}, {}, {}, {}
        missing = [agent for agent in self.agents if agent not in actions]
        if missing:
            raise InvalidArgumentError("actions", f"has none for {missing[0]}, expected one for each of {self.agents}")
        both = np.array([actions[agent] for agent in self.agents])
        observations, rewards, terminated, truncated, infos = self.envs.step(both)
        seen, told = self._seen(observations, infos)
        outcomes = (rewards, terminated, truncated)
        earned, over, cut = (dict(zip(self.agents, array.tolist(), strict=True)) for array in outcomes)
        if terminated.any() or truncated.any():
            self.agents = []
        return seen, earned, over, cut, told

    def _seen(self, observations: dict[str, Any], infos: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Observations and infos by agent."""
        seen, told = {}, {}
        for row, agent in enumerate(self.agents):
            observation, told[agent] = one_row(observations, infos, row)
            seen[agent] = {"observation": observation, "action_mask": told[agent]["action_mask"]}
        return seen, told

    def render(self) -> Any:
        """The pictures of both games side by side; see `PlacementEnv` for the render modes.

        Returns:
            `rgb_array`: uint8 (height, width, 3); `ansi`: both games, one below the other; None for `human`, which has drawn
            `player_0` already.
        """
        frames = self.envs.render()
        if frames is None:
            return None
        return "\n".join(frames) if self.render_mode == "ansi" else np.concatenate(frames, axis=1)

    def close(self) -> None:
        """Ends the session. Closing twice does no harm."""
        self.envs.close()


def parallel_env(*, rules: RulesLike = None, **options: Any) -> MatchEnv:
    """Creates a match of two players as a parallel environment.

    Args:
        rules: Rules of two players: a preset's name, or fields by name; `players` is 2. Default: `tetrio`.
        **options: Further arguments of `PlacementVectorEnv`: address, observations, features, infos, render_mode, ...

    Raises:
        InvalidRequestError: The server refuses the rules, a name or a number.
        InvalidArgumentError: An argument does not exist, or the rules have one player.
        ServerUnavailableError: No server answers at the address.
    """
    return MatchEnv(rules=rules, **options)
