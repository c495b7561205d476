"""Recordings of an evaluation's games: the same files as those of `tetrion evaluate --record`."""

import numpy as np
import pytest
from recorded import check_file, program

import tetrion

SMALL = {"rules": {"width": 6, "height": 8}, "seeds": tetrion.DrawnSeeds(1, 15), "max_pieces": 200}


def test_an_evaluation_records_the_games_worth_a_look(client, tmp_path):
    """The same files as those of `tetrion evaluate --record`."""
    words = ["best", "worst", "median", "all=2"]
    result = client.evaluate(["bcts", "random"], record=words, **SMALL)
    plain = client.evaluate(["bcts", "random"], **SMALL)
    assert plain.recordings == ()
    np.testing.assert_array_equal(result.lines, plain.lines)
    options = ["--width", "6", "--height", "8", "--games", "15", "--seed", "1", "--max-pieces", "200"]
    command = ["evaluate", "bcts", "random", *options, "--record", ",".join(words), "--record-dir", tmp_path / "theirs"]
    code, printed = program(*command)
    assert code == 0, printed
    theirs = [tetrion.Recording.load(path) for path in sorted((tmp_path / "theirs").iterdir())]
    ours = {(recording.player, recording.seed): recording for recording in result.recordings}
    assert {(recording.player, recording.seed) for recording in theirs} == set(ours)
    for recording in theirs:
        mine = ours[recording.player, recording.seed]
        assert (mine.actions == recording.actions).all()
        assert mine._message.outcome == recording._message.outcome
        assert mine._message.landing_lines == recording._message.landing_lines
    for number, recording in enumerate(result.recordings):
        recording.save(tmp_path / f"{number}.tetrion")
        check_file(tmp_path / f"{number}.tetrion")


def test_weights_key_presses_and_pieces_are_recorded_too(client, tmp_path):
    recordings = [
        *client.evaluate(weights=[[-1.0] * 8], features="bcts8", record="all=20", **{**SMALL, "max_pieces": 20}).recordings,
        *client.evaluate("random_keys", rules={"preset": "lab", "height": 8}, seeds=[1, 2], record="best").recordings,
        *client.evaluate("bcts", piece_sequences=["OOIT", "ZZ"], record="all=2").recordings,
        *client.evaluate("bcts", seeds=[3], episodes_per_seed=3, max_pieces=9, record="all=3").recordings,
    ]
    assert len(recordings) == 15 + 1 + 2 + 3
    assert recordings[0].player == "policy 0"
    assert recordings[0].origin == f"game 0 of 15, seed {recordings[0].seed}"
    assert [recording.piece_sequence for recording in recordings[16:18]] == ["OOIT", "ZZ"]
    assert len({recording.seed for recording in recordings[18:]}) == 3
    for number, recording in enumerate(recordings):
        recording.save(tmp_path / f"{number}.json")
        check_file(tmp_path / f"{number}.json")


@pytest.mark.parametrize("word", ["least", "all", "all=0", "all=1001", "best worst", 3, [3]])
def test_unknown_words_are_refused_before_anything_is_played(client, word):
    with pytest.raises(tetrion.InvalidArgumentError, match="record"):
        client.evaluate("bcts", record=word, **SMALL)


def test_what_cannot_be_recorded_is_refused(client):
    with pytest.raises(tetrion.InvalidArgumentError, match="include_results"):
        client.evaluate("bcts", record="best", include_results=False, **SMALL)
    with pytest.raises(tetrion.InvalidArgumentError, match="seeds of 17 episodes"):
        client.evaluate("random", record="best", rules={"width": 4, "height": 4}, seeds=[1], episodes_per_seed=17)


def test_several_servers_record_as_one(remote, tmp_path):
    with tetrion.Server() as other, tetrion.Servers([remote.address, other]) as servers:
        ours = remote.evaluate("bcts", record="best,median", **SMALL).recordings
        theirs = servers.evaluate("bcts", record="best,median", **SMALL).recordings
        assert ours == theirs
        assert theirs[0].check() is None


def test_a_match_has_both_players_on_their_sides(client, tmp_path):
    evaluation = client.evaluate(
        "dt-10", opponent="random", rules={"preset": "tetrio", "players": 2}, seeds=[3], max_pieces=40, record="all=2"
    )
    for side, recording in enumerate(evaluation.recordings):
        players = [recording.player, recording.opponent.player]
        assert players == (["dt-10", "random"], ["random", "dt-10"])[side]
        assert recording.check() is None
        ours = [recording, recording.opponent][side]
        assert (ours.lines, ours.pieces, ours.score) == tuple(
            column[side] for column in (evaluation.lines, evaluation.pieces, evaluation.scores)
        )
        recording.save(tmp_path / "match.json")
        check_file(tmp_path / "match.json")
    assert recording.replay().opponent_scene(0).pieces == 0
