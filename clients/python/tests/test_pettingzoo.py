"""`tetrion.pettingzoo.parallel_env`: PettingZoo's own tests, and whole matches."""

import numpy as np
import pytest

# Part of the extra `test`; the runs with the oldest and the newest libraries of this package go without.
pytest.importorskip("pettingzoo", reason="the extra `test` is not installed")

from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test
from pettingzoo.utils import parallel_to_aec

import tetrion
from tetrion.pettingzoo import parallel_env

SMALL = {"preset": "tetrio", "players": 2, "height": 14, "rows_above": 4, "clear_points": "result"}
PLAYERS = ["player_0", "player_1"]


def make(**options):
    return parallel_env(**{"rules": SMALL, **options})


@pytest.mark.filterwarnings("ignore:Observation:UserWarning")
def test_the_interfaces():
    parallel_api_test(make(), num_cycles=200)
    parallel_seed_test(make)
    api_test(parallel_to_aec(make()), num_cycles=200)


def play(env, seed, rng):
    """The bytes of a match of legal actions, and its result."""
    observations, infos = env.reset(seed=seed)
    seen, sums = [], dict.fromkeys(PLAYERS, 0.0)
    for _ in range(500):
        assert env.agents == PLAYERS
        for agent, observation in observations.items():
            assert observation in env.observation_space(agent)
            np.testing.assert_array_equal(observation["action_mask"], infos[agent]["action_mask"])
            assert infos[agent]["won"] == 0
            seen += [np.asarray(field).tobytes() for field in observation["observation"].values()]
        actions = {
            agent: rng.choice(np.flatnonzero(observation["action_mask"])) for agent, observation in observations.items()
        }
        answer = observations, rewards, terminated, truncated, infos = env.step(actions)
        assert all(list(by_agent) == PLAYERS for by_agent in answer)
        assert not any(truncated.values())
        assert not any(info["invalid_action"] for info in infos.values()), "the mask has legal actions only"
        sums = {agent: sums[agent] + rewards[agent] for agent in PLAYERS}
        if any(terminated.values()):
            break
    assert all(terminated.values())
    assert env.agents == []
    assert env.step({}) == ({}, {}, {}, {}, {})
    assert sums == {agent: infos[agent]["won"] for agent in PLAYERS}
    return seen, sums["player_0"]


def test_with_swapped_sides_agents_exchange_places():
    env, rows, received = make(), [], 0
    for swap_sides, policies in ((False, ["dt-10", "el-tetris"]), (True, ["el-tetris", "dt-10"])):
        env.reset(seed=9, options={"swap_sides": swap_sides, "other": 1})
        for step in range(200):
            lists = [env.session.enumerate_placements([row], policy=policy) for row, policy in enumerate(policies)]
            actions = [placements.policy_actions[0] for placements in lists]
            observations, *_, infos = env.step(dict(zip(PLAYERS, actions, strict=True)))
            boards = [observations[agent]["observation"]["board"] for agent in PLAYERS]
            if not swap_sides:
                rows.append(boards)
            np.testing.assert_array_equal(boards[:: -1 if swap_sides else 1], rows[step])
            if not env.agents:
                break
        received += sum(info["received"] for info in infos.values())
    assert received > 0


def test_whole_matches_are_the_same_again():
    env, twin = make(), make()
    results = set()
    for seed in range(16):
        seen, won = play(env, seed, np.random.default_rng(seed))
        assert play(twin, seed, np.random.default_rng(seed)) == (seen, won)
        results.add(won)
    assert {1, -1} <= results
    assert play(env, 1, np.random.default_rng(9)) != play(env, 2, np.random.default_rng(9))
    env.close()


def test_spaces_are_the_same_objects_at_each_call():
    env = make(features="bcts8")
    for agent in PLAYERS:
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.action_space(agent) is env.action_space(agent)
        assert "features" in env.observation_space(agent)["observation"].spaces
    assert env.action_space("player_0") is not env.action_space("player_1"), "each has a separate random state"


def test_an_illegal_action_loses():
    env = make()
    observations, _ = env.reset(seed=1)
    masks = [observations[agent]["action_mask"] for agent in PLAYERS]
    _, rewards, terminated, _, infos = env.step({"player_0": masks[0].argmin(), "player_1": masks[1].argmax()})
    assert rewards == {"player_0": -1.0, "player_1": 1.0}
    assert terminated == {"player_0": True, "player_1": True}
    assert infos["player_0"]["invalid_action"]


def test_a_limit_truncates_both():
    env = make(max_episode_steps=1)
    observations, _ = env.reset(seed=1)
    actions = {agent: observations[agent]["action_mask"].argmax() for agent in PLAYERS}
    _, _, terminated, truncated, infos = env.step(actions)
    assert not any(terminated.values())
    assert truncated == {"player_0": True, "player_1": True}
    assert [infos[agent]["won"] for agent in PLAYERS] == [0, 0]
    assert env.agents == []


def test_it_draws_both_games():
    env = make(render_mode="rgb_array")
    env.reset(seed=1)
    one = gymnasium_frame()
    assert env.render().shape == (one.shape[0], 2 * one.shape[1], 3)
    text = make(render_mode="ansi")
    text.reset(seed=1)
    assert text.render() == "\n".join(text.envs.render())
    assert text.render().count("pieces") == 2
    assert make().render() is None


def gymnasium_frame():
    env = tetrion.VersusEnv(rules=SMALL, render_mode="rgb_array")
    env.reset(seed=1)
    return env.render()


def test_what_is_refused():
    env = make()
    env.reset(seed=1)
    for call, error, said in (
        (lambda: env.step({"player_0": 0}), tetrion.InvalidArgumentError, "actions has none for player_1"),
        (lambda: env.step({"player_0": 0, "player_1": 10**6}), tetrion.IllegalActionError, "1000000"),
        (lambda: env.reset(seed=2**64), tetrion.InvalidArgumentError, "seed is 18446744073709551616, expected an integer"),
        (lambda: make(rules={"players": 1}), tetrion.InvalidArgumentError, "expected 2"),
    ):
        with pytest.raises(error, match=said):
            call()
    assert env.agents == PLAYERS
