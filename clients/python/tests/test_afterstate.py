"""`AfterstateEnv` and `AfterstateVectorEnv`: the games of `PlacementEnv`, chosen from rows with features."""

import copy
import pickle

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from test_copies import play, play_all
from test_env import check
from test_vector_env import MODES, assert_follows, assert_same, last_legal

import tetrion
from tetrion._envs import listing

SMALL = {"width": 4, "height": 6}
ALL = ["features", "rewards", "terminated", "afterstates", "board", "current"]

OPTIONS = [
    {"features": "bcts8"},
    {"features": ["holes", "max_height"], "observations": ["afterstates", "features"], "observe_mask": True},
    {"observations": ["rewards", "terminated", "board", "current", "queue"], "rules": {**SMALL, "preview": 2}},
    {"observations": ["afterstates", "held", "queue"], "rules": {"preset": "guideline", "width": 6, "height": 24}},
    {"observations": ["afterstates"], "max_episode_steps": 5},
]


@pytest.mark.parametrize("kwargs", OPTIONS, ids=str)
def test_check_env_has_nothing_to_say(client, kwargs, capsys):
    # Without features only in the last three.
    check("tetrion/Afterstate-v0", client, {"features": "bcts8", **kwargs})


@pytest.mark.parametrize("rules", [SMALL, "guideline", {"width": 20, "height": 12}], ids=str)
def test_rows_are_the_placements_and_the_games_those_of_placements(client, rules):
    rng = np.random.default_rng(3)
    env = tetrion.AfterstateEnv(address=client, rules=rules, observations=ALL, features=["holes", "landing_height"])
    twin = tetrion.PlacementEnv(address=client, rules=rules)
    observation, info = env.reset(seed=5)
    before, expected = twin.reset(seed=5)
    ends = 0
    for _ in range(60):
        listed = twin.session.enumerate_placements(features=["holes", "landing_height"], afterstates=True)
        count = len(listed.actions)
        mask = np.arange(env.action_space.n) < count
        np.testing.assert_array_equal(info["action_mask"], mask)
        np.testing.assert_array_equal(np.flatnonzero(expected["action_mask"]), listed.actions)
        np.testing.assert_array_equal(observation["features"][mask], listed.features)
        np.testing.assert_array_equal(observation["rewards"][mask], listed.rewards)
        np.testing.assert_array_equal(observation["terminated"][mask], listed.terminated)
        bits = 1 << np.arange(env.session.rules["width"])
        np.testing.assert_array_equal(observation["afterstates"][mask] @ bits, listed.afterstates)
        for name in ("features", "rewards", "terminated", "afterstates"):
            assert not observation[name][~mask].any()
        np.testing.assert_array_equal(observation["board"], before["board"])
        row = int(rng.integers(count))
        chosen = {name: array[row] for name, array in observation.items() if name not in ("board", "current")}
        observation, *outcome, info = env.step(row)
        before, *wanted, expected = twin.step(int(listed.actions[row]))
        assert outcome == wanted
        assert chosen["rewards"] == outcome[0]
        # The next piece may be blocked.
        assert chosen["terminated"] == outcome[1] or (rules == "guideline" and outcome[1])
        if outcome[1]:
            ends += 1
            assert info["action_mask"].tolist() == [1] + [0] * (len(mask) - 1)
            assert not observation["features"].any()
            observation, info = env.reset()
            before, expected = twin.reset()
        else:
            np.testing.assert_array_equal(observation["board"], chosen["afterstates"])
    assert ends > 0 or rules != SMALL
    env.close()
    twin.close()


@pytest.mark.parametrize("limit", [None, 3])
@pytest.mark.parametrize("mode", MODES)
def test_as_gymnasium_would_do_it_with_single_environments(client, mode, limit):
    options = {"address": client, "rules": SMALL, "observations": ALL, "max_episode_steps": limit}
    ours = tetrion.AfterstateVectorEnv(5, autoreset_mode=mode, **options)
    theirs = SyncVectorEnv([lambda: tetrion.AfterstateEnv(**options)] * 5, autoreset_mode=mode)
    assert_follows(ours, theirs, last_legal, steps=40)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rules", [SMALL, {"preset": "guideline", "width": 6, "height": 24}], ids=str)
def test_the_last_observation_of_a_cut_episode_lists_what_could_follow(client, rules, mode):
    options = {"address": client, "rules": rules, "observations": ALL, "observe_mask": True}
    cut = tetrion.AfterstateVectorEnv(3, max_episode_steps=1, autoreset_mode=mode, **options)
    going = tetrion.AfterstateVectorEnv(3, **options)
    cut.reset(seed=2)
    going.reset(seed=2)
    seen, _, _, truncated, infos = cut.step(np.array([0, 1, 2]))
    expected = going.step(np.array([0, 1, 2]))[0]
    assert truncated.all()
    if mode is AutoresetMode.SAME_STEP:
        seen = {name: np.stack([last[name] for last in infos["final_obs"]]) for name in expected}
    assert_same(seen, expected)
    assert (seen["action_mask"].sum(axis=1) > 1).all()
    # After the last piece of a sequence nothing can follow.
    env = tetrion.AfterstateEnv(address=client, rules=SMALL)
    env.reset(options={"piece_sequence": "O"})
    seen, _, terminated, truncated, infos = env.step(0)
    assert (terminated, truncated, infos["action_mask"].sum()) == (False, True, 1)
    assert not seen["features"].any()


def test_rows_without_a_placement(client):
    """An O has three placements on four columns; row 3 is none."""
    first = {"piece_sequence": "OOOO"}
    env = tetrion.AfterstateEnv(address=client, rules=SMALL)
    _, info = env.reset(options=first)
    assert info["action_mask"].tolist() == [1, 1, 1] + [0] * 13
    _, _, terminated, _, info = env.step(3)
    assert (terminated, info["invalid_action"], info["pieces"]) == (True, True, 0)
    env = tetrion.AfterstateEnv(address=client, rules=SMALL, invalid_action_policy="ignore", invalid_action_reward=-0.5)
    before, _ = env.reset(options=first)
    after, reward, terminated, _, info = env.step(15)
    assert (reward, terminated, info["invalid_actions"], info["pieces"]) == (-0.5, False, 1, 0)
    np.testing.assert_array_equal(before["features"], after["features"])
    env = tetrion.AfterstateEnv(address=client, rules=SMALL, invalid_action_policy="reject")
    env.reset(options=first)
    with pytest.raises(tetrion.IllegalActionError, match=r"actions\[0\] is 3, which is not in the action mask") as caught:
        env.step(3)
    assert caught.value.reason == "ILLEGAL_ACTION"
    for row in (16, -1):
        with pytest.raises(tetrion.IllegalActionError, match=rf"actions\[0\] is {row}, expected a number from 0 to 15"):
            env.step(row)
    assert env.step(2)[4]["pieces"] == 1


def test_wrong_actions_of_many_games(client):
    envs = tetrion.AfterstateVectorEnv(3, address=client, rules=SMALL, invalid_action_policy="reject")
    with pytest.raises(tetrion.ResetNeededError):
        envs.step(np.zeros(3, int))
    envs.reset(options={"piece_sequences": "OO"})
    for actions, said in (
        ([0, 0], r"actions has the shape \(2,\), expected \(3,\)"),
        ([0, 0.5, 0], r"actions\[1\] is 0.5, expected an integer"),
        ([[0], [0], [0]], r"actions has the shape \(3, 1\)"),
        (np.zeros(3, bool), "actions has elements of bool"),
    ):
        with pytest.raises(tetrion.InvalidArgumentError, match=said):
            envs.step(actions)
    with pytest.raises(tetrion.IllegalActionError, match=r"actions\[1\] is 3, which is not") as caught:
        envs.step([0, 3, 9])
    assert caught.value.metadata == {"count": "2"}
    _, _, _, _, infos = envs.step([0, 1, 2])
    assert infos["pieces"].tolist() == [1, 1, 1]


def test_without_masks(client):
    envs = tetrion.AfterstateVectorEnv(2, address=client, rules=SMALL, action_mask=False)
    _, infos = envs.reset(seed=1)
    assert "action_mask" not in infos
    assert "action_mask" not in envs.step(np.array([0, 0]))[4]
    with pytest.raises(tetrion.InvalidArgumentError, match="observe_mask is True, and action_mask is not"):
        tetrion.AfterstateVectorEnv(2, address=client, action_mask=False, observe_mask=True)


def test_more_placements_than_rows(client, monkeypatch):
    options = {"address": client, "rules": {"preset": "guideline", "width": 6, "height": 24}, "observations": ALL}
    whole = tetrion.AfterstateEnv(**options)
    monkeypatch.setattr(listing, "_ROWS_PER_COLUMN", 1)
    env = tetrion.AfterstateEnv(**options)
    assert (whole.action_space.n, env.action_space.n) == (120, 6)
    (every, _), (some, info) = whole.reset(seed=1), env.reset(seed=1)
    for _ in range(3):
        assert info["action_mask"].all()
        for name in ("features", "rewards", "terminated", "afterstates"):
            np.testing.assert_array_equal(some[name], every[name][:6])
        (every, *_), (some, _, _, _, info) = whole.step(5), env.step(5)
        np.testing.assert_array_equal(some["board"], every["board"])


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"])
def test_copies_go_on_where_the_original_stands(client, duplicate):
    options = {"address": client if duplicate is copy.deepcopy else client.address, "rules": {"width": 6, "height": 8}}
    env = tetrion.AfterstateEnv(observations=["board", "current", "features"], features=["holes"], **options)
    env.reset(seed=3)
    play(env, 5)
    twin = duplicate(env)
    assert play(twin) == play(env)
    envs = tetrion.AfterstateVectorEnv(4, observations=["board", "features"], autoreset_mode="SameStep", **options)
    envs.reset(seed=3)
    play_all(envs, 5)
    twins = duplicate(envs)
    assert play_all(twins) == play_all(envs)


def test_snapshots(client):
    options = {"address": client, "rules": {"width": 6, "height": 8}}
    envs = tetrion.AfterstateVectorEnv(3, observations=["features", "board"], **options)
    envs.reset(seed=3)
    states = envs.save_state()
    before, infos = envs.restore_state(states)
    envs.step(np.array([1, 2, 3]))
    expected = envs.step(np.array([0, 0, 0]))
    # One game goes back, then the others; each row means what it meant.
    observations, _ = envs.restore_state([states[1]], [1])
    np.testing.assert_array_equal(observations["features"][1], before["features"][1])
    envs.restore_state([states[0], states[2]], [0, 2])
    np.testing.assert_array_equal(envs.action_masks(), infos["action_mask"])
    envs.step(np.array([1, 2, 3]))
    assert_same(envs.step(np.array([0, 0, 0]))[0], expected[0])
    # They are snapshots of placements.
    plain = tetrion.PlacementVectorEnv(3, **options)
    np.testing.assert_array_equal(plain.restore_state(states)[0]["board"], before["board"])


@pytest.mark.parametrize("mode", MODES[:2])
def test_some_games_go_on_while_others_are_looked_at(client, mode):
    settings = {"address": client, "rules": SMALL, "autoreset_mode": mode, "observations": ALL, "max_episode_steps": 4}
    halves, whole = tetrion.AfterstateVectorEnv(6, **settings), tetrion.AfterstateVectorEnv(6, **settings)
    games = [np.array([0, 2, 4]), np.array([5, 3, 1])]
    _, infos = halves.reset(seed=3)
    _, expected_infos = whole.reset(seed=3)
    for half in games:
        halves.send(last_legal(infos)[half], half)
    for _ in range(20):
        whole.step_async(last_legal(expected_infos))
        expected = whole.step_wait()
        expected_infos = expected[4]
        for half in games:
            observations, *outcome, infos = halves.recv()
            assert_same(observations, {name: field[half] for name, field in expected[0].items()})
            for ours, theirs in zip(outcome, expected[1:4], strict=True):
                assert_same(ours, theirs[half])
            np.testing.assert_array_equal(infos["action_mask"], expected_infos["action_mask"][half])
            halves.send(last_legal(infos), half)


def test_a_refused_step_sent_ahead_leaves_no_answer_behind(client):
    envs = tetrion.AfterstateVectorEnv(2, address=client, rules=SMALL, max_episode_steps=1, autoreset_mode="Disabled")
    envs.reset(seed=1)
    envs.step(np.array([0, 0]))
    envs.step_async(np.array([0, 0]))
    with pytest.raises(tetrion.EpisodeEndedError):
        envs.step_wait()
    envs.reset(seed=1)
    envs.step_async(np.array([0, 0]))
    assert envs.step_wait()[3].all()


def test_a_limit_that_cuts_many_games_at_once(client):
    """Their placements are more than an answer has without further words."""
    envs = tetrion.AfterstateVectorEnv(8000, address=client, max_episode_steps=1, observations=["rewards"])
    envs.reset(seed=1)
    _, _, _, truncated, infos = envs.step(np.zeros(8000, int))
    assert truncated.all()
    assert (infos["action_mask"].sum(axis=1) > 1).all()


def test_what_is_refused(client):
    for kwargs, said in (
        ({"observations": ["feature"]}, r"observations\[0\] is 'feature', did you mean 'features'\? expected one of board"),
        ({"observations": ["features", "features"]}, r"observations is \['features', 'features'\], expected each name once"),
        ({"observations": "features"}, "observations is 'features', expected a list of names"),
        ({"observations": []}, r"observations is \[\]"),
        ({"observations": ["queue"]}, r"observations\[0\] is 'queue', expected one of board, current"),
        ({"features": "bcts"}, "bcts8"),
        ({"rules": "lab", "features": 5}, "features is 5, expected the name of a feature set"),
        (
            {"rules": {"preset": "guideline", "action_model": "keypress"}},
            "have the action model 'keypress', which is played by",
        ),
        ({"afterstates": True}, "afterstates is not an argument of AfterstateEnv"),
    ):
        with pytest.raises(tetrion.InvalidRequestError, match=said):
            tetrion.AfterstateEnv(address=client, **kwargs)
    with pytest.raises(
        tetrion.InvalidArgumentError, match="num_envs is 65536, expected at most 26214 with 40 rows and 8 features each"
    ):
        tetrion.AfterstateVectorEnv(65536, address=client)


def test_over_every_transport(remote):
    clients = [tetrion.Client(), remote]
    envs = [
        tetrion.AfterstateVectorEnv(4, address=client, rules=SMALL, observations=ALL, autoreset_mode="SameStep")
        for client in clients
    ]
    seen = [one.reset(seed=9) for one in envs]
    for _ in range(30):
        for other in seen[1:]:
            assert_same(other[0], seen[0][0])
        seen = [one.step(last_legal(answer[-1])) for one, answer in zip(envs, seen, strict=True)]
