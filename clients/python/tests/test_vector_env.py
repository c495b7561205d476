"""`PlacementVectorEnv`: each game as `PlacementEnv` plays it, and Gymnasium's three kinds of autoreset."""

import linecache
import random
import re
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import tetrion

SMALL = {"width": 4, "height": 6}
MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED]


def last_legal(infos):
    mask = infos["action_mask"]
    return mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)


def assert_same(ours, theirs):
    """Equal in value, in type where Gymnasium has numpy types, and in what the `_key` masks leave in view."""
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys()
        for key in theirs:
            if key.startswith("_") or f"_{key}" not in theirs or isinstance(theirs[key], dict):
                assert_same(ours[key], theirs[key])
            else:
                present = theirs[f"_{key}"]
                assert_same(ours[key][present], theirs[key][present])
    elif isinstance(theirs, tuple) or (isinstance(theirs, np.ndarray) and theirs.dtype == object):
        for one, other in zip(ours, theirs, strict=True):
            assert_same(one, other)
    else:
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("mode", MODES[:2])
def test_some_games_go_on_while_others_are_looked_at(client, mode):
    """`send` and `recv` of two halves are the steps of the whole."""
    settings = {"address": client, "rules": SMALL, "autoreset_mode": mode}
    halves, whole = tetrion.PlacementVectorEnv(6, **settings), tetrion.PlacementVectorEnv(6, **settings)
    games = [np.array([0, 2, 4]), np.array([5, 3, 1])]
    _, infos = halves.reset(seed=3)
    _, expected_infos = whole.reset(seed=3)
    for half in games:
        halves.send(last_legal(infos)[half], half)
    for _ in range(30):
        expected = whole.step(last_legal(expected_infos))
        expected_infos = expected[4]
        for half in games:
            observations, *outcome, infos = halves.recv()
            assert infos.pop("env_id").tolist() == half.tolist()
            assert infos.pop("_env_id").all()
            assert_same(observations, {name: field[half] for name, field in expected[0].items()})
            for ours, theirs in zip(outcome, expected[1:4], strict=True):
                assert_same(ours, theirs[half])
            assert ("final_obs" in infos) == (mode == AutoresetMode.SAME_STEP and expected[2][half].any())
            for name, info in infos.items():
                if "final" not in name:
                    assert_same(info, expected_infos[name][half])
            halves.send(last_legal(infos), half)
    with pytest.raises(RuntimeError, match="no step was sent"):
        halves.step_wait()
    for _ in games:
        halves.recv()
    with pytest.raises(RuntimeError, match=r"no actions were sent, expected send\(actions, env_ids\) before recv\(\)"):
        halves.recv()
    halves.reset(seed=3)
    halves.step(np.zeros(6, np.int64))


@pytest.mark.parametrize("kind", [tetrion.PlacementVectorEnv, tetrion.AfterstateVectorEnv])
def test_wrong_lengths_and_ids_are_refused_where_they_are_sent(client, kind):
    envs = kind(4, address=client, rules=SMALL)
    envs.reset(seed=3)
    for actions, env_ids, said in (
        ([0, 0, 0], [0, 1], r"actions have the shape \(3,\), expected \(2,\), one per environment"),
        ([[0], [0]], [0, 1], r"actions have the shape \(2, 1\), expected \(2,\)"),
        ([[0], [0, 0]], [0, 1], r"actions is \[\[0\], \[0, 0\]\], expected 2 actions"),
        ([0, 0], [0, 4], r"env_ids\[1\] is 4, expected an integer from 0 to 3"),
        ([0, 0], [-1, 0], r"env_ids\[0\] is -1, expected an integer from 0 to 3"),
        ([0, 0], [1, 1], "env_ids have an environment twice"),
    ):
        with pytest.raises(tetrion.InvalidArgumentError, match=said):
            envs.send(actions, env_ids)
    with pytest.raises(tetrion.InvalidArgumentError, match=r"actions have the shape \(3,\), expected \(4,\)"):
        envs.step_async([0, 0, 0])
    with pytest.raises(RuntimeError, match="no actions were sent"):
        envs.recv()
    with pytest.raises(RuntimeError, match="no step was sent"):
        envs.step_wait()
    envs.send(last_legal({"action_mask": envs.action_masks()}), range(4))
    assert envs.recv()[4]["env_id"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("copy", [True, False])
def test_a_partial_reset_with_an_observation_without_numbers(client, copy):
    rules, fields = {"preview": 0}, ["queue", "board"]
    envs = tetrion.PlacementVectorEnv(
        3, address=client, rules=rules, observations=fields, autoreset_mode="disabled", copy=copy
    )
    envs.reset(seed=1)
    states = envs.save_state()
    second = envs.step(np.zeros(3, int))[0]["board"][1].copy()
    observations, _ = envs.reset(options={"reset_mask": np.array([True, False, True])})
    assert not observations["board"][[0, 2]].any()
    assert np.array_equal(observations["board"][1], second)
    observations, _ = envs.restore_state(states[:1], [1])
    assert not observations["board"].any()
    envs.send(np.array([1]), [1])
    assert envs.recv()[0]["board"].shape == (1, *observations["board"].shape[1:])
    envs.close()


@pytest.mark.parametrize("call", ["step", "step_wait", "recv"])
def test_the_warning_about_masks_is_at_the_line_of_the_learner(client, call):
    envs = tetrion.PlacementVectorEnv(100, address=client, autoreset_mode="same_step")
    envs.reset(seed=1)
    forbidden = np.full(100, 19)

    def learn():
        if call == "step":
            envs.step(forbidden)
        elif call == "step_wait":
            envs.step_async(forbidden)
            envs.step_wait()
        else:
            envs.send(forbidden, range(100))
            envs.recv()

    with pytest.warns(UserWarning, match="ended 100 of the first 100 episodes") as met:
        learn()
    assert f"envs.{call}(" in linecache.getline(met[0].filename, met[0].lineno)


def test_a_partial_reset_after_recv_leaves_the_other_games(client):
    envs = tetrion.PlacementVectorEnv(4, address=client, rules=SMALL)
    _, infos = envs.reset(seed=3)
    envs.send(last_legal(infos)[[1, 2]], [1, 2])
    seen, *_, infos = envs.recv()
    observations, _ = envs.reset(options={"reset_mask": np.array([True, False, False, False])})
    np.testing.assert_array_equal(observations["board"][[1, 2]], seen["board"])
    assert observations["board"][[1, 2]].any(axis=(1, 2)).all()
    np.testing.assert_array_equal(envs.action_masks()[[1, 2]], infos["action_mask"])


@pytest.mark.parametrize("env_ids", [[0.5, 1.5], np.array([True, False]), "ab"])
def test_what_names_no_games_is_refused(client, env_ids):
    envs = tetrion.PlacementVectorEnv(2, address=client, rules=SMALL)
    envs.reset(seed=3)
    with pytest.raises(tetrion.InvalidArgumentError, match=r"^env_ids"):
        envs.send(np.array([0, 0]), env_ids)
    envs.step(np.array([0, 0]))


@pytest.mark.parametrize("mode", MODES)
def test_as_gymnasium_would_do_it_with_single_environments(client, mode):
    ours = tetrion.PlacementVectorEnv(5, address=client, rules=SMALL, autoreset_mode=mode, invalid_action_policy="terminate")
    theirs = SyncVectorEnv([lambda: tetrion.PlacementEnv(address=client, rules=SMALL)] * 5, autoreset_mode=mode)
    assert ours.metadata["autoreset_mode"] is mode
    # An ended game that waits takes any action in NEXT_STEP mode; ours has it in its mask.
    assert_follows(ours, theirs, last_legal, steps=40)


def assert_follows(ours, theirs, choose, steps):
    """Steps our vector environment and Gymnasium's with the same actions, and compares everything that they return."""
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    seen, expected = ours.reset(seed=3), theirs.reset(seed=3)
    ends = 0
    for _ in range(steps):
        if "final_info" in expected[-1]:
            # The mask of an episode that is over allows nothing, and is not sent; an afterstate environment has it.
            for name in {"action_mask", "_action_mask"} - seen[-1]["final_info"].keys():
                expected[-1]["final_info"].pop(name)
        assert_same(seen[0], expected[0])
        assert_same(seen[-1], expected[-1])
        assert seen[0] in ours.observation_space
        actions = choose(seen[-1])
        seen, expected = ours.step(actions), theirs.step(actions)
        for one, other in zip(seen[1:4], expected[1:4], strict=True):
            np.testing.assert_array_equal(one, other)
        ended = seen[2] | seen[3]
        ends += ended.sum()
        if ours.autoreset_mode is AutoresetMode.DISABLED and ended.any():
            before = seen[0]
            seen = ours.reset(options={"reset_mask": ended})
            expected = theirs.reset(options={"reset_mask": ended})
            np.testing.assert_array_equal(seen[0]["board"][~ended], before["board"][~ended])
            # Gymnasium's infos have no masks of the games that go on; ours do, for the next step to choose from.
            np.testing.assert_array_equal(seen[-1]["action_mask"], ours.action_masks())
    assert ends > 5
    ours.close()


def test_disabled_refuses_to_step_what_has_ended(client):
    envs = tetrion.PlacementVectorEnv(2, address=client, max_episode_steps=1, autoreset_mode="Disabled")
    envs.reset(seed=0)
    envs.step(np.array([0, 0]))
    with pytest.raises(tetrion.EpisodeEndedError) as caught:
        envs.step(np.array([0, 0]))
    assert caught.value.metadata["env_ids"] == "0,1"
    envs.reset(options={"reset_mask": np.array([True, False])})
    with pytest.raises(tetrion.EpisodeEndedError) as caught:
        envs.step(np.array([0, 0]))
    assert caught.value.metadata["env_ids"] == "1"


def test_reset_mask_is_checked_as_gymnasium_does(client):
    envs = tetrion.PlacementVectorEnv(2, address=client)
    wanted = r"expected a numpy array of bool of the shape \(2,\)"
    for mask, problem in [
        ([True, False], rf"is \[True, False\], {wanted}"),
        (True, rf"is True, {wanted}"),
        (np.ones(3, bool), rf"has bool of the shape \(3,\), {wanted}"),
        (np.ones((2, 1), bool), rf"has bool of the shape \(2, 1\), {wanted}"),
        (np.array([1, 0]), rf"has int64 of the shape \(2,\), {wanted}"),
        (np.zeros(2, bool), "is false everywhere, expected at least one environment to reset"),
    ]:
        with pytest.raises(tetrion.InvalidArgumentError, match=rf"^options\['reset_mask'\] {problem}"):
            envs.reset(options={"reset_mask": mask})
    for options in ("reset_mask", 5, [1]):
        with pytest.raises(tetrion.InvalidArgumentError, match=r"^options is .*, expected options by name"):
            envs.reset(options=options)


def test_final_observations_and_infos(client):
    envs = tetrion.PlacementVectorEnv(3, address=client, max_episode_steps=2, autoreset_mode="SameStep")
    _, infos = envs.reset(seed=[5, 6, 7])
    for _ in range(2):
        observations, _, _, truncated, infos = envs.step(last_legal(infos))
    assert truncated.all()
    assert infos["_final_obs"].all()
    assert infos["_final_info"].all()
    for env in range(3):
        assert infos["final_obs"][env]["board"].sum() == 8
        assert infos["final_obs"][env] in envs.single_observation_space
    assert infos["final_info"]["pieces"].tolist() == [2, 2, 2]
    assert infos["final_info"]["seed"].tolist() == [5, 6, 7]
    assert observations["board"].sum() == 0
    assert infos["pieces"].tolist() == [0, 0, 0]
    assert not {5, 6, 7} & set(infos["seed"].tolist())


def test_seeds(client):
    envs = tetrion.PlacementVectorEnv(3, address=client)
    _, infos = envs.reset(seed=0)
    assert infos["seed"].tolist() == [0, 1, 2]
    second = envs.reset()[1]["seed"].tolist()
    assert not {0, 1, 2} & set(second)
    # Game 1 goes on, the others begin again; 0 is a seed like any other.
    _, infos = envs.reset(seed=[0, None, 2**64 - 1])
    assert infos["seed"][[0, 2]].tolist() == [0, -1], "the bits of 2**64 - 1"
    assert infos["seed"][1] not in (1, second[1])
    assert infos["_seed"].all()
    for seeds in ([1, 2], np.arange(4), ()):
        with pytest.raises(
            tetrion.InvalidArgumentError,
            match=f"^seed has {len(seeds)} seeds, expected one for each of 3 environments, or an integer",
        ):
            envs.reset(seed=seeds)
    with pytest.raises(tetrion.InvalidArgumentError, match=r"^seed\[1\] is 1.5, expected an integer from"):
        envs.reset(seed=[1, 1.5, 2])
    for seed in (1.5, True, "1", -(2**63) - 1, {1: 2}, 2**64 - 2):
        with pytest.raises(
            tetrion.InvalidArgumentError, match=f"^seed is .*, expected an integer from {-(2**63)} to {2**64 - 3}"
        ):
            envs.reset(seed=seed)
    # Without a seed, the server draws them.
    others = [tetrion.PlacementVectorEnv(3, address=client).reset()[1]["seed"].tolist() for _ in range(2)]
    assert others[0] != others[1]


def test_make_vec_gives_one_session(client):
    envs = gymnasium.make_vec("tetrion/Placement-v0", num_envs=8, address=client.address, rules=SMALL)
    assert isinstance(envs, tetrion.PlacementVectorEnv)
    assert envs.session.num_envs == 8
    observations, infos = envs.reset(seed=1)
    assert observations in envs.observation_space
    np.testing.assert_array_equal(envs.action_masks(), infos["action_mask"].astype(bool))
    assert envs.step(last_legal(infos))[0] in envs.observation_space
    envs.close()
    envs.close()


def test_arrays_are_the_learners_own_unless_copy_is_off(client):
    for copy in (True, False):
        envs = tetrion.PlacementVectorEnv(2, address=client, copy=copy)
        _, infos = envs.reset(seed=1)
        observations, rewards, terminated, truncated, infos = envs.step(last_legal(infos))
        kept = [observations["board"], terminated, truncated, infos["action_mask"], infos["lines"]]
        for array in kept:
            array.fill(1)
        for _ in range(2):
            envs.step(np.zeros(2, int))
        assert all(array.all() for array in kept) is copy
        assert rewards.dtype == np.float64


def arrays_of(value):
    """Every array in what a step returns, also those in last observations."""
    if isinstance(value, dict):
        return [array for part in value.values() for array in arrays_of(part)]
    if isinstance(value, (tuple, list)) or (isinstance(value, np.ndarray) and value.dtype == object):
        return [array for part in value for array in arrays_of(part)]
    return [value] if isinstance(value, np.ndarray) else []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [tetrion.PlacementVectorEnv, tetrion.AfterstateVectorEnv])
def test_arrays_that_a_learner_keeps_stay_as_they_are(client, kind, mode):
    """Arrays, rows of them, and other views, whatever the learner does with arrays that it does not keep."""
    ours, theirs = (kind(4, address=client, rules=SMALL, autoreset_mode=mode, max_episode_steps=9) for _ in range(2))
    draw = random.Random(f"{kind.__name__} {mode}")
    kept = []

    def learn(step, seen):
        for array in arrays_of(seen):
            if draw.random() < 0.02:
                view = draw.choice([array, array[:1], array[::-1], memoryview(array)[:2]])
                kept.append((step, view, np.array(view)))
        actions = last_legal(seen[-1])
        if draw.random() < 0.1:
            for array in arrays_of(seen):
                if not any(np.shares_memory(array, np.asarray(view)) for _, view, _ in kept):
                    array[...] = 1
        return actions

    seen, expected = ours.reset(seed=1), theirs.reset(seed=1)
    for step in range(120):
        assert_same(seen, expected)
        ended = expected[2] | expected[3] if len(expected) == 5 else np.zeros(4, bool)
        actions = learn(step, seen)
        if ended.any() and mode is AutoresetMode.DISABLED:
            seen, expected = (envs.reset(options={"reset_mask": ended}) for envs in (ours, theirs))
        else:
            seen, expected = ours.step(actions), theirs.step(actions)
    assert len(kept) > 20
    for step, view, copy in kept:
        np.testing.assert_array_equal(np.asarray(view), copy, f"step {step}")


@pytest.mark.parametrize("mode", MODES)
def test_memory_that_nobody_keeps_is_used_again(mode):
    envs = tetrion.PlacementVectorEnv(4, rules=SMALL, autoreset_mode=mode)
    _, infos = envs.reset(seed=1)
    used = []
    for _ in range(60):
        _, _, terminated, truncated, infos = envs.step(last_legal(infos))
        if mode is AutoresetMode.DISABLED and (ended := terminated | truncated).any():
            _, infos = envs.reset(options={"reset_mask": ended})
        block = envs._stream._blocks.latest.bytes
        if not any(block is other for other in used):
            used.append(block)
    assert len(used) <= 3


@pytest.mark.parametrize("observe_mask", [False, True])
def test_what_a_learner_writes_into_its_arrays_changes_no_later_answer(client, observe_mask):
    """Masks, and the infos of games that have not ended."""
    settings = {"address": client, "rules": SMALL, "autoreset_mode": "SameStep", "observe_mask": observe_mask}
    ours, theirs = (tetrion.PlacementVectorEnv(5, **settings) for _ in range(2))
    seen, expected = ours.reset(seed=1), theirs.reset(seed=1)
    for _ in range(60):
        assert_same(seen, expected)
        infos, wanted = seen[-1].get("final_info", {}), expected[-1].get("final_info", {})
        for name in wanted:
            np.testing.assert_array_equal(infos[name], wanted[name])
        np.testing.assert_array_equal(ours.action_masks(), theirs.action_masks())
        actions = last_legal(expected[-1])
        for array in arrays_of(seen):
            array[...] = 1
        np.testing.assert_array_equal(ours.action_masks(), theirs.action_masks())
        seen, expected = ours.step(actions), theirs.step(actions)


@pytest.mark.parametrize("mode", MODES[:2])
def test_halves_of_the_games_that_obey_their_masks_warn_of_nothing(client, mode):
    """The masks before an action are those that the learner saw, whatever other games have done since."""
    envs = tetrion.PlacementVectorEnv(8, address=client, rules=SMALL, autoreset_mode=mode)
    _, infos = envs.reset(seed=1)
    halves = [np.arange(0, 4), np.arange(4, 8)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for half in halves:
            envs.send(last_legal(infos)[half], half)
        ends = 0
        while ends < 150:
            _, _, terminated, _, infos = envs.recv()
            ends += terminated.sum()
            np.testing.assert_array_equal(envs.action_masks()[infos["env_id"]], infos["action_mask"])
            envs.send(last_legal(infos), infos["env_id"])


def test_human_rendering_draws_the_first_game(client, capsys):
    envs = tetrion.PlacementVectorEnv(3, address=client, rules=SMALL, render_mode="human")
    _, infos = envs.reset(seed=1)
    envs.step(last_legal(infos))
    assert envs.render() is None
    assert capsys.readouterr().out.count("pieces") == 2


def test_render_has_a_picture_a_game(client):
    for mode in ("ansi", "rgb_array"):
        envs = tetrion.PlacementVectorEnv(3, address=client, rules=SMALL, render_mode=mode)
        envs.reset(seed=1)
        assert len(envs.render()) == 3


def test_games_are_asked_as_gymnasiums_own(client):
    """`call`, `get_attr` and `set_attr`, as `SyncVectorEnv` has them."""
    ours = tetrion.PlacementVectorEnv(3, address=client, rules=SMALL, render_mode="ansi")
    theirs = SyncVectorEnv([lambda: tetrion.PlacementEnv(address=client, rules=SMALL, render_mode="ansi")] * 3)
    for envs in (ours, theirs):
        _, infos = envs.reset(seed=3)
        envs.step(last_legal(infos))
    for name in ("action_masks", "render", "render_mode", "action_space", "observation_space", "closed"):
        assert_same(ours.call(name), theirs.call(name))
        assert_same(ours.get_attr(name), theirs.get_attr(name))
    # Snapshots hold the number of the environment, too.
    assert [len(state) for state in ours.call("save_state")] == [len(state) for state in theirs.call("save_state")]
    for name in ("nothing", "render_modes"):
        for envs in (ours, theirs):
            with pytest.raises(AttributeError, match=name):
                envs.call(name)
    for values in ("one", ["a", "b", "c"], ("a", "b", "c"), None):
        for envs in (ours, theirs):
            envs.set_attr("level", values)
        assert ours.get_attr("level") == theirs.get_attr("level") == ours.call("level")
    for name in ("step", "reset", "close", "restore_state", "clone"):
        with pytest.raises(AttributeError, match=name):
            ours.call(name)
    for name in ("rules", "render_mode", "num_envs", "render_scale", "session", "action_masks"):
        with pytest.raises(tetrion.InvalidArgumentError, match=rf"^name is '{name}', which is fixed"):
            ours.set_attr(name, 1)
    with pytest.raises(tetrion.InvalidArgumentError, match="values has 2 values, expected one for each of 3 environments"):
        ours.set_attr("level", [1, 2])
    assert ours.get_attr("level") == (None,) * 3
    human = tetrion.PlacementVectorEnv(2, address=client, render_mode="human")
    assert human.call("render") == (None, None)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kwargs", [{}, {"action_mask": False}, {"infos": ["lines"]}], ids=str)
def test_who_ignores_the_mask_is_warned_once(client, mode, kwargs):
    envs = tetrion.PlacementVectorEnv(8, address=client, autoreset_mode=mode, **kwargs)
    envs.reset(seed=1)
    ends = 0
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        while ends < 300:
            # Of all pieces only an upright I fits into the last column.
            _, _, terminated, _, _ = envs.step(np.full(8, 19))
            ends += terminated.sum()
            assert len(met) == (ends >= 100)
            if mode is AutoresetMode.DISABLED and terminated.any():
                envs.reset(options={"reset_mask": terminated})
    (warning,) = met
    assert warning.filename == __file__
    assert re.match(
        r"actions that the mask forbids ended 1\d\d of the first 1\d\d episodes; let the agent choose", str(warning.message)
    )
    assert "invalid_action_policy='ignore'" in str(warning.message)
    envs.close()


@pytest.mark.parametrize("invalid_action", ["terminate", "ignore", "reject"])
def test_who_follows_the_mask_is_not_warned(client, invalid_action):
    """Warnings are errors here."""
    envs = tetrion.PlacementVectorEnv(
        8, address=client, rules=SMALL, invalid_action_policy=invalid_action, max_episode_steps=20
    )
    _, infos = envs.reset(seed=1)
    ends = invalid = 0
    while ends < 300:
        actions = last_legal(infos)
        if invalid_action == "ignore" or (invalid_action == "terminate" and ends % 3 == 0):
            actions[0] = 15
        _, _, terminated, truncated, infos = envs.step(actions)
        ends += (terminated | truncated).sum()
        invalid += 0 if invalid_action == "reject" else infos["invalid_action"].sum()
    assert invalid > 0 or invalid_action == "reject"
    envs.close()


def test_steps_that_are_sent_and_waited_for(client):
    """What `step` returns, with time for the learner between the two halves."""
    ours, theirs = (tetrion.PlacementVectorEnv(3, address=client, autoreset_mode="same_step") for _ in range(2))
    with pytest.raises(RuntimeError, match=r"no step was sent, expected step_async\(actions\) before step_wait\(\)"):
        ours.step_wait()
    _, infos = ours.reset(seed=1)
    theirs.reset(seed=1)
    for _ in range(60):
        actions = infos["action_mask"].argmax(axis=1)
        ours.step_async(actions)
        actions_sent = actions.copy()
        actions[:] = 0  # The learner may write into its array.
        *sent, infos = ours.step_wait()
        *stepped, expected = theirs.step(actions_sent)
        assert set(infos) == set(expected)
        for mine, others in zip(sent[1:], stepped[1:], strict=True):
            np.testing.assert_array_equal(mine, others)
        np.testing.assert_array_equal(infos["pieces"], expected["pieces"])
    ours.step_async(actions_sent)
    with pytest.raises(RuntimeError, match="receive the answers to what was sent ahead first"):
        ours.step(actions_sent)
    ours.close()
    theirs.close()
