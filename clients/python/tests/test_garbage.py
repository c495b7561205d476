"""Rows that rise from below, as learners see them: what waits, what rises, what is recorded and drawn of it."""

import numpy as np
import pytest
from recorded import check_file, program, random_actions, read_png

import tetrion

GARBAGE = {"lines_per_piece": 1.0, "hole_move_chance": 0.3, "delay_pieces": 1}


def test_an_environment_shows_what_waits(client):
    rules = {"width": 6, "height": 12, "garbage": {"lines_per_piece": 1}}
    env = tetrion.PlacementEnv(address=client, rules=rules, observe_mask=True, render_mode="ansi")
    observation, info = env.reset(seed=4)
    assert env.observation_space["garbage"].shape == (2,)
    assert (observation["garbage"].tolist(), info["garbage_rows"]) == ([0, 0], 0)
    shown = []
    for _ in range(4):
        # An I upright, or whatever is first, in the left columns; it cannot clear a row.
        action = int(np.flatnonzero(observation["action_mask"])[0])
        observation, _, _, _, info = env.step(action)
        assert env.observation_space.contains(observation)
        shown.append((observation["garbage"].tolist(), info["garbage_rows"]))
    assert shown == [([0, 1], 0), ([1, 1], 0), ([1, 1], 1), ([1, 1], 2)]
    board = observation["board"]
    assert board[:2].sum(axis=1).tolist() == [5, 5]
    assert "rising 1 +1" in env.render()
    env.close()


def test_the_pieces_of_a_seed_are_the_same(client):
    dealt = []
    for garbage in (None, {**GARBAGE, "lines_per_piece": 0.5}):
        rules = {"preset": "survey", "preview": 6, "garbage": garbage}
        with client.create_session(1, rules=rules, env_seeds=[7]) as session:
            observations = session.reset().observations
            dealt.append([int(observations["current"][0]), *observations["queue"][0].tolist()])
            for action in (0, 4, 8):
                observations = session.step([action]).observations
                dealt[-1].append(int(observations["queue"][0, -1]))
    assert dealt[0] == dealt[1]


@pytest.mark.parametrize("preset", ["simplified", "lab", "genetic", "guideline"])
@pytest.mark.parametrize("autoreset", ["next_step", "same_step"])
def test_what_is_recorded_is_replayed_and_drawn_the_same(client, tmp_path, preset, autoreset):
    rules = {"preset": preset, "height": 12, "preview": 2, "garbage": {**GARBAGE, "lines_per_piece": 0.5}}
    if preset == "guideline":
        rules.update(height=14, rows_above=4)
    print("seed 7")
    rng = np.random.default_rng(7)
    with client.create_session(2, rules=rules, autoreset_mode=autoreset, seed=1) as session:
        recorder = tetrion.Recorder(session, player="random")
        masks = session.reset().action_mask
        for _ in range(300 if preset == "lab" else 60):
            masks = session.step(random_actions(rng, masks)).action_mask
        recordings = [*recorder.take(), recorder.recording(1)]
    assert len(recordings) >= 3
    for number, recording in enumerate(recordings):
        path = tmp_path / f"{number}.json"
        recording.save(path)
        check_file(path)
        assert recording.check() is None
    # What waits is a bar on the frame, in both.
    recording = recordings[0]
    replay = recording.replay()
    waiting = [step for step in range(len(replay) + 1) if sum(replay.scene(step).garbage)]
    assert waiting
    for step in waiting[-2:]:
        picture = tmp_path / "picture.png"
        code, printed = program("export", tmp_path / "0.json", "--at", step, "--cell", 16, "-o", picture)
        assert code == 0, printed
        np.testing.assert_array_equal(replay.picture(step), read_png(picture.read_bytes()))


def test_a_snapshot_goes_on_with_what_waits(client):
    rules = {"width": 6, "height": 20, "garbage": {**GARBAGE, "delay_pieces": 3}}
    with client.create_session(2, rules=rules, autoreset_mode="disabled", seed=3) as session:
        session.reset()
        for action in (0, 2, 0, 2, 0):
            stepped = session.step([action, action])
        assert stepped.observations["garbage"].sum() > 0
        recorder = tetrion.Recorder(session)
        restored = session.restore_state(session.save_state([0])[0], [1])
        for name, field in restored.observations.items():
            np.testing.assert_array_equal(field[0], stepped.observations[name][0], name)
        both = session.step([2, 2])
        for name, field in both.observations.items():
            np.testing.assert_array_equal(field[0], field[1], name)
        # What waited then is nothing that a recording can begin with.
        with pytest.raises(tetrion.ResetNeededError, match="can be recorded yet"):
            recorder.recording(1)


@pytest.mark.parametrize(
    ("garbage", "problem"),
    [
        ({"lines_per_piece": 4.5}, "garbage.lines_per_piece is 4.5, expected 0 to 4"),
        ({"lines_per_piece": 1, "hole_move_chance": 2}, "garbage.hole_move_chance is 2, expected 0 to 1"),
        ({"lines_per_piece": 1, "delay_pieces": 8}, "garbage.delay_pieces is 8, expected 0 to 7"),
        ({"delay_pieces": 3}, "garbage.delay_pieces is 3, expected none"),
    ],
)
def test_what_is_out_of_range_is_named(client, garbage, problem):
    with pytest.raises(tetrion.InvalidRequestError, match=problem):
        client.create_session(1, rules={"garbage": garbage})
    with pytest.raises(tetrion.InvalidArgumentError, match="has no field 'lines'"):
        client.create_session(1, rules={"garbage": {"lines": 1}})


def test_evaluations_have_garbage(client):
    rules = {"height": 12, "garbage": {"lines_per_piece": 0.5}}
    with_garbage = client.evaluate(["bcts"], rules=rules, seeds=range(4), max_pieces=200, record="all=4")
    without = client.evaluate(["bcts"], rules={"height": 12}, seeds=range(4), max_pieces=200)
    assert with_garbage.pieces.mean() < without.pieces.mean()
    for recording in with_garbage.recordings:
        assert recording.check() is None
