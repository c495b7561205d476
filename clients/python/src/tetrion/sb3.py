"""Many games as one vector environment of Stable-Baselines3, with masks where MaskablePPO looks for them.

    from sb3_contrib import MaskablePPO
    from tetrion.sb3 import TetrisVecEnv

    envs = TetrisVecEnv(64, rules={"width": 6, "height": 12})
    MaskablePPO("MlpPolicy", envs).learn(200_000)

`RowPolicy` plays `tetrion/Afterstate-v0`: one small network scores every placement.

    envs = TetrisVecEnv(64, env_id="tetrion/Afterstate-v0", layout="dict")
    MaskablePPO(RowPolicy, envs).learn(200_000)

In a checkout, `pip install './clients/python[sb3]'` installs the libraries. All games share one session and one call per
step, without extra processes.
"""

from __future__ import annotations

import copy
import functools
import itertools
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from tetrion import _native
from tetrion._checks import arguments, extras

try:
    import torch
    from sb3_contrib.common.maskable.distributions import MaskableCategoricalDistribution
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
    from stable_baselines3.common.vec_env import VecEnv
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        extras.missing("tetrion.sb3 needs", "Stable-Baselines3 and sb3-contrib", "sb3"), name="stable_baselines3"
    ) from error

from tetrion._clients.client import Client
from tetrion._envs import spaces
from tetrion._envs.afterstate import AfterstateVectorEnv
from tetrion._envs.flat import Flattener, Planes
from tetrion._envs.keypress import KeypressVectorEnv
from tetrion._envs.placement import PlacementVectorEnv
from tetrion._envs.vector import GAME_METHODS, ManyEnv
from tetrion.errors import InvalidArgumentError

# Observations for SB3: one array, or one per field.
Sb3Observations = npt.NDArray[Any] | dict[str, npt.NDArray[Any]]

_ENVS: dict[str, type[ManyEnv]] = {
    "tetrion/Placement-v0": PlacementVectorEnv,
    "tetrion/Afterstate-v0": AfterstateVectorEnv,
    "tetrion/Keypress-v0": KeypressVectorEnv,
}
_LAYOUTS = ("rows", "dict", "planes")
# Observations of `tetrion/Afterstate-v0` with a row per placement.
_OF_ROWS = ("features", "rewards", "terminated", "afterstates")
# Features are numbers such as 30. Divided by this, they suit the layers of a network.
_SCALE = 10


class TetrisVecEnv(VecEnv):
    """N games for Stable-Baselines3: observations in one of three layouts, and episodes that start automatically.

    - `rows`: `Flattener`'s rows of numbers, float32 (num_envs, size), for `MlpPolicy`
    - `dict`: the fields of `PlacementVectorEnv`, for `MultiInputPolicy`
    - `planes`: `Planes`, uint8 (num_envs, C, height, width), for `CnnPolicy` with your own features extractor: SB3's
      `NatureCNN` needs pictures of at least 36 x 36

    It behaves like a `DummyVecEnv` of such environments, each in a `Monitor`. `infos[i]` has the infos of game i, such as
    `lines` and `action_mask` and, at the end of its episode, `terminal_observation` and `episode` with `r`, `l` and the
    seconds `t`. `set_options({"piece_sequence": "IOTZ"})` deals these pieces from the next `reset` on.
    """

    def __init__(
        self,
        num_envs: int,
        *,
        address: str | Client | None = None,
        env_id: str = "tetrion/Placement-v0",
        layout: str = "rows",
        **kwargs: Any,
    ) -> None:
        """Creates a session of `num_envs` environments.

        Args:
            num_envs: Number of games.
            address: The server's `host:port`, or a `Client`; see `PlacementVectorEnv`.
            env_id: `tetrion/Placement-v0`, `tetrion/Afterstate-v0` or `tetrion/Keypress-v0`.
            layout: `rows`, `dict` or `planes`.
            **kwargs: Arguments of `PlacementVectorEnv`: rules, observations, features, max_episode_steps, ...

        Raises:
            InvalidArgumentError: The environment or layout does not exist, or the observations cannot become planes.
        """
        env_id = arguments.choice("env_id", env_id, _ENVS)
        layout = arguments.choice("layout", layout, _LAYOUTS)
        if "autoreset_mode" in kwargs:
            raise InvalidArgumentError(
                "autoreset_mode", "is given, expected none: the episodes of a VecEnv begin by themselves"
            )
        if kwargs.get("infos") is not None:
            infos = arguments.names("infos", kwargs["infos"], "lines")
            kwargs["infos"] = list(dict.fromkeys([*infos, "steps", "episode_return"]))
        # Rows and planes are new arrays; the arrays of a dictionary must belong to the learner.
        kwargs.setdefault("copy", layout == "dict")
        self.envs = _ENVS[env_id](num_envs, address=address, autoreset_mode=AutoresetMode.SAME_STEP, **kwargs)
        num_envs = self.envs.num_envs
        self.render_mode = self.envs.render_mode
        space = self.envs.single_observation_space
        self._lay_out: Callable[[Mapping[str, npt.NDArray[Any]]], Sb3Observations] = dict
        if layout != "dict":
            try:
                arrays = Flattener(space) if layout == "rows" else Planes(space)
            except InvalidArgumentError:
                self.envs.close()
                raise
            self._lay_out, space = arrays, arrays.space
        self._actions: npt.NDArray[np.integer] = np.zeros(num_envs, np.int64)
        self._made_at = time.time()
        super().__init__(num_envs, space, self.envs.single_action_space)

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seeds the next `reset`: game i, or under rules of two players match i, with `seed` + i.

        Returns:
            The seed of each environment, for both sides of a match the same one.
        """
        seeds = list(super().seed(seed))
        self._seeds = [seeds[env // self.envs._players] for env in range(self.num_envs)]
        return self._seeds

    def reset(self) -> Sb3Observations:
        """Starts an episode in every game, once with the seeds given to `seed`.

        Returns:
            Observations in the chosen layout.
        """
        given = arguments.items("options", self._options, "options by name, or a list of them, one for each game")
        options = [spaces.known_options(one, ["piece_sequence"]) for one in given]
        if len(options) != self.num_envs:
            raise InvalidArgumentError(
                "options", f"has {len(options)} entries, expected one for each of {self.num_envs} games"
            )
        sequences = {env: one["piece_sequence"] for env, one in enumerate(options) if "piece_sequence" in one}
        has_sequence = np.isin(np.arange(self.num_envs), list(sequences))
        observations: Any = None
        for mask, dealt in ((has_sequence, {"piece_sequences": list(sequences.values())}), (~has_sequence, {})):
            if mask.any():
                observations, infos = self.envs.reset(seed=list(self._seeds), options={"reset_mask": mask, **dealt})
                self._keep_reset_infos(infos, np.flatnonzero(mask))
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
            Observations, of the next episode if one has ended; rewards, float32 (num_envs,); whether episodes ended, bool
            (num_envs,); infos, of the ended episode if one has ended.

        Raises:
            IllegalActionError: With `invalid_action_policy="reject"`, a mask forbids an action. No game has moved.
        """
        envs = self.envs
        stepped = envs._step(self._actions)
        observations, infos = envs._read(stepped, envs._all)
        dones = stepped.terminated | stepped.truncated
        step_infos = _rows(infos, more={"TimeLimit.truncated": [False] * self.num_envs})
        if stepped.final is not None:
            ended, reader = stepped.final.rows, envs._final_reader(stepped.final)
            self._keep_reset_infos(infos, ended)
            now = round(time.time() - self._made_at, 6)
            finals = self._lay_out(reader.observations(ended, copy=True))
            cut = {"TimeLimit.truncated": (stepped.truncated & ~stepped.terminated)[ended].tolist()}
            for row, (env, last) in enumerate(zip(ended.tolist(), _rows(reader.infos(ended), more=cut), strict=True)):
                if "action_mask" in infos:
                    last.setdefault("action_mask", spaces.ended_mask(envs._num_actions))
                last["episode"] = {"r": round(last["episode_return"], 6), "l": last["steps"], "t": now}
                last["terminal_observation"] = (
                    {name: field[row] for name, field in finals.items()} if isinstance(finals, dict) else finals[row]
                )
                step_infos[env] = last
        return self._lay_out(observations), stepped.rewards.copy(), dones, step_infos

    def _keep_reset_infos(self, infos: dict[str, Any], begun: npt.NDArray[np.int64]) -> None:
        """Keeps the infos at the start of episodes, like `DummyVecEnv`."""
        for env, info in zip(begun.tolist(), _rows(infos, begun), strict=True):
            self.reset_infos[env] = info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The actions that are allowed now, bool (num_envs, A)."""
        return self.envs.action_masks()

    def close(self) -> None:
        """Ends the session."""
        self.envs.close()

    def get_images(self) -> Sequence[npt.NDArray[np.uint8] | None]:
        """A picture of each game, uint8 (height, width, 3) in pixels, with `render_mode="rgb_array"`."""
        frames = self.envs.render() if self.render_mode == "rgb_array" else None
        return list(frames) if frames is not None else [None] * self.num_envs

    def has_attr(self, attr_name: str) -> bool:
        """Whether the games have an attribute or a method; MaskablePPO asks for `action_masks`."""
        try:
            self.get_attr(attr_name)
        except AttributeError:
            return False
        return True

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """An attribute of some games, or a method per game, which `env_method` calls."""
        chosen = self._get_indices(indices)
        if attr_name in GAME_METHODS:
            return [functools.partial(self._call_one, attr_name, env) for env in chosen]
        values = self.envs.get_attr(attr_name)
        return [values[env] for env in chosen]

    def _call_one(self, method_name: str, env: int, *args: Any, **kwargs: Any) -> Any:
        return self.env_method(method_name, *args, indices=[env], **kwargs)[0]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Sets an attribute of some games, for `get_attr`. For other games it is None until it is set.

        Raises:
            InvalidArgumentError: The attribute belongs to the configuration, which is fixed.
        """
        values = self.get_attr(attr_name) if self.has_attr(attr_name) else [None] * self.num_envs
        for env in self._get_indices(indices):
            values[env] = value
        self.envs.set_attr(attr_name, values)

    def env_method(
        self, method_name: str, *args: Any, indices: int | Iterable[int] | None = None, **kwargs: Any
    ) -> list[Any]:
        """Calls a method of some games: `action_masks`, `save_state` or `render`.

        Raises:
            AttributeError: The games have no such method.
        """
        rows = self.envs.call(method_name, *args, **kwargs)
        return [rows[env] for env in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: int | Iterable[int] | None = None) -> list[bool]:
        """Whether each game is wrapped. `Monitor` counts as present, because its infos are."""
        wrapped = wrapper_class.__name__ == "Monitor"
        return [wrapped] * len(self._get_indices(indices))


def _rows(
    infos: Mapping[str, Any],
    games: npt.NDArray[np.int64] | None = None,
    more: Mapping[str, list[Any]] | None = None,
) -> list[dict[str, Any]]:
    """The infos of games in Python's numbers, and their masks.

    Args:
        infos: Arrays with a row per game.
        games: Which games. None: all.
        more: Lists with an entry for each of these games.
    """
    columns: dict[str, list[Any]] = {}
    for name, array in infos.items():
        if not name.startswith(("_", "final_")):
            rows = array if games is None else array[games]
            columns[name] = list(rows.copy()) if name == "action_mask" else rows.tolist()
    columns.update(more or {})
    return _native.rows(list(columns), list(columns.values()))


class RowPolicy(MaskableActorCriticPolicy):
    """A policy for `tetrion/Afterstate-v0` in the layout `dict`: one network scores the row of each placement.

    `MlpPolicy` learns separate weights for each place in the list of placements. This policy has one set of weights for all
    places, so every placement teaches it about all others. The value of a state comes from a second network, which sees each
    row and passes on the largest output of each hidden unit. Both networks divide their inputs by ten.

    Fields that are the same for all placements, such as `current` or `queue`, are added to each row. Rows whose numbers are
    all zero count as absent.
    """

    def __init__(self, *args: Any, net_arch: list[int] | dict[str, list[int]] | None = None, **kwargs: Any) -> None:
        """Creates the networks.

        Args:
            *args: Spaces and learning rate, from the algorithm.
            net_arch: Units of the hidden layers, by default [32, 32] in both networks, or `{"pi": [...], "vf": [...]}`.
            **kwargs: Other arguments of `MaskableActorCriticPolicy`. A features extractor must return float32 [B, R, D].

        Raises:
            InvalidArgumentError: The observations have no rows of placements.
        """
        kwargs.setdefault("features_extractor_class", _RowExtractor)
        super().__init__(*args, net_arch=[32, 32] if net_arch is None else net_arch, **kwargs)

    def row_network(self) -> torch.nn.Module:
        """A copy of the network that scores a row, for `Mlp.from_torch`.

        The server can play by it if `features` is the only observation, because then a row holds nothing else. It does not
        contain a features extractor of your own.
        """
        network = copy.deepcopy(torch.nn.Sequential(*self.mlp_extractor.policy_net, self.action_net[0]))
        with torch.no_grad():
            network[0].weight /= _SCALE
        return network

    def _build_mlp_extractor(self) -> None:
        layers = self.net_arch if isinstance(self.net_arch, dict) else {"pi": self.net_arch, "vf": self.net_arch}
        self.mlp_extractor = _RowNetworks(self.features_dim, layers, self.activation_fn).to(self.device)
        self.action_dist = _RowDistribution(int(self.action_space.n))


class _RowExtractor(BaseFeaturesExtractor):
    """The numbers of each row: float32 [B, R, features_dim]."""

    def __init__(self, observation_space: gymnasium.spaces.Space[Any]) -> None:
        fields = observation_space.spaces if isinstance(observation_space, gymnasium.spaces.Dict) else {}
        of_rows = [name for name in fields if name in _OF_ROWS]
        if not of_rows:
            raise InvalidArgumentError(
                "observation_space",
                f"has {' and '.join(fields) or 'no fields'}, expected features, rewards, terminated or afterstates: "
                "TetrisVecEnv(..., env_id='tetrion/Afterstate-v0', layout='dict')",
            )
        shared = [name for name in fields if name not in (*_OF_ROWS, "action_mask")]
        size = sum(math.prod((fields[name].shape or ())[1:]) for name in of_rows)
        super().__init__(observation_space, size + sum(gymnasium.spaces.flatdim(fields[name]) for name in shared))
        self._of_rows, self._shared = of_rows, shared

    def forward(self, observations: dict[str, torch.Tensor]) -> torch.Tensor:
        fields = [observations[name] for name in self._of_rows]
        rows = torch.cat([field.reshape(*field.shape[:2], -1) for field in fields], dim=-1)
        if self._shared:
            shared = torch.cat([observations[name].flatten(1) for name in self._shared], dim=-1)
            # Absent rows stay zeros.
            rows = torch.cat([rows, shared[:, None] * _is_present(rows)], dim=-1)
        return rows / _SCALE


class _RowDistribution(MaskableCategoricalDistribution):
    """The distribution over rows: its layer sees one row at a time."""

    def proba_distribution_net(self, latent_dim: int) -> torch.nn.Module:
        return torch.nn.Sequential(torch.nn.Linear(latent_dim, 1), torch.nn.Flatten(-2))


class _RowNetworks(torch.nn.Module):
    """The hidden layers: of the scores, for each row, and of the value, with the largest output over all rows."""

    def __init__(self, size: int, layers: Mapping[str, list[int]], activation: type[torch.nn.Module]) -> None:
        super().__init__()
        self.policy_net, self.value_net = (_hidden(size, layers[name], activation) for name in ("pi", "vf"))
        self.latent_dim_pi, self.latent_dim_vf = ([size, *layers[name]][-1] for name in ("pi", "vf"))

    def forward(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.forward_actor(rows), self.forward_critic(rows)

    def forward_actor(self, rows: torch.Tensor) -> torch.Tensor:
        return self.policy_net(rows)

    def forward_critic(self, rows: torch.Tensor) -> torch.Tensor:
        is_present = _is_present(rows)
        hidden = self.value_net(rows).masked_fill(~is_present, -torch.inf).amax(dim=1)
        return torch.where(is_present.any(dim=1), hidden, 0.0)


def _is_present(rows: torch.Tensor) -> torch.Tensor:
    """Whether each row is a placement, bool [B, R, 1]."""
    return (rows != 0).any(dim=-1, keepdim=True)


def _hidden(size: int, units: list[int], activation: type[torch.nn.Module]) -> torch.nn.Sequential:
    """Hidden layers for rows of this size."""
    layers = ((torch.nn.Linear(*pair), activation()) for pair in itertools.pairwise([size, *units]))
    return torch.nn.Sequential(*itertools.chain.from_iterable(layers))
