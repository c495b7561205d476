"""What actions say, which ones exist, and why episodes end."""

import numpy as np
import pytest

import tetrion


@pytest.mark.parametrize(
    ("rules", "names"),
    [
        ("simplified", ["orientation", "column"]),
        ("guideline", ["hold", "orientation", "column", "row", "spin"]),
        ("lab", ["key"]),
    ],
)
def test_actions_are_read_and_written_by_their_digits(client, rules, names):
    with client.create_session(rules=rules) as session:
        assert [digit.name for digit in session.action_digits] == names
        assert all(isinstance(digit, tetrion.ActionDigit) and digit.description for digit in session.action_digits)
        every = np.arange(session.num_actions, dtype=np.int32).reshape(2, -1)
        digits = session.decode_actions(every)
        assert list(digits) == names
        for digit in session.action_digits:
            values = digits[digit.name]
            assert (values.shape, values.min(), values.max()) == (every.shape, 0, digit.size - 1)
        again = session.encode_actions(**digits)
        assert again.dtype == np.int32
        np.testing.assert_array_equal(again, every)


def test_one_action_and_digits_that_are_left_out(client):
    with client.create_session(rules={"hold": True, "preview": 1}) as session:
        assert session.decode_actions(63) == {"hold": 1, "orientation": 2, "column": 3}
        assert session.encode_actions(orientation=2, column=3) == 23
        assert session.encode_actions(hold=1, orientation=2, column=[3, 4]).tolist() == [63, 64]
        for refused, said in (
            (lambda: session.decode_actions(80), "actions has 80, expected integers from 0 to 79"),
            (lambda: session.decode_actions([0, -1]), "actions has -1"),
            (lambda: session.decode_actions(1.5), "actions"),
            (lambda: session.encode_actions(column=10), "column has 10, expected integers from 0 to 9"),
            (lambda: session.encode_actions(colum=1), "colum is no digit of an action, did you mean 'column'"),
            (lambda: session.encode_actions(column=[1, 2], orientation=[1, 2, 3]), "shapes"),
        ):
            with pytest.raises(tetrion.InvalidArgumentError, match=said):
                refused()


@pytest.mark.parametrize("rules", ["guideline", {"preset": "guideline", "action_model": "keypress"}, "lab"])
def test_listed_placements_are_where_their_digits_say(client, rules):
    with client.create_session(rules=rules, seed=1) as session:
        session.reset()
        placements = session.enumerate_placements(cells=True)
        digits = placements.decode_placements()
        assert (digits["column"] == placements.cells[:, :, 1].min(axis=1)).all()
        if "row" in digits:
            assert (digits["row"] == placements.cells[:, :, 0].min(axis=1)).all()
            assert (digits["spin"] == placements.spins).all()
            assert (digits["hold"] == placements.holds).all()


@pytest.mark.parametrize("rules", ["guideline", {"width": 7}, "lab"])
def test_masks_are_of_the_actions_that_exist(client, rules):
    with client.create_session(3, rules=rules, seed=1) as session:
        mask = session.reset().action_mask
        assert (mask.dtype, mask.shape) == (np.bool_, (3, session.num_actions))
        for row in range(3):
            actions = session.enumerate_placements([row]).actions
            if session.action_digits[0].name != "key":
                np.testing.assert_array_equal(np.flatnonzero(mask[row]), actions)
        assert session.step(mask.argmax(axis=1)).action_mask.any(axis=1).all()


def test_a_thousand_games_of_modern_tetris_are_a_session(client):
    with client.create_session(1024, rules="guideline", seed=1) as session:
        assert session.reset().action_mask.shape == (1024, 5760)


def test_infos_say_why_episodes_end(client):
    rules = {"width": 4, "height": 6}
    for arguments, actions, end in (
        ({"piece_sequences": "OOOO"}, [0, 0, 0, 0], tetrion.EpisodeEnd.TOPPED_OUT),
        ({"piece_sequences": "OO", "invalid_action_policy": "terminate"}, [15], tetrion.EpisodeEnd.INVALID_ACTION),
        ({"piece_sequences": "OOOO", "max_episode_steps": 2}, [0, 0], tetrion.EpisodeEnd.STEP_LIMIT),
        ({"piece_sequences": "OO"}, [0, 0], tetrion.EpisodeEnd.OUT_OF_PIECES),
    ):
        with client.create_session(rules=rules, **arguments) as session:
            assert session.reset().infos["end"] == tetrion.EpisodeEnd.NOT_ENDED
            for action in actions:
                stepped = session.step([action])
            assert stepped.infos["end"].dtype == np.uint8
            assert tetrion.EpisodeEnd(int(stepped.infos["end"][0])) is end
    env = tetrion.PlacementEnv(address=client, rules=rules, max_episode_steps=1)
    env.reset(seed=1)
    assert env.step(0)[4]["end"] == tetrion.EpisodeEnd.STEP_LIMIT


def test_games_say_why_they_ended(client):
    games = client.evaluate("bcts", rules={"width": 4, "height": 6}, piece_sequences=["OOOO", "O"], max_pieces=3)
    assert games.ends.tolist() == [tetrion.EpisodeEnd.PIECE_LIMIT, tetrion.EpisodeEnd.OUT_OF_PIECES]
    assert games.truncated.tolist() == [True, True]
    games = client.evaluate("random", rules={"width": 4, "height": 6}, seeds=[1, 2])
    assert games.ends.tolist() == [tetrion.EpisodeEnd.TOPPED_OUT] * 2
    assert not games.truncated.any()
