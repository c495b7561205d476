"""The game people play, as learners see it: placements under roofs, spins, a held piece, and what clears are worth."""

import numpy as np
import pytest

import tetrion
from tetrion._envs import flat

NUM_PLACEMENTS = 4 * 10 * 24 * 3
# A T fits into the notch only by a turn.
NOTCH = ["...#......", "#...######", "##.#######"]
TSPIN_DOUBLE = ((2 * 10 + 1) * 24 + 0) * 3 + 2


def test_an_environment_has_spaces_for_all_of_it(client):
    env = tetrion.PlacementEnv(address=client, rules="guideline", observe_mask=True)
    assert env.action_space.n == 2 * NUM_PLACEMENTS
    observation, info = env.reset(seed=4)
    assert env.observation_space.contains(observation)
    assert observation["board"].shape == (40, 10)
    assert observation["held"] == 7, "none"
    holds = np.flatnonzero(info["action_mask"][NUM_PLACEMENTS:]) + NUM_PLACEMENTS
    current, queue = observation["current"], observation["queue"]
    observation, reward, _, _, info = env.step(holds[0])
    assert env.observation_space.contains(observation)
    assert (observation["held"], observation["current"]) == (current, queue[1])
    assert (reward, info["attack"], info["combo"], info["back_to_back"], info["spin"]) == (0, 0, 0, False, 0)
    vector = flat.Flattener(env.observation_space)
    batch = {name: np.asarray(field)[None] for name, field in observation.items()}
    assert vector(batch).shape[1] >= 400 + 8 * 7
    env.close()


def test_placements_say_what_they_are(client):
    drawing = tetrion.Drawing(NOTCH, "T", held="I")
    placements = client.enumerate_placements(drawing, rules="guideline", features="dellacherie6")
    (row,) = np.flatnonzero(placements.actions == TSPIN_DOUBLE)
    assert placements.lines[row] == 2
    assert placements.rewards[row] == 1200
    assert (placements.spins[row], placements.attacks[row], placements.holds[row]) == (2, 4, False)
    assert set(placements.holds[placements.actions >= NUM_PLACEMENTS]) == {True}
    assert not placements.holds[placements.actions < NUM_PLACEMENTS].any()
    # Packed, it is the same position.
    boards = np.zeros((1, 40), np.uint16)
    for height, drawn in enumerate(reversed(NOTCH)):
        boards[0, height] = sum(1 << column for column, cell in enumerate(drawn) if cell == "#")
    packed = tetrion.Packed(boards, [2], held=[0])
    again = client.enumerate_placements(packed, rules="guideline")
    assert np.array_equal(again.actions, placements.actions)
    plain = client.enumerate_placements(tetrion.Drawing(NOTCH, "T"))
    assert (plain.spins, plain.holds, plain.attacks) == (None, None, None)


@pytest.mark.parametrize(("points", "reward"), [("lines", 2), ("attack", 4), ("guideline", 1200)])
def test_a_reward_is_what_the_rules_make_of_a_clear(client, points, reward):
    rules = {"preset": "guideline", "clear_points": points}
    with client.create_session(1, rules=rules) as session:
        session.restore_state(tetrion.Drawing(NOTCH, "T"))
        stepped = session.step([TSPIN_DOUBLE])
        assert stepped.rewards[0] == reward
        infos = {name: stepped.infos[name][0] for name in ("attack", "combo", "back_to_back", "spin")}
        assert infos == {"attack": 4, "combo": 1, "back_to_back": True, "spin": 2}


def test_a_snapshot_goes_on_with_what_is_held_and_with_its_combo(client):
    with client.create_session(2, rules="guideline", action_mask=True, seed=3) as session:
        rng = np.random.default_rng(0)
        masks = session.reset().action_mask
        for _ in range(12):
            stepped = session.step((rng.random(masks.shape) * masks).argmax(axis=1))
            masks = stepped.action_mask
        state = session.save_state([0])[0]
        restored = session.restore_state(state, [1])
        for name, field in restored.observations.items():
            assert np.array_equal(field[0], stepped.observations[name][0]), name
        action = int(np.flatnonzero(masks[0])[-1])
        assert action >= NUM_PLACEMENTS
        both = session.step([action, action])
        for name, field in both.observations.items():
            assert np.array_equal(field[0], field[1]), name


def test_what_contradicts_itself_is_named(client):
    with pytest.raises(tetrion.InvalidRequestError, match="lock_out needs rows_above of at least 3"):
        client.create_session(1, rules={"preset": "guideline", "height": 20})
    with pytest.raises(tetrion.InvalidRequestError, match="hold needs a preview of at least 1"):
        client.create_session(1, rules={"hold": True})
    with pytest.raises(tetrion.InvalidRequestError, match=r"observation_fields\.names\[0\].*held.*|.*rules with hold.*"):
        client.create_session(1, observations=["held"])
    with pytest.raises(tetrion.InvalidRequestError, match="clear_points or attack_table"):
        client.create_session(1, infos=["combo"])
    with pytest.raises(tetrion.InvalidRequestError, match="held"):
        client.enumerate_placements(tetrion.Drawing([], "T", held="IO"), rules="guideline")


def test_evaluations_hold_pieces(client):
    rules = {"preset": "guideline", "height": 24}
    with_hold = client.evaluate(["dellacherie"], rules=rules, seeds=range(4), max_pieces=60)
    without = client.evaluate(["dellacherie"], rules={**rules, "hold": False}, seeds=range(4), max_pieces=60)
    assert with_hold.mean_lines.shape == without.mean_lines.shape == (1,)
    scores = [run.summary.policies[0].score.mean for run in (with_hold, without)]
    assert scores[0] != scores[1]
    assert all(score > 0 for score in scores), "guideline points"
