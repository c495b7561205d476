"""Recordings as files: what they say, who can read them, and what is wrong with a falsified one."""

import copy
import json
import pickle

import protocol
import pytest
from recorded import program, three_pieces

import tetrion
from tetrion._pb import messages as pb


def test_what_a_recording_says(client):
    recording = three_pieces(client, rules={"preview": 1})
    assert (len(recording), recording.pieces, recording.lines, recording.score, recording.end) == (3, 3, 0, 0.0, None)
    assert (recording.seed, recording.piece_sequence, recording.start) == (5, None, None)
    assert (recording.actions.tolist(), recording.landings.tolist()) == ([0, 3, 6], [0, 0, 0])
    assert recording.rules["width"] == 10
    assert recording.rules_version == client.server_info().rules_version
    assert recording.origin == "episode 0 of environment 0"
    assert repr(recording) == "<tetrion.Recording: 3 pieces, 0 lines, not ended>"
    replay = recording.replay()
    assert len(replay) == 3
    assert replay.scene(0).pieces == 0
    assert replay.scene().cells.shape == (20, 10)
    assert (replay.scene().cells >= 0).sum() == 12
    assert sum(cell == "#" for row in recording.rows for cell in row) == 12
    with pytest.raises(tetrion.InvalidArgumentError, match="step is 4"):
        replay.scene(4)


def test_files_are_those_of_every_protobuf_library(client, tmp_path):
    recording = three_pieces(client)
    recording.save(tmp_path / "game.json")
    fields = json.loads((tmp_path / "game.json").read_text())
    assert (fields["seed"], fields["actions"], fields["landingLines"]) == ("5", [0, 3, 6], "AAAA")
    recording.save(tmp_path / "game.tetrion")
    assert pb.Recording.decode((tmp_path / "game.tetrion").read_bytes()) == recording._message
    for copied in (copy.deepcopy(recording), pickle.loads(pickle.dumps(recording))):
        assert copied == recording
        assert copied.check() is None
    assert recording != "game"


def change(recording, **fields):
    message = protocol.read(recording._message)
    for name, value in fields.items():
        if name == "rows":
            message.outcome.rows[-1] = value
        elif hasattr(message.outcome, name) and name != "lines":
            setattr(message.outcome, name, value)
        elif name == "actions":
            message.actions[:] = value
        else:
            setattr(message, name, value)
    return pb.Recording.decode(message.SerializeToString())


@pytest.mark.parametrize(
    ("fields", "difference"),
    [
        ({"landing_lines": b"\0\1\0"}, "step 2, piece 2: 0 lines, recorded 1"),
        ({"landing_lines": b"\0\0"}, "step 3, piece 3: 0 lines, recorded none"),
        ({"landing_lines": b"\0\0\0\0"}, "at the end: 3 pieces with lines, recorded 4"),
        ({"pieces": 4}, "at the end: 3 pieces, recorded 4"),
        ({"score": 1.0}, "at the end: 0 points, recorded 1"),
        ({"end": 2}, "at the end: not ended, recorded topped out"),
        ({"rows": "##########"}, "at the end: row "),
        ({"actions": [0, 40, 6]}, "step 2: "),
        ({"piece_sequence": "X"}, "it cannot be played"),
    ],
    ids=str,
)
def test_a_falsified_recording_is_found_out(client, tmp_path, fields, difference):
    recording = tetrion.Recording(change(three_pieces(client), **fields))
    assert recording.check().startswith(difference)
    recording.save(tmp_path / "game.json")
    assert program("replay", tmp_path / "game.json")[0] != 0


def test_fields_of_newer_programs_are_passed_over(client, tmp_path):
    recording = three_pieces(client)
    fields = json.loads(recording.to_json())
    for message in (fields, fields["rules"], fields["outcome"]):
        message["newField"] = [{"deep": [1, 2.5, None]}, "text"]
    (tmp_path / "game.json").write_text(json.dumps(fields))
    assert tetrion.Recording.load(tmp_path / "game.json") == recording
    assert program("replay", tmp_path / "game.json")[0] == 0


def test_steps_that_are_no_number_are_refused(client):
    recording = three_pieces(client)
    for steps in (-1, 1.5, "2", True):
        with pytest.raises(tetrion.InvalidArgumentError, match=r"^max_steps is .*, expected an integer from 0 to"):
            recording.replay(max_steps=steps)
    assert len(recording.replay(max_steps=2)) == 2


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "recording cannot be read: the file is empty"),
        (b"{}", "rules_version is required"),
        (b"no recording", "it is neither a recording in JSON, which begins with {, nor one in binary form"),
        (b'{"rulesVersion": 1}', "it is not a recording in JSON: invalid type"),
        (b'{"unknown": 1}', "rules_version is required"),
        (b'{"rulesVersion": "x", "rules": {"randomizer": "RANDOMIZER_X"}}', "it is not a recording in JSON"),
        (b'{"rulesVersion": "tetrion-rules-1"}', "rules is required"),
        (b'{"rulesVersion": "tetrion-rules-1", "rules": {}}', "pieces is required"),
        (b'{"rulesVersion": "tetrion-rules-1", "rules": {}, "seed": 1}', "outcome is required"),
        (b'{"rulesVersion": "tetrion-rules-1", "rules": {}, "outcome": {}, "seed": 1}', "outcome.end is required"),
        (
            b'{"rulesVersion": "tetrion-rules-1", "rules": {}, "outcome": {"end": 1}, "seed": 1, "actions": [1, 65536]}',
            r"actions\[1\] is 65536",
        ),
        (b" " * ((32 << 20) + 1), "it has 33554433 bytes, expected at most 33554432"),
    ],
    ids=lambda value: str(value[:20]),
)
def test_what_is_no_recording_is_refused(tmp_path, content, problem):
    (tmp_path / "game.json").write_bytes(content)
    with pytest.raises(tetrion.InvalidArgumentError, match=problem):
        tetrion.Recording.load(tmp_path / "game.json")


def test_a_recording_outlives_its_server():
    with tetrion.Server() as server, tetrion.Client(server) as client:
        recordings = [
            three_pieces(client),
            client.evaluate("bcts", seeds=[1], max_pieces=50, record="best").recordings[0],
        ]
    for recording in recordings:
        assert "<script>" in recording._repr_html_()
        assert recording.check() is None


def test_a_recording_under_another_version_of_the_rules_is_refused(client, tmp_path):
    """As `tetrion replay` does: equal seeds and actions may make another game."""
    recording = three_pieces(client)
    recording._message.rules_version = "tetrion-rules-0"
    with pytest.raises(tetrion.errors.VersionMismatchError, match='is "tetrion-rules-0", expected "tetrion-rules-1"'):
        recording.check()
    with pytest.raises(tetrion.errors.VersionMismatchError):
        recording.replay()
    recording.save(tmp_path / "game.json")
    with pytest.raises(tetrion.errors.VersionMismatchError):
        tetrion.Recording.load(tmp_path / "game.json")
    code, printed = program("replay", tmp_path / "game.json")
    assert (code, "other rules may make another game" in printed) == (2, True)
