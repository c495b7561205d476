"""Matches that other engines played, with their pieces and holes, replayed through `reset` and `step`, field by field.

The files name each placement by the cells of its piece. The core's tests play all of them; these are the matches whose
players move at the same time, and whose starts a drawing can show: without chains, and without garbage where it counts.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import tetrion

FOLDER = Path(__file__).parents[3] / "src/core/tests/data/versus"
SPINS = {"T-spins": "t_spins_strict", "all-mini+": "all_mini_plus"}
KICKS = {"SRS": "srs", "SRS+": "srs_plus"}
TABLES = {
    ("multiplier", False): "tetrio",
    ("multiplier", True): "tetrio_season_1",
    ("classic guideline", False): "tetrio_classic",
    ("modern guideline", False): "tetrio_modern",
}
INFOS = ["lines", "sent", "received", "cancelled", "surge", "garbage_rows", "back_to_back_count", "combo", "won"]


def matches(name):
    found = []
    for line in (FOLDER / name).read_text().splitlines():
        match = json.loads(line)
        has_plain_starts = all(start.get("b2b", -1) < 0 for start in match["starts"])
        counts_garbage = match["rules"].get("special", False) or match["rules"].get("clutch", False)
        has_garbage = any("1" in start["gray"] for start in match["starts"])
        if match["rules"]["clock"] == "together" and has_plain_starts and not (counts_garbage and has_garbage):
            found.append(match)
    return found


def league_rules(given):
    return {
        "preset": "tetrio",
        "players": 2,
        "rotation_system": KICKS[given["kicks"]],
        "spin_rule": SPINS[given["spins"]],
        "attack_table": TABLES[given["combo"], given["chaining"]],
        "clutch": given["clutch"],
        "garbage": {
            "hole_move_chance": given["within"],
            "hole_change_chance": given["change"],
            "hole_other_column": given["nosame"],
            "delay_pieces": -(-given["speed"] // given["frames"]) - 1,
            "rows_per_piece": given["cap"],
            "opening_pieces": given["opener"],
            "multiplier": given["mult"],
            "multiplier_growth": given["multInc"],
            "multiplier_after": given["multMargin"] // 60,
            "frames_per_piece": given["frames"],
            "meets_in_flight": given["pass"] == "zero",
        },
    }


def bot_rules(given):
    garbage = {
        "hole_move_chance": given["messiness"],
        "delay_pieces": given["delay"],
        "multiplier": given["multiplier"],
    }
    return {"preset": "botris", "players": 2, "garbage": garbage}


def rows(text):
    """The rows of a playfield, from the lowest up: three hexadecimal digits each."""
    return [int(text[place : place + 3], 16) for place in range(0, len(text), 3)]


def drawing(start, queue):
    lines = ["".join("#" if row >> column & 1 else "." for column in range(10)) for row in rows(start["rows"])]
    return tetrion.Drawing(lines[::-1], queue[0], queue[1:6])


def action(placements, side, turn):
    """The action that puts the piece into the cells of a turn."""
    of_side = range(*placements.row_offsets[side : side + 2])
    for row in of_side:
        cells = sorted(column + 10 * cell for cell, column in placements.cells[row].tolist())
        if (cells, placements.spins[row], placements.holds[row]) == (turn["c"], turn["s"], turn["h"]):
            return placements.actions[row]
    raise AssertionError(f"no {turn['c']} in turn {turn['t']}")


def replay(client, match, rules, holes):
    """Plays a match; yields what each side shows before and after each turn, and what the file says of it."""
    turns = [match["turns"][place : place + 2] for place in range(0, len(match["turns"]), 2)]
    queue = match["queue"]
    with client.create_session(
        2, rules=rules, observations=["board_bits", "garbage"], infos=INFOS, autoreset_mode="disabled"
    ) as session:
        before = session.reset(piece_sequences=[queue] * 2, hole_columns=holes)
        if any(start["rows"] for start in match["starts"]):
            before = session.restore_state([drawing(start, queue) for start in match["starts"]])
        for number, turn in enumerate(turns):
            assert [of_side["pl"] for of_side in turn] == [0, 1]
            if number == len(turns) // 2:
                # The columns come back with a snapshot.
                states = session.save_state()
                session.reset(seeds=[3, 3])
                session.restore_state(states)
            placements = session.enumerate_placements(cells=True)
            after = session.step([action(placements, side, of_side) for side, of_side in enumerate(turn)])
            for side, of_side in enumerate(turn):
                was = {name: int(column[side]) for name, column in before.infos.items() if name != "action_mask"}
                shown = {name: int(column[side]) for name, column in after.infos.items() if name != "action_mask"}
                gained = {name: value - was[name] for name, value in shown.items()}
                board, waiting = (after.observations[name][side].tolist() for name in ("board_bits", "garbage"))
                expected = rows(of_side["bd"])
                assert board == expected + [0] * (len(board) - len(expected))
                assert gained["lines"] == of_side["n"]
                assert gained["cancelled"] == of_side["x"]
                assert gained["garbage_rows"] == len(of_side["g"])
                assert bool(after.terminated[side]) == any(one["z"] for one in turn)
                yield of_side, turn[1 - side], shown, gained, waiting
            before = after
        winner = {0: [1, -1], 1: [-1, 1], "draw": [0, 0], "limit": [0, 0]}[match["winner"]]
        np.testing.assert_array_equal(after.infos["won"], winner)
        assert after.terminated[0] == (match["winner"] != "limit")


def columns(match, name):
    """The columns of holes of each side, in their order."""
    return [[hole for turn in match["turns"] if turn["pl"] == side for hole in turn[name]] for side in (0, 1)]


@pytest.mark.parametrize("match", matches("matches.jsonl"), ids=lambda match: str(match["match"]))
def test_matches_are_those_of_another_engine(client, match):
    for turn, other, shown, gained, waiting in replay(client, match, league_rules(match["rules"]), columns(match, "g")):
        assert gained["sent"] == sum(turn["o"])
        assert gained["received"] == sum(other["ar"])
        assert gained["surge"] == turn["su"]
        assert (shown["combo"] - 1, shown["back_to_back_count"] - 1) == (turn["cb"], turn["b"])
        assert waiting == [sum(lines for lines, delay in turn["q"] if delay == k) for k in range(len(waiting))]


@pytest.mark.parametrize("match", matches("botris.jsonl"), ids=lambda match: str(match["match"]))
def test_matches_of_bots_are_those_of_their_arena(client, match):
    # Lines have their holes when they are sent.
    holes = columns(match, "ho")[::-1]
    for turn, other, shown, gained, waiting in replay(client, match, bot_rules(match["rules"]), holes):
        assert (gained["sent"], gained["received"]) == (turn["o"], other["o"])
        assert (shown["combo"], shown["back_to_back_count"] > 0) == (turn["cb"], turn["b"] > 0)
        assert waiting == [sum(delay == k for _, delay in turn["q"]) for k in range(len(waiting))]


def test_the_files_have_such_matches():
    assert [len(matches(name)) for name in ("matches.jsonl", "botris.jsonl")] == [6, 5]


def test_holes_of_a_game_alone_lie_in_their_columns(client):
    rules = {"width": 6, "height": 16, "garbage": {"lines_per_piece": 1, "delay_pieces": 0}}
    envs = tetrion.PlacementVectorEnv(2, address=client, rules=rules)
    envs.reset(options={"piece_sequences": ["OOOO", "OIOO"], "hole_columns": [[5, 0, 3], [1, 1, 2]]})
    for _ in range(4):
        observations, *_ = envs.step([0, 0])
    holes = [[int(np.flatnonzero(row == 0)[0]) for row in board[2::-1]] for board in observations["board"]]
    assert holes == [[5, 0, 3], [1, 1, 2]]
    with pytest.raises(tetrion.InvalidRequestError, match=r"hole_columns\[1\].columns\[0\]: is 6, expected 0 to 5"):
        envs.reset(options={"piece_sequences": ["OO", "OO"], "hole_columns": [[0], [6]]})
    env = tetrion.PlacementEnv(address=client, rules=rules)
    env.reset(options={"piece_sequence": "OOO", "hole_columns": [4, 0]})
    env.step(0)
    observation, *_ = env.step(0)
    assert observation["board"][0].tolist() == [1, 1, 1, 1, 0, 1]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"hole_columns": [[1]]}, "hole_columns is given without piece_sequences, expected both"),
        ({"piece_sequences": "I", "hole_columns": [1]}, r"hole_columns\[0\] is 1, expected a list of columns"),
        ({"piece_sequences": "I", "hole_columns": [[0.5]]}, r"hole_columns\[0\]\[0\] is 0.5, expected an integer"),
        ({"piece_sequences": "I", "hole_columns": [[0], [0]]}, "hole_columns: has 2 lists, expected 1, one per string"),
        ({"piece_sequences": "I", "hole_columns": [[0]]}, "hole_columns: is set, expected none: the rules have no garbage"),
    ],
)
def test_wrong_columns_are_refused_by_name(client, given, said):
    with client.create_session() as session:
        session.reset(seeds=[5])
        before = session.save_state()
        for call in (session.reset, client.create_session):
            with pytest.raises((tetrion.InvalidArgumentError, tetrion.InvalidRequestError), match=said):
                call(**given)
        assert session.save_state() == before
