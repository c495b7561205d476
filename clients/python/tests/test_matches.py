"""Matches in vector environments: environments 2k and 2k + 1 play each other, and begin and end together."""

import copy
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import tetrion

RULES = {"preset": "tetrio", "players": 2, "height": 14, "rows_above": 4, "clear_points": "result"}
MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED]


def make(num_envs, env_id="tetrion/Placement-v0", rules=RULES, **options):
    return gymnasium.make_vec(env_id, num_envs, vectorization_mode="vector_entry_point", rules=rules, **options)


def legal(rng, infos):
    """A random legal action of each environment."""
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in infos["action_mask"]])


def test_seeds_are_those_of_matches():
    envs = make(6)
    for seed, expected in (
        (7, [7, 7, 8, 8, 9, 9]),
        ([5, 5, -1, -1, 2**64 - 1, 2**64 - 1], [5, 5, -1, -1, -1, -1]),
        (None, [5, 5, -1, -1, -1, -1]),
    ):
        observations, infos = envs.reset(seed=seed)
        if seed is not None:
            assert infos["seed"].tolist() == expected
        for name in ("current", "queue"):
            np.testing.assert_array_equal(observations[name][::2], observations[name][1::2])
    observations, infos = envs.reset(seed=[4, 4, None, None, 4, 4])
    assert infos["seed"][[0, 1, 4, 5]].tolist() == [4] * 4
    np.testing.assert_array_equal(observations["queue"][0], observations["queue"][5])


@pytest.mark.parametrize("env_id", ["tetrion/Placement-v0", "tetrion/Afterstate-v0"])
@pytest.mark.parametrize("mode", MODES)
def test_both_sides_begin_and_end_together(mode, env_id):
    envs, rng = make(4, env_id, autoreset_mode=mode, observations=["board"]), np.random.default_rng(3)
    _, infos = envs.reset(seed=11)
    results = []
    for _ in range(400):
        observations, rewards, terminated, truncated, infos = envs.step(legal(rng, infos))
        assert not truncated.any()
        np.testing.assert_array_equal(terminated[::2], terminated[1::2])
        np.testing.assert_array_equal(infos["pieces"][::2], infos["pieces"][1::2])
        np.testing.assert_array_equal(infos["seed"][::2], infos["seed"][1::2])
        if not terminated.any():
            assert not rewards.any()
            continue
        last = infos["final_info"] if mode == AutoresetMode.SAME_STEP else infos
        np.testing.assert_array_equal(last["won"][terminated], rewards[terminated])
        ended = last["won"][terminated].reshape(-1, 2)
        assert not ended.sum(axis=1).any()
        results += ended.tolist()
        if mode == AutoresetMode.SAME_STEP:
            assert infos["_final_info"].tolist() == terminated.tolist()
            assert not infos["pieces"][terminated].any()
        elif mode == AutoresetMode.NEXT_STEP:
            going = infos["pieces"][~terminated]
            _, rewards, again, _, infos = envs.step(legal(rng, infos))
            assert not infos["pieces"][terminated].any()
            assert not rewards[terminated].any()
            if not again.any():
                assert (infos["pieces"][~terminated] == going + 1).all()
        else:
            before = observations["board"][~terminated]
            observations, infos = envs.reset(options={"reset_mask": terminated})
            assert not observations["board"][terminated].any()
            np.testing.assert_array_equal(observations["board"][~terminated], before)
        if [1, -1] in results and [-1, 1] in results and len(results) >= 4:
            break
    assert [1, -1] in results
    assert [-1, 1] in results


@pytest.mark.parametrize(
    ("seed", "mask", "said"),
    [
        ([1, 1, 2, 3], None, r"seed is 2 for environment 2 and 3 for its opponent, environment 3, expected equal values"),
        ([1, None, 2, 2], None, r"seed is 1 for environment 0 and None for its opponent, environment 1"),
        ([1, 1, 2], None, "seed has 3 seeds, expected one for each of 4 environments"),
        (None, [True, True, False, True], r"reset_mask'\] is False for environment 2 and True for its opponent"),
        ([1, 1, None, None], [True, True, True, False], r"reset_mask'\] is True for environment 2 and False"),
    ],
)
def test_one_side_is_refused_without_the_other(seed, mask, said):
    envs = make(4)
    envs.reset(seed=5)
    before = envs.unwrapped.save_state()
    options = None if mask is None else {"reset_mask": np.array(mask)}
    with pytest.raises(tetrion.InvalidArgumentError, match=said):
        envs.reset(seed=seed, options=options)
    with pytest.raises(tetrion.InvalidRequestError, match="environment 2 plays against environment 3"):
        envs.unwrapped.restore_state(before[2:3], [2])
    assert envs.unwrapped.save_state() == before


def test_an_odd_number_of_sides_is_refused():
    with pytest.raises(tetrion.InvalidRequestError, match="num_envs is 3, expected an even number"):
        make(3)


@pytest.mark.parametrize("env_id", ["tetrion/Placement-v0", "tetrion/Afterstate-v0"])
def test_one_game_is_no_match(env_id):
    with pytest.raises(tetrion.InvalidArgumentError, match=r"rules have 2 players, .* 'tetrion/Versus-v0'"):
        gymnasium.make(env_id, rules=RULES)
    gymnasium.make(env_id, rules={**RULES, "players": 1, "clear_points": "attack"}).close()


def test_an_illegal_action_loses_and_is_warned_about():
    envs = make(20, autoreset_mode="same_step")
    _, infos = envs.reset(seed=1)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for number in range(10):
            assert not warned, number
            actions = infos["action_mask"].argmax(axis=1)
            actions[1::2] = infos["action_mask"][1::2].argmin(axis=1)
            _, rewards, terminated, _, infos = envs.step(actions)
            assert terminated.all()
            assert rewards.tolist() == [1, -1] * 10
            ends = infos["final_info"]["end"]
            assert ends.tolist() == [tetrion.EpisodeEnd.WON, tetrion.EpisodeEnd.INVALID_ACTION] * 10
    assert [str(warning.message)[:77] for warning in warned] == [
        "actions that the mask forbids ended 100 of the first 100 episodes; let the ag"
    ]


def test_lines_that_one_side_sends_arrive_at_the_other():
    envs = make(8, rules={**RULES, "clear_points": "exchange"}, autoreset_mode="same_step")
    envs.reset(seed=1)
    session, arrived = envs.unwrapped.session, 0
    for _ in range(150):
        actions = session.enumerate_placements(policy="dt-10").policy_actions
        actions[1::2] = session.enumerate_placements([1, 3, 5, 7], policy="tetrion-guideline").policy_actions
        _, _, terminated, _, infos = envs.step(actions)
        if terminated.any():
            last = {name: rows[terminated] for name, rows in infos["final_info"].items()}
            of_opponents = {name: rows.reshape(-1, 2)[:, ::-1].ravel() for name, rows in last.items()}
            np.testing.assert_array_equal(last["episode_return"], of_opponents["received"] - last["received"])
            # Attacks of one turn destroy each other on their way.
            assert (last["received"] <= of_opponents["sent"]).all()
            arrived += last["received"].sum()
    assert arrived > 0


def test_copies_continue_the_match():
    envs, rng = make(4), np.random.default_rng(4)
    _, infos = envs.reset(seed=1)
    for _ in range(8):
        *_, infos = envs.step(legal(rng, infos))
    twin = copy.deepcopy(envs)
    assert twin.unwrapped.save_state() == envs.unwrapped.save_state()
    for _ in range(30):
        actions = legal(rng, infos)
        ours, theirs = envs.step(actions), twin.step(actions)
        infos = ours[4]
        for name, field in ours[0].items():
            np.testing.assert_array_equal(field, theirs[0][name])
        np.testing.assert_array_equal(infos["won"], theirs[4]["won"])


def test_a_won_match_is_no_truncated_game(client):
    games = client.evaluate("dt-10", opponent="random", rules=RULES, seeds=tetrion.DrawnSeeds(1, 2), episodes_per_seed=2)
    assert games.ends.tolist() == [tetrion.EpisodeEnd.WON] * 4
    assert not games.truncated.any()


@pytest.mark.parametrize("swap_sides", [False, True])
def test_a_mirrored_match_has_the_players_in_each_others_rows_or_swapped_sides(client, swap_sides):
    games = client.evaluate("dt-10", opponent="el-tetris", rules=RULES, seeds=[9], episodes_per_seed=2)
    rows = {"dt-10": [0, 2], "el-tetris": [1, 3]} if swap_sides else {"dt-10": [0, 3], "el-tetris": [1, 2]}
    infos = ["won", "sent", "pieces"]
    with client.create_session(4, rules=RULES, env_seeds=[9] * 4, autoreset_mode="disabled", infos=infos) as session:
        session.reset([0, 1])
        session.reset([2, 3], swap_sides=swap_sides)
        last, going = {}, [0, 1, 2, 3]
        while going:
            actions = np.zeros(4, np.int32)
            for player, of_player in rows.items():
                chosen = [env for env in of_player if env in going]
                actions[chosen] = session.enumerate_placements(chosen, policy=player).policy_actions
            stepped = session.step(actions[going], going)
            for row, env in enumerate(list(going)):
                last[env] = {name: stepped.infos[name][row] for name in infos}
                if stepped.terminated[row]:
                    going.remove(env)
    ends = {tetrion.EpisodeEnd.WON: 1, tetrion.EpisodeEnd.TOPPED_OUT: -1, tetrion.EpisodeEnd.DRAWN: 0}
    assert [last[env]["won"] for env in rows["dt-10"]] == [ends[end] for end in games.ends.ravel().tolist()]
    assert [last[env]["pieces"] for env in rows["dt-10"]] == games.pieces.ravel().tolist()
    # The same pieces, other holes.
    assert last[0]["pieces"] != last[3]["pieces"]


def test_the_option_swap_sides_is_for_two_players(client):
    envs = make(4, address=client)
    plain, sides, received = [], [1, 0, 3, 2], 0
    for swap_sides in (False, True):
        policies = ["dt-10", "el-tetris"][:: -1 if swap_sides else 1]
        infos = envs.reset(seed=9, options={"swap_sides": swap_sides})[1]
        for step in range(120):
            chosen = np.zeros(4, np.int64)
            for side, policy in enumerate(policies):
                rows = [side, side + 2]
                chosen[rows] = envs.unwrapped.session.enumerate_placements(rows, policy=policy).policy_actions
            observations, *_, infos = envs.step(chosen)
            if not swap_sides:
                plain.append(observations)
            for name, shown in observations.items():
                np.testing.assert_array_equal(shown[sides] if swap_sides else shown, plain[step][name])
            if step == 60 and swap_sides:
                observations, _ = envs.unwrapped.restore_state(envs.unwrapped.save_state())
            received += infos["received"].sum()
    assert received > 0
    before = envs.unwrapped.save_state()
    with pytest.raises(tetrion.InvalidArgumentError, match=r"options\['swap_sides'\] is 1, expected True or False"):
        envs.reset(options={"swap_sides": 1})
    assert envs.unwrapped.save_state() == before
    alone = make(2, rules="guideline", address=client)
    alone.reset(seed=1)
    before = alone.unwrapped.save_state()
    for seed in (None, 3):
        with pytest.raises(
            tetrion.InvalidRequestError, match="swap_sides: is true, expected false: the rules have 1 player"
        ):
            alone.reset(seed=seed, options={"swap_sides": True})
    assert alone.unwrapped.save_state() == before
