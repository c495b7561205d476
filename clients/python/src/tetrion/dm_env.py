"""One game as an environment of dm_env, for agents of DeepMind's libraries.

    from tetrion.dm_env import TetrisEnv

    env = TetrisEnv(rules={"width": 6, "height": 12}, seed=1)
    timestep = env.reset()

In a checkout, `pip install './clients/python[dm-env]'` installs dm_env. For dm_env_rpc, the protocol for environments on a
server, start the gateway of `clients/dm_env_rpc`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from tetrion._checks import arguments, extras

try:
    import dm_env
    from dm_env import auto_reset_environment, specs
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(extras.missing("tetrion.dm_env needs", "dm_env", "dm-env"), name="dm_env") from error

from tetrion._envs.afterstate import AfterstateEnv
from tetrion._envs.keypress import KeypressEnv
from tetrion._envs.placement import PlacementEnv
from tetrion._envs.single import SingleEnv
from tetrion._envs.spaces import checked_seed

_ENVS: dict[str, type[SingleEnv]] = {
    "tetrion/Placement-v0": PlacementEnv,
    "tetrion/Afterstate-v0": AfterstateEnv,
    "tetrion/Keypress-v0": KeypressEnv,
}
# The type of actions and categories; dm_env's own annotations allow only 32 bits.
_INTEGER: Any = np.int64


class TetrisEnv(auto_reset_environment.AutoResetEnvironment):
    """One game, with the fields of the Gymnasium environment as a dictionary of arrays.

    The observation contains `action_mask` unless `observe_mask` is False. The discount is 0 if the rules have ended the
    episode, and 1 otherwise, also in a last step that a limit has cut. A step after a last step starts the next episode.

    Attributes:
        env: The Gymnasium environment, for infos, snapshots and pictures.
    """

    def __init__(self, env_id: str = "tetrion/Placement-v0", *, seed: int | None = None, **kwargs: Any) -> None:
        """Creates a session of one environment.

        Args:
            env_id: `tetrion/Placement-v0`, `tetrion/Afterstate-v0` or `tetrion/Keypress-v0`.
            seed: Seed of the first episode, 0 to 2**64 - 1, which the others follow. None: one is drawn.
            **kwargs: Arguments of `PlacementEnv`: address, rules, observations, max_episode_steps, ...

        Raises:
            InvalidArgumentError: The environment does not exist, or the seed does not fit into 64 bits.
        """
        super().__init__()
        self._seed = checked_seed(seed)
        self.env = _ENVS[arguments.choice("env_id", env_id, _ENVS)](**{"observe_mask": True, **kwargs})

    def _reset(self) -> dm_env.TimeStep:
        observation, _ = self.env.reset(seed=self._seed)
        self._seed = None
        return dm_env.restart(observation)

    def _step(self, action: Any) -> dm_env.TimeStep:
        observation, reward, terminated, truncated, _ = self.env.step(action)
        if terminated:
            return dm_env.termination(reward, observation)
        return (dm_env.truncation if truncated else dm_env.transition)(reward, observation, discount=1.0)

    def observation_spec(self) -> Any:
        """The spec of each field, by name."""
        return {name: _spec(name, space) for name, space in self.env._fields.space.spaces.items()}

    def action_spec(self) -> Any:
        """The spec of an action, a number from 0."""
        return specs.DiscreteArray(self.env._num_actions, _INTEGER, "action")

    def close(self) -> None:
        """Ends the session."""
        self.env.close()


def _spec(name: str, space: spaces.Space[Any]) -> Any:
    """The spec of a field."""
    if isinstance(space, spaces.Discrete):
        return specs.DiscreteArray(int(space.n), _INTEGER, name)
    if isinstance(space, spaces.MultiDiscrete):
        return specs.BoundedArray(space.shape, _INTEGER, 0, space.nvec - 1, name)
    assert isinstance(space, spaces.Box)
    if not space.is_bounded():
        return specs.Array(space.shape, space.dtype, name)
    return specs.BoundedArray(space.shape, space.dtype, space.low, space.high, name)
