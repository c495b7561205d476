"""Games of other pieces than the tetrominoes."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import tetrion
from tetrion.env import TetrisEnv
from tetrion.flat import Planes

RULES = {"piece_set": "melax", "width": 6, "height": 8, "preview": 2}


def test_an_environment_of_melax_pieces_is_one_that_gymnasium_takes(client: tetrion.Client) -> None:
    env = gymnasium.make("tetrion/Placement-v0", address=client, rules=RULES)
    spaces = env.observation_space
    assert spaces["current"] == gymnasium.spaces.Discrete(6)
    assert spaces["queue"] == gymnasium.spaces.MultiDiscrete([6, 6])
    assert env.action_space == gymnasium.spaces.Discrete(24)
    check_env(env.unwrapped, skip_render_check=True)
    env.close()


def test_letters_of_the_set_are_dealt_and_the_number_behind_them_is_none(client: tetrion.Client) -> None:
    rules = {"piece_set": "u=X.X/XXX d=X./.X", "width": 5, "height": 6, "preview": 1}
    env = gymnasium.make("tetrion/Placement-v0", address=client, rules=rules, observe_mask=True)
    observation, _ = env.reset(options={"piece_sequence": "ud"})
    assert (observation["current"], list(observation["queue"])) == (0, [1])
    planes = Planes(env.observation_space)
    assert planes.names == ["board", "current=0", "current=1", "queue[0]=0", "queue[0]=1"]
    # The U standing on its back: its first picture in columns 0 to 2.
    observation, *_ = env.step(0)
    assert observation["board"][:2].tolist() == [[1, 1, 1, 0, 0], [1, 0, 1, 0, 0]]
    assert (observation["current"], list(observation["queue"])) == (1, [2]), "2 pieces, so 2 is none"
    batch = {name: np.asarray(value)[None] for name, value in observation.items()}
    assert planes(batch)[0, 1:, 0, 0].tolist() == [0, 1, 0, 0]
    env.close()


def test_games_of_other_pieces_are_evaluated(client: tetrion.Client) -> None:
    games = client.evaluate(["random", "bcts"], seeds=[1, 2, 3], rules=RULES, max_pieces=300)
    assert games.lines.size == 6
    assert games.pieces.min() > 3


def test_pictures_are_of_tetrominoes(client: tetrion.Client) -> None:
    with pytest.raises(tetrion.InvalidArgument, match="are of tetrominoes"):
        TetrisEnv(address=client, rules=RULES, render_mode="rgb_array")


def test_what_is_no_set_is_refused_with_the_names_of_those_there_are(client: tetrion.Client) -> None:
    with pytest.raises(tetrion.InvalidRequest, match="expected one of tetrominoes, melax"):
        gymnasium.make("tetrion/Placement-v0", address=client, rules={"piece_set": "melaks"})
