"""`tetrion/Versus-v0`: a match as an environment of one agent, with the opponent inside."""

import copy
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import tetrion

RULES = {"preset": "tetrio", "height": 14, "rows_above": 4, "clear_points": "result"}


def last_legal(masks):
    """The legal action with the highest number in each row."""
    return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


def last_of(observations, masks):
    assert masks.dtype == np.bool_
    assert all(len(field) == len(masks) for field in observations.values())
    return last_legal(masks)


OPPONENTS = [
    "dt-10",
    tetrion.Policy("tetrion-guideline"),
    tetrion.Policy(formula="-4*holes - max_height"),
    tetrion.Policy(weights=[-4.0, -1.0], features=["holes", "max_height"], search=tetrion.Search(pieces=1)),
    last_of,
]


def make_vec(num_envs, **options):
    options = {"rules": RULES, **options}
    return gymnasium.make_vec("tetrion/Versus-v0", num_envs, vectorization_mode="vector_entry_point", **options)


def legal(rng, masks):
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])


def trace(envs, steps=60):
    """The bytes of all that an agent sees that plays at random."""
    rng, seen = np.random.default_rng(6), []
    observations, infos = envs.reset(seed=3)
    ended = 0
    for _ in range(steps):
        seen += [field.tobytes() for field in [*observations.values(), infos["won"], infos["received"]]]
        observations, rewards, terminated, truncated, infos = envs.step(legal(rng, infos["action_mask"]))
        seen += [rewards.tobytes(), terminated.tobytes(), truncated.tobytes()]
        ended += terminated.sum()
    envs.close()
    return seen, ended


@pytest.mark.parametrize("opponent", OPPONENTS, ids=str)
def test_equal_seeds_give_equal_matches(opponent):
    seen, ended = trace(make_vec(3, opponent=opponent))
    again, _ = trace(make_vec(3, opponent=opponent))
    assert seen == again
    assert ended > 0
    other, _ = trace(make_vec(3, opponent="el-tetris"))
    assert seen != other


def test_with_swapped_sides_the_agent_has_the_place_of_its_opponent():
    plain, received = [], 0
    for swap_sides, agent, opponent in ((False, "el-tetris", "dt-10"), (True, "dt-10", "el-tetris")):
        envs = make_vec(2, opponent=opponent, observe_opponent=True)
        envs.reset(seed=3, options={"swap_sides": swap_sides})
        for step in range(150):
            chosen = envs.unwrapped.session.enumerate_placements([0, 2], policy=agent).policy_actions
            observations, *_, infos = envs.step(chosen)
            if not swap_sides:
                plain.append(observations)
            for name in ("board", "current", "garbage"):
                names = [name, f"opponent_{name}"]
                for one, other in zip(names, names[:: -1 if swap_sides else 1], strict=True):
                    np.testing.assert_array_equal(observations[one], plain[step][other])
            received += infos["received"].sum()
        envs.close()
    assert received > 0
    env = gymnasium.make("tetrion/Versus-v0", opponent="dt-10", rules=RULES)
    env.reset(seed=1, options={"swap_sides": True})
    with pytest.raises(tetrion.InvalidArgumentError, match=r"options\['swap_sides'\] is None"):
        env.reset(options={"swap_sides": None})
    env.close()


@pytest.mark.parametrize("opponent", OPPONENTS, ids=str)
@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_it_is_one_side_of_the_match_that_both_play(mode, opponent):
    envs = make_vec(2, opponent=opponent, observe_opponent=True, autoreset_mode=mode)
    both = tetrion.PlacementVectorEnv(4, rules={**RULES, "players": 2}, autoreset_mode=mode)
    rng = np.random.default_rng(1)
    answer, expected, ends = (*envs.reset(seed=[8, 9]),), (*both.reset(seed=8),), 0
    for _ in range(80):
        for name, field in expected[0].items():
            np.testing.assert_array_equal(answer[0][name], field[::2])
            np.testing.assert_array_equal(answer[0][f"opponent_{name}"], field[1::2])
        for ours, theirs in zip(answer[1:-1], expected[1:-1], strict=True):
            np.testing.assert_array_equal(ours, theirs[::2])
        infos, all_infos = answer[-1], expected[-1]
        assert infos.keys() == all_infos.keys()
        for name, field in infos.items():
            if name not in ("final_obs", "final_info"):
                np.testing.assert_array_equal(field, all_infos[name][::2])
        ended = answer[2] if len(answer) > 2 else np.zeros(2, np.bool_)
        if "final_info" in infos:
            np.testing.assert_array_equal(infos["final_info"]["won"][ended], all_infos["final_info"]["won"][::2][ended])
            for ours, theirs in zip(infos["final_obs"], all_infos["final_obs"][::2], strict=True):
                assert (ours is None) == (theirs is None)
                if ours is not None:
                    np.testing.assert_array_equal(ours["board"], theirs["board"])
        ends += ended.sum()
        if mode == "disabled" and ended.any():
            answer = envs.reset(options={"reset_mask": ended})
            expected = both.reset(options={"reset_mask": np.repeat(ended, 2)})
            continue
        np.testing.assert_array_equal(envs.unwrapped.action_masks(), all_infos["action_mask"][::2])
        actions = np.zeros(4, np.int64)
        actions[::2] = legal(rng, infos["action_mask"])
        if callable(opponent):
            actions[1::2] = last_legal(all_infos["action_mask"][1::2])
        else:
            actions[1::2] = both.session.enumerate_placements([1, 3], policy=opponent).policy_actions
        answer, expected = envs.step(actions[::2]), both.step(actions)
    assert ends > 0


def test_one_match_is_like_many():
    env = gymnasium.make("tetrion/Versus-v0", rules=RULES, opponent="dt-10", observe_opponent=True, features="bcts8")
    envs = make_vec(1, opponent="dt-10", observe_opponent=True, features="bcts8", autoreset_mode="disabled")
    assert env.observation_space == envs.single_observation_space
    assert env.action_space == envs.single_action_space
    one = gymnasium.make_vec(
        "tetrion/Placement-v0", 2, rules={**RULES, "players": 2}, vectorization_mode="vector_entry_point"
    )
    assert env.action_space == one.single_action_space
    shown = set(tetrion.PlacementVectorEnv(2, rules={**RULES, "players": 2}, features="bcts8").single_observation_space)
    assert set(env.observation_space) == shown | {f"opponent_{name}" for name in shown}
    rng, won = np.random.default_rng(0), 0
    for seed in range(3):
        observation, info = env.reset(seed=seed)
        observations, infos = envs.reset(seed=seed)
        for _ in range(300):
            assert observation in env.observation_space
            for name, field in observations.items():
                np.testing.assert_array_equal(observation[name], field[0])
            for name in ("won", "lines", "seed", "received"):
                assert type(info[name]) is int
                assert info[name] == infos[name][0]
            np.testing.assert_array_equal(env.unwrapped.action_masks(), info["action_mask"])
            action = rng.choice(np.flatnonzero(info["action_mask"]))
            observation, reward, terminated, truncated, info = env.step(action)
            observations, rewards, ends, _, infos = envs.step([action])
            assert (reward, terminated, truncated) == (rewards[0], ends[0], False)
            if terminated:
                break
        assert terminated
        assert reward == info["won"]
        won += info["won"]
        with pytest.raises(tetrion.EpisodeEndedError):
            env.step(0)
    assert won == -3, "random play loses"
    env.close()
    env.close()


def test_gymnasium_accepts_it():
    env = gymnasium.make("tetrion/Versus-v0", rules=RULES, observe_opponent=True, render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(env.unwrapped)


def test_the_default_is_a_match_of_tetrio():
    env = gymnasium.make("tetrion/Versus-v0")
    assert env.unwrapped.session.rules["players"] == 2
    assert env.unwrapped.session.num_envs == 2
    twin = gymnasium.make("tetrion/Versus-v0", rules={"preset": "tetrio", "players": 2}, opponent="tetrion-guideline")
    assert env.unwrapped.session.rules == twin.unwrapped.session.rules
    botris = gymnasium.make("tetrion/Versus-v0", rules="botris")
    assert botris.unwrapped.session.rules != env.unwrapped.session.rules


def test_an_illegal_action_of_either_side_loses():
    for action_of, opponent, won in (
        (np.argmin, "dt-10", -1),
        (np.argmax, lambda observations, masks: masks.argmin(axis=1), 1),
    ):
        env = gymnasium.make("tetrion/Versus-v0", rules=RULES, opponent=opponent)
        _, info = env.reset(seed=1)
        *_, terminated, _, info = env.step(action_of(info["action_mask"]))
        assert terminated
        assert info["won"] == won


def test_it_draws_the_agents_game():
    for mode in ("ansi", "rgb_array"):
        envs = make_vec(2, render_mode=mode)
        _, infos = envs.reset(seed=1)
        first = envs.render()
        envs.step(legal(np.random.default_rng(0), infos["action_mask"]))
        frames, both = envs.render(), envs.unwrapped.envs.render()
        assert len(frames) == 2
        for number, frame in enumerate(frames):
            np.testing.assert_array_equal(frame, both[2 * number])
            assert not np.array_equal(frame, both[2 * number + 1])
            assert not np.array_equal(frame, first[number])


def test_copies_continue_the_match():
    env, rng = gymnasium.make("tetrion/Versus-v0", rules=RULES, opponent="dt-10"), np.random.default_rng(5)
    _, info = env.reset(seed=2)
    for _ in range(5):
        *_, info = env.step(rng.choice(np.flatnonzero(info["action_mask"])))
    twin = copy.deepcopy(env)
    for _ in range(5):
        action = rng.choice(np.flatnonzero(info["action_mask"]))
        (seen, *_, info), (expected, *_) = env.step(action), twin.step(action)
        np.testing.assert_array_equal(seen["board"], expected["board"])


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        (
            {"opponent": 5},
            tetrion.InvalidArgumentError,
            "opponent is 5, expected the name of a policy, a Policy, or a function",
        ),
        ({"opponent": "dt-11"}, tetrion.InvalidRequestError, "dt-11"),
        (
            {"opponent": last_of, "action_mask": False},
            tetrion.InvalidArgumentError,
            "action_mask is False, and the opponent",
        ),
        ({"rules": {"players": 1}}, tetrion.InvalidArgumentError, r"rules\['players'\] is 1, expected 2"),
        ({"rules": "guideline"}, tetrion.InvalidRequestError, "players"),
        ({"rules": 3}, tetrion.InvalidArgumentError, "rules is 3"),
        ({"observe_opponent": 1}, tetrion.InvalidArgumentError, "observe_opponent is 1, expected True or False"),
        ({"num_envs": 0}, tetrion.InvalidArgumentError, "num_envs is 0"),
        (
            {"height": 14},
            tetrion.InvalidArgumentError,
            "height is not an argument of PlacementVectorEnv, did you mean rules",
        ),
    ],
)
def test_what_is_refused(options, error, said):
    with pytest.raises(error, match=said):
        tetrion.VersusVectorEnv(**options)


def test_what_a_step_and_a_reset_refuse():
    envs = make_vec(2, opponent="dt-10")
    with pytest.raises(tetrion.ResetNeededError):
        envs.step([0, 0])
    _, infos = envs.reset(seed=1)
    actions = infos["action_mask"].argmax(axis=1)
    before = envs.unwrapped.envs.save_state()
    for call, error, said in (
        (lambda: envs.step([1, 2, 3]), tetrion.InvalidArgumentError, r"actions have the shape \(3,\), expected \(2,\)"),
        (lambda: envs.step(actions + 0.5), tetrion.InvalidArgumentError, "actions"),
        (lambda: envs.step([0, 10**6]), tetrion.IllegalActionError, "1000000"),
        (
            lambda: envs.reset(seed=[1, 2, 3, 4]),
            tetrion.InvalidArgumentError,
            "seed has 4 seeds, expected one for each of 2",
        ),
        (
            lambda: envs.reset(options={"reset_mask": np.ones(4, np.bool_)}),
            tetrion.InvalidArgumentError,
            r"has bool of the shape \(4,\), expected a numpy array of bool of the shape \(2,\)",
        ),
        (
            lambda: envs.reset(options={"piece_sequences": "I"}),
            tetrion.InvalidArgumentError,
            "'piece_sequences', which is not",
        ),
    ):
        with pytest.raises(error, match=said):
            call()
        assert envs.unwrapped.envs.save_state() == before
    for answers, said in (
        (
            lambda observations, masks: [1],
            r"opponent returned int64 of the shape \(1,\), expected integers of the shape \(2,\)",
        ),
        (lambda observations, masks: [0.5, 1.0], "opponent returned float64"),
    ):
        envs = make_vec(2, opponent=answers)
        with pytest.raises(gymnasium.error.ResetNeeded):
            envs.step([0, 0])
        envs.reset(seed=1)
        with pytest.raises(tetrion.InvalidArgumentError, match=said):
            envs.step([0, 0])
    envs.close()
    with pytest.raises(gymnasium.error.ClosedEnvironmentError):
        envs.step([0, 0])
