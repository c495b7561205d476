"""`TetrisEnv`: what Gymnasium asks of an environment, and the same game as the server's."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import tetrion

OPTIONS = [
    {},
    {"rules": {"width": 6, "height": 8, "randomizer": "bag7", "preview": 3}},
    {"observations": ["board_bits", "heights", "current"]},
    {"features": "bcts8"},
    {"max_episode_steps": 5},
]


@pytest.mark.parametrize("kwargs", OPTIONS, ids=str)
def test_check_env_has_nothing_to_say(client, kwargs, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Features are unbounded, which is the one thing that the checker remarks on.
        if "features" in kwargs:
            warnings.filterwarnings("ignore", message=".*infinity.*")
        env = gymnasium.make("tetrion/Placement-v0", address=client.address, **kwargs)
        # It makes an environment of each render mode itself.
        check_env(env.unwrapped)
        env.close()


def play(env, seed, steps):
    """Plays the last placement that exists, and gives what was seen."""
    _, info = env.reset(seed=seed)
    seen = []
    for _ in range(steps):
        action = np.flatnonzero(info["action_mask"])[-1]
        observation, reward, terminated, truncated, info = env.step(action)
        seen.append((int(action), observation["board"].tobytes(), reward, terminated, truncated, info["seed"]))
        if terminated or truncated:
            _, info = env.reset()
    return seen


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1])
def test_same_seed_same_games(client, seed):
    first, second = tetrion.TetrisEnv(client), tetrion.TetrisEnv(client)
    played = play(first, seed, 60)
    assert played == play(second, seed, 60)
    assert played == play(first, seed, 60)
    assert played != play(first, seed + 1, 60)
    # Several episodes, each with a seed of its own, the first of them the seed given.
    seeds = [seen[-1] for seen in played]
    assert seeds[0] == seed
    assert len(set(seeds)) > 1


def test_same_game_as_the_raw_client(client):
    env = tetrion.TetrisEnv(client)
    with client.create_session(env_seeds=[7], autoreset="disabled") as session:
        observation, info = env.reset(seed=7)
        raw = session.reset()
        for _ in range(100):
            np.testing.assert_array_equal(observation["board"], raw.observations["board"][0])
            np.testing.assert_array_equal(info["action_mask"], raw.action_mask[0])
            assert observation["current"] == raw.observations["current"][0]
            action = int(np.flatnonzero(info["action_mask"])[3])
            observation, reward, terminated, truncated, info = env.step(action)
            raw = session.step([action])
            assert (reward, terminated, truncated) == (raw.rewards[0], raw.terminated[0], raw.truncated[0])
            if terminated:
                break
        assert terminated
        assert info["pieces"] == raw.infos["pieces"][0] > 5


def test_masks_where_libraries_look(client):
    env = tetrion.TetrisEnv(client)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.action_masks()
    _, info = env.reset(options={"piece_sequence": "OI"})
    # O has one orientation over 9 columns, I two: upright over 10, lying over 7.
    assert np.flatnonzero(env.action_masks()).tolist() == list(range(9))
    assert info["action_mask"].dtype == np.int8
    assert env.action_space.sample(info["action_mask"]) in range(9)
    env.step(0)
    assert np.flatnonzero(env.action_masks()).tolist() == [*range(10), *range(10, 17)]


def test_forbidden_actions_end_the_episode_or_are_refused(client):
    env = tetrion.TetrisEnv(client)
    env.reset(options={"piece_sequence": "O"})
    _, reward, terminated, truncated, info = env.step(9)
    assert (reward, terminated, truncated, info["pieces"]) == (0.0, True, False, 0)
    env = tetrion.TetrisEnv(client, invalid_action="reject")
    env.reset(options={"piece_sequence": "O"})
    with pytest.raises(tetrion.IllegalAction):
        env.step(9)


def test_a_step_after_the_end_is_refused(client):
    env = tetrion.TetrisEnv(client, max_episode_steps=2)
    env.reset(seed=0)
    assert env.step(0)[2:4] == (False, False)
    assert env.step(0)[2:4] == (False, True)
    with pytest.raises(tetrion.EpisodeEnded):
        env.step(0)


def test_render_modes(client, capsys):
    kwargs = {"rules": {"width": 4, "height": 4}}
    for mode in ("ansi", "rgb_array", "human"):
        env = tetrion.TetrisEnv(client, render_mode=mode, **kwargs)
        env.reset(options={"piece_sequence": "OO"})
        env.step(0)
        frame = env.render()
        if mode == "ansi":
            assert "pieces 1" in frame
        elif mode == "rgb_array":
            assert (frame.shape, frame.dtype) == ((65, 65, 3), np.uint8)
            full = (frame[8::16, 8::16] == frame[-8, 8]).all(axis=2)
            assert full.tolist() == [[False] * 4, [False] * 4, [True, True, False, False], [True, True, False, False]]
        else:
            assert frame is None
            assert capsys.readouterr().out.count("pieces") == 2
    with pytest.raises(ValueError, match="render_mode"):
        tetrion.TetrisEnv(client, render_mode="pixels")


def test_observations_are_the_learners_own(client):
    env = tetrion.TetrisEnv(client)
    observation, info = env.reset(seed=1)
    observation["board"][:] = 1
    info["action_mask"][:] = 0
    assert env.step(int(env.action_masks().argmax()))[0]["board"].sum() == 4


def test_close_ends_the_session(client):
    env = tetrion.TetrisEnv(client.address)
    env.close()
    env.close()
    with pytest.raises(tetrion.SessionNotFound):
        tetrion.Session(client, env.session.message).reset()


def test_spaces_have_the_names_and_bounds_that_the_server_tells(client):
    env = tetrion.TetrisEnv(client, rules={"width": 6, "height": 8, "preview": 2}, features="bcts8")
    specs = {spec.name: spec for spec in env.session.message.observation_specs}
    assert set(env.observation_space.spaces) == set(specs) == {"board", "current", "queue", "features"}
    assert env.observation_space["board"].shape == (8, 6)
    for name, space in env.observation_space.spaces.items():
        assert specs[name].description
        if specs[name].HasField("high"):
            assert space.low.min() == specs[name].low
            assert space.high.max() == specs[name].high
    assert env.observation_space["current"].low == -1
    assert env.observation_space["current"].high == 6
    assert env.action_space.n == 24


def test_masks_in_the_observation(client):
    env = tetrion.TetrisEnv(client, observe_mask=True)
    observation, info = env.reset(seed=1)
    assert observation in env.observation_space
    np.testing.assert_array_equal(observation["action_mask"], info["action_mask"])
    observation["action_mask"][:] = 0
    assert env.action_masks().any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env, skip_render_check=True)
    for mode in ("NextStep", "SameStep", "Disabled"):
        envs = tetrion.TetrisVectorEnv(3, client, observe_mask=True, max_episode_steps=2, autoreset_mode=mode)
        observations, infos = envs.reset(seed=1)
        for _ in range(2):
            assert observations in envs.observation_space
            np.testing.assert_array_equal(observations["action_mask"], infos["action_mask"])
            observations, *_, infos = envs.step(infos["action_mask"].argmax(axis=1))
        if mode == "SameStep":
            assert infos["final_obs"][0] in envs.single_observation_space
            assert not infos["final_obs"][0]["action_mask"].any()
    with pytest.raises(ValueError, match="action_mask"):
        tetrion.TetrisVectorEnv(3, client, observe_mask=True, action_mask=False)


def test_flat_observations(client):
    envs = tetrion.TetrisVectorEnv(
        3, client, rules={"width": 4, "height": 5, "preview": 1}, features=["holes"], observe_mask=True
    )
    flat = tetrion.Flattener(envs.single_observation_space)
    rows = flat(envs.reset(options={"piece_sequences": ["IO", "OT", "TL"]})[0])
    # In alphabetical order: 20 cells, the current piece as one of nothing, I, O, T, Z, S, J, L, a feature, the next piece.
    assert rows.shape == (3, flat.size) == (3, 20 + 8 + 1 + 8)
    assert rows.dtype == np.float32
    assert all(row in flat.space for row in rows)
    assert np.delete(rows, 28, axis=1)[:, 20:].nonzero()[1].tolist() == [1, 8 + 2, 2, 8 + 3, 3, 8 + 7]
    observations = envs.step(np.array([0, 0, 0]))[0]
    rows = flat(observations)
    assert rows[:, :20].sum() == 12
    assert rows[:, 28].tolist() == observations["features"][:, 0].tolist()
    with pytest.raises(TypeError, match="Dict"):
        tetrion.Flattener(envs.single_action_space)
