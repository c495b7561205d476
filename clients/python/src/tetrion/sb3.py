"""Many games as one vector environment of Stable-Baselines3, with masks where MaskablePPO looks for them.

    from sb3_contrib import MaskablePPO
    from tetrion.sb3 import TetrisVecEnv

    envs = TetrisVecEnv(64, rules={"width": 6, "height": 12})
    MaskablePPO("MlpPolicy", envs).learn(200_000)

Install with `pip install 'tetrion[sb3]'`. All games share one session and one call a step; there are no processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

try:
    from stable_baselines3.common.vec_env import VecEnv
except ModuleNotFoundError as error:
    message = "tetrion.sb3 needs Stable-Baselines3: pip install 'tetrion[sb3]'"
    raise ModuleNotFoundError(message, name="stable_baselines3") from error

from tetrion import arguments
from tetrion.client import Client
from tetrion.errors import InvalidArgument
from tetrion.flat import Flattener, Planes
from tetrion.keypress import KeypressVectorEnv
from tetrion.vector_env import TetrisVectorEnv

# Observations for SB3: one array, or one for each field.
Sb3Observations = npt.NDArray[Any] | dict[str, npt.NDArray[Any]]

_ENVS = {"tetrion/Placement-v0": TetrisVectorEnv, "tetrion/Keypress-v0": KeypressVectorEnv}
_LAYOUTS = ("rows", "dict", "planes")


class TetrisVecEnv(VecEnv):
    """N games for Stable-Baselines3: observations in one of three layouts, and episodes that begin by themselves.

    - `rows`: `Flattener`'s rows of numbers, float32 (num_envs, size), for `MlpPolicy`
    - `dict`: the fields as `TetrisVectorEnv` has them, for `MultiInputPolicy`
    - `planes`: `Planes`, uint8 (num_envs, C, height, width), for `CnnPolicy` with your own features extractor: SB3's
      `NatureCNN` needs pictures of at least 36 x 36

    At the end of an episode `infos[i]` holds what SB3 and its `Monitor` put there: `terminal_observation`,
    `TimeLimit.truncated` and `episode` with `r`, `l` and `t`; and the last infos of that game by their names, such as
    `lines` and `invalid_actions`.
    """

    def __init__(
        self,
        num_envs: int,
        address: str | Client | None = None,
        *,
        env_id: str = "tetrion/Placement-v0",
        layout: str = "rows",
        **kwargs: Any,
    ) -> None:
        """Makes a session of `num_envs` environments.

        Args:
            num_envs: How many games.
            address: The server's `host:port`, or a `Client`; left out, a server is started, one for this process.
            env_id: `tetrion/Placement-v0` or `tetrion/Keypress-v0`.
            layout: `rows`, `dict` or `planes`.
            **kwargs: Those of `TetrisVectorEnv`: rules, observations, features, max_episode_steps, ...

        Raises:
            InvalidArgument: There is no such environment or layout, or the observations make no planes.
        """
        env_id = arguments.choice("env_id", env_id, _ENVS)
        layout = arguments.choice("layout", layout, _LAYOUTS)
        if kwargs.get("infos"):
            kwargs["infos"] = list(dict.fromkeys([*kwargs["infos"], "length", "episode_return"]))
        # Rows and planes are new arrays; those of a dictionary must be the learner's own.
        kwargs.setdefault("copy", layout == "dict")
        self.envs = _ENVS[env_id](num_envs, address, autoreset_mode=AutoresetMode.SAME_STEP, **kwargs)
        self.render_mode = self.envs.render_mode
        space = self.envs.single_observation_space
        self._lay_out: Callable[[Mapping[str, npt.NDArray[Any]]], Sb3Observations] = dict
        if layout != "dict":
            try:
                arrays = Flattener(space) if layout == "rows" else Planes(space)
            except InvalidArgument:
                self.envs.close()
                raise
            self._lay_out, space = arrays, arrays.space
        self._actions: npt.NDArray[np.integer] = np.zeros(num_envs, np.int64)
        self._steps = 0
        super().__init__(num_envs, space, self.envs.single_action_space)

    def reset(self) -> Sb3Observations:
        """Begins an episode in every game, once with the seeds given to `seed`.

        Returns:
            Observations in the chosen layout.
        """
        seeds = list(self._seeds)
        observations, _ = self.envs.reset(seed=seeds if any(seed is not None for seed in seeds) else None)
        self._reset_seeds()
        self._reset_options()
        return self._lay_out(observations)

    def step_async(self, actions: npt.NDArray[np.integer]) -> None:
        """Stores the actions, integers (num_envs,), for `step_wait`."""
        self._actions = np.asarray(actions)

    def step_wait(
        self,
    ) -> tuple[Sb3Observations, npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Takes the actions.

        Returns:
            Observations, of the next episode where one has ended; rewards, float32 (num_envs,); whether episodes ended,
            bool (num_envs,); infos, with entries where one has ended.

        Raises:
            IllegalAction: With `invalid_action="reject"`, a mask forbids an action. No game has moved.
        """
        observations, rewards, terminated, truncated, infos = self.envs.step(self._actions)
        self._steps += 1
        dones = terminated | truncated
        step_infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if dones.any():
            ended = np.flatnonzero(dones)
            last = infos["final_info"]
            finals = self._lay_out(
                {name: np.stack([infos["final_obs"][env][name] for env in ended]) for name in observations}
            )
            for row, env in enumerate(ended):
                step_infos[env] = {
                    "terminal_observation": (
                        {name: field[row] for name, field in finals.items()} if isinstance(finals, dict) else finals[row]
                    ),
                    "TimeLimit.truncated": bool(truncated[env]),
                    "episode": {
                        "r": float(last["episode_return"][env]),
                        "l": int(last["length"][env]),
                        "t": self._steps,
                    },
                    **{name: array[env].item() for name, array in last.items() if not name.startswith("_")},
                }
        return self._lay_out(observations), rewards.astype(np.float32), dones, step_infos

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Which actions are allowed now, bool (num_envs, A)."""
        return self.envs.action_masks()

    def close(self) -> None:
        """Ends the session."""
        self.envs.close()

    def get_images(self) -> Sequence[npt.NDArray[np.uint8] | None]:
        """A picture of each game, uint8 (height, width, 3) in pixels, with `render_mode="rgb_array"`."""
        frames = self.envs.render()
        return list(frames) if frames is not None else [None] * self.num_envs

    def has_attr(self, attr_name: str) -> bool:
        """Whether the games have an attribute; MaskablePPO asks for `action_masks`."""
        return attr_name == "action_masks" or hasattr(self.envs, attr_name)

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """An attribute, the same for all games, since they share one session."""
        return [getattr(self.envs, attr_name)] * len(self._get_indices(indices))

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Refused: the games share one session, whose configuration is fixed.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError(f"{attr_name!r} cannot be set game by game; give it to the constructor of TetrisVecEnv")

    def env_method(
        self, method_name: str, *args: Any, indices: int | Iterable[int] | None = None, **kwargs: Any
    ) -> list[Any]:
        """Calls a method for some games. Only `action_masks` exists, with a row for each.

        Raises:
            NotImplementedError: The method is another one.
        """
        if method_name != "action_masks":
            raise NotImplementedError(f"games in one session have no method {method_name!r} of their own")
        masks = self.action_masks()
        return [masks[env] for env in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: int | Iterable[int] | None = None) -> list[bool]:
        """Whether each game is wrapped. `Monitor` counts as present, because its infos are."""
        wrapped = wrapper_class.__name__ == "Monitor"
        return [wrapped] * len(self._get_indices(indices))
