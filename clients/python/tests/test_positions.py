"""Positions as arrays: playfields as observations have them, and whole observations."""

import gymnasium
import numpy as np
import pytest

import tetrion

RULES = {"width": 6, "height": 8, "preview": 2}
HELD = {"preset": "guideline", "width": 6, "preview": 2}


def columns(listed):
    """Everything of a list, to be compared."""
    return {
        name: None if value is None else value.tolist()
        for name in ("row_offsets", "actions", "rewards", "lines", "terminated", "features", "afterstates", "holds")
        for value in [getattr(listed, name)]
    }


def played(client, rules, num_envs, steps=7):
    """The observations of games in progress, and of their session's placements."""
    env_id = "tetrion/Placement-v0"
    envs = gymnasium.make_vec(env_id, num_envs=num_envs, address=client, rules=rules, autoreset_mode="SameStep")
    observations, infos = envs.reset(seed=1)
    for _ in range(steps):
        observations, *_, infos = envs.step(infos["action_mask"].argmax(axis=1))
    return envs, observations


ASKED = {"features": ["holes", "max_height"], "afterstates": True}


@pytest.mark.parametrize("rules", [RULES, HELD, "simplified", None, {"width": 20, "height": 6, "preview": 0}])
def test_an_observation_is_a_position(client, rules):
    envs, observations = played(client, rules, 3)
    expected = columns(envs.session.enumerate_placements(**ASKED))
    assert columns(client.enumerate_placements(observations, rules=rules, **ASKED)) == expected
    # One game of them, and what a session or a single environment shows.
    first = {name: array[0] for name, array in observations.items()}
    listed = client.enumerate_placements(first, rules=rules, **ASKED)
    assert listed.actions.tolist() == expected["actions"][: expected["row_offsets"][1]]
    session = envs.session
    shown = session.restore_state(session.save_state()).observations
    assert columns(client.enumerate_placements(shown, rules=rules, **ASKED)) == expected
    env = tetrion.PlacementEnv(address=client, rules=rules)
    observation, _ = env.reset(seed=5)
    at_start = client.enumerate_placements(observation, rules=rules, **ASKED)
    assert columns(at_start) == columns(env.session.enumerate_placements(**ASKED))


@pytest.mark.parametrize("rules", [RULES, HELD])
def test_environments_take_observations(client, rules):
    envs, observations = played(client, rules, 3)
    twins = tetrion.PlacementVectorEnv(3, address=client, rules=rules)
    restored, _ = twins.restore_state(observations)
    for name, array in observations.items():
        np.testing.assert_array_equal(restored[name], array)
    env = tetrion.PlacementEnv(address=client, rules=rules)
    restored, _ = env.restore_state({name: array[1] for name, array in observations.items()})
    np.testing.assert_array_equal(restored["board"], observations["board"][1])
    assert restored["current"] == observations["current"][1]
    envs.session.restore_state(tetrion.Packed(observations["board"], observations["current"]))
    assert envs.session.enumerate_placements().row_offsets[-1] > 0


def test_boards_are_taken_in_every_form(client):
    envs, observations = played(client, RULES, 3)
    boards, pieces = observations["board"], observations["current"]
    expected = columns(client.enumerate_placements(tetrion.Packed(boards, pieces), rules=RULES))
    bits = boards @ (1 << np.arange(6))
    for some in (
        tetrion.Packed(boards.astype(bool), pieces),
        tetrion.Packed(boards.astype(float), pieces.tolist()),
        tetrion.Packed(boards.tolist(), pieces.astype(np.int8)),
        tetrion.Packed(bits, pieces),
        tetrion.Packed(bits.tolist(), pieces),
    ):
        assert columns(client.enumerate_placements(some, rules=RULES)) == expected
    drawing = tetrion.Drawing(["".join(".#"[cell] for cell in row) for row in boards[0][::-1]], "IOTZSJL"[pieces[0]])
    one = columns(client.enumerate_placements(drawing, rules=RULES))
    for some in (tetrion.Packed(boards[0], pieces[0]), tetrion.Packed(bits[0], int(pieces[0]))):
        assert columns(client.enumerate_placements(some, rules=RULES)) == one
    # Row 0 is the lowest.
    board = np.zeros((20, 10), np.int8)
    board[0, :9] = 1
    listed = client.enumerate_placements(tetrion.Packed(board, 0), afterstates=True)
    assert listed.lines.max() == 1
    envs.close()


def test_pieces_of_another_set(client):
    rules = {"piece_set": "pentominoes", "width": 10, "height": 12, "preview": 2, "hold": True}
    envs, observations = played(client, rules, 2, steps=2)
    nothing = observations["held"].max()
    assert nothing > 7
    listed = client.enumerate_placements(observations, rules=rules, **ASKED)
    assert columns(listed) == columns(envs.session.enumerate_placements(**ASKED))


@pytest.mark.parametrize(
    ("positions", "said"),
    [
        (
            np.zeros((20, 10), np.int8),
            "positions is an array without pieces, expected snapshots as bytes, Drawings, Packed(",
        ),
        ({"board": np.zeros((20, 10))}, "positions has the fields board, expected the observations 'board' and 'current'"),
        ({}, "positions has the fields , expected the observations 'board' and 'current'"),
        (
            {"board": np.zeros((2, 20, 10)), "current": [0, 7]},
            "positions['current'] has no piece in game 1, expected games that have not ended",
        ),
        (
            {"board": np.zeros((20, 10)), "current": -1},
            "positions['current'] has no piece, expected games that have not ended",
        ),
        (tetrion.Packed(np.zeros((20, 8)), 0), "boards have 8 columns, expected the 10 of the rules"),
        (tetrion.Packed(np.full((20, 10), 2), 0), "boards have cells other than 0 and 1"),
        (tetrion.Packed(np.full((20, 10), np.nan), 0), "boards have cells other than 0 and 1"),
        (tetrion.Packed(np.zeros((20, 10)), [0] * 3), "boards have the shape (20, 10) and pieces (3,), expected a play"),
        (tetrion.Packed(np.zeros((2, 20, 10)), 0), "boards have the shape (2, 20, 10) and pieces (), expected a playfield"),
        (tetrion.Packed(np.zeros(20), [[0]]), "boards have the shape (20,) and pieces (1, 1), expected a playfield for"),
        (tetrion.Packed(np.zeros((20, 10)), "I"), "pieces[0] is 'I', expected an integer from 0 to 255"),
        (tetrion.Packed(np.zeros((20, 10)), -1), "pieces[0] is -1, expected an integer from 0 to 255"),
        (tetrion.Drawing(np.zeros((20, 10)), "I"), "positions[0].rows are an array of numbers, which Packed(board, piece)"),
        (3, "positions is 3, expected snapshots as bytes, Drawings, Packed(boards, pieces), or an observation"),
    ],
)
def test_what_is_no_position_is_named(client, positions, said):
    for call in (client.enumerate_placements, client.create_session().restore_state):
        with pytest.raises(tetrion.InvalidArgumentError) as caught:
            call(positions)
        assert str(caught.value).startswith(said)
