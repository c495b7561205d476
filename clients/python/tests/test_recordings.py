"""Recordings: whatever plays, the program replays their files to the last cell."""

import copy
import json
import pickle

import gymnasium
import numpy as np
import pytest
from recorded import check_drawings, check_file, program, random_actions

import tetrion
from tetrion._pb import recording_pb2

SMALL = {"rules": {"width": 6, "height": 8}, "seeds": tetrion.SeedRange(1, 15), "max_pieces": 200}
PRESETS = ["simplified", "lab", "survey", "genetic", "leiden"]


def record_random_games(session, seed, steps, *, by_stream=True, allowed=True, **kwargs):
    """Plays at random in all environments; returns the recorder."""
    print("seed", seed)
    rng = np.random.default_rng(seed)
    recorder = tetrion.Recorder(session, **kwargs)
    calls = session.stream() if by_stream else session
    masks = calls.reset().action_mask
    for _ in range(steps):
        chosen = random_actions(rng, masks) if allowed else rng.integers(0, session.num_actions, session.num_envs)
        masks = calls.step(chosen).action_mask
    if by_stream:
        calls.close()
    return recorder


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("autoreset", ["next_step", "same_step"])
def test_every_preset_in_every_autoreset_mode(client, tmp_path, preset, autoreset):
    rules = {"preset": preset, "height": 10, "preview": 2}
    steps = 300 if preset == "lab" else 60
    with client.create_session(3, rules=rules, autoreset=autoreset, seed=1) as session:
        recorder = record_random_games(session, 7, steps, by_stream=autoreset == "same_step", player="random")
        recordings = recorder.take()
        assert recorder.take() == []
        assert len(recordings) >= 3
        assert len({recording.seed for recording in recordings}) == len(recordings)
        unfinished = recorder.recording(1)
    for number, recording in enumerate([*recordings, unfinished]):
        path = tmp_path / f"{number}{['.json', '.tetrion'][number % 2]}"
        recording.save(path)
        check_file(path)
        assert recording.player == "random"
        assert tetrion.Recording.load(path, client) == recording
    assert {recording.end for recording in recordings} == {"topped_out"}
    for recording in [*recordings[:2], unfinished]:
        assert recording.check() is None
        check_drawings(recording, tmp_path)


@pytest.mark.parametrize(("preset", "width"), [("lab", 5), ("lab", 7), ("leiden", 4), ("genetic", 6)])
def test_narrow_playfields_whose_rows_go_all_the_time(client, tmp_path, preset, width):
    """Two placements of a T can leave the same playfield; the colours tell them apart."""
    rules = {"preset": preset, "width": width, "height": 9, "preview": 1}
    seeds = tetrion.SeedRange(2, 6)
    result = client.evaluate("dt-10", rules=rules, seeds=seeds, max_pieces=150, record="all=6")
    assert result.lines.sum() > 30
    for recording in result.recordings:
        check_drawings(recording, tmp_path)


@pytest.mark.parametrize("policy", ["terminate", "ignore"])
def test_actions_that_do_not_exist(client, tmp_path, policy):
    reward = -0.1 if policy == "ignore" else 0.0
    kwargs = {"invalid_action": policy, "invalid_action_reward": reward, "rules": {"width": 5, "height": 8}}
    with client.create_session(4, seed=3, autoreset="next_step", **kwargs) as session:
        recordings = record_random_games(session, 5, 80, allowed=False).take()
    assert {recording.end for recording in recordings} >= {"terminate": {"invalid_action"}, "ignore": {"topped_out"}}[policy]
    assert any(len(recording) > recording.pieces for recording in recordings)
    for number, recording in enumerate(recordings):
        recording.save(tmp_path / f"{number}.json")
        check_file(tmp_path / f"{number}.json")
        assert recording.check() is None
    check_drawings(recordings[0], tmp_path)


def test_a_refused_step_is_not_recorded(client):
    with client.create_session(rules={"width": 4, "height": 6}, piece_sequences=["OIO"]) as session:
        recorder = tetrion.Recorder(session)
        session.reset()
        with pytest.raises(tetrion.IllegalAction):
            session.step([3])
        with pytest.raises(tetrion.IllegalAction):
            session.step([99])
        session.step([1])
        assert recorder.recording().actions.tolist() == [1]


def test_explicit_pieces_to_their_end(client, tmp_path):
    with client.create_session(2, autoreset="disabled") as session:
        recorder = tetrion.Recorder(session)
        session.reset(piece_sequences=["IOT", "OO"])
        session.step([0, 0])
        session.step([2, 2])
        session.step([4], [0])
        first, second = recorder.recording(0), recorder.recording(1)
        assert (first.piece_sequence, second.piece_sequence) == ("IOT", "OO")
        assert (first.seed, first.end, second.end) == (None, "out_of_pieces", "out_of_pieces")
        assert second.rows == ["####......", "####......"]
        # The next episode deals them again, and a reset with others deals those.
        session.reset([0])
        session.step([5], [0])
        assert recorder.recording(0).piece_sequence == "IOT"
        session.reset([0], piece_sequences="SZ")
        session.step([0], [0])
        third = recorder.recording(0)
        assert third.piece_sequence == "SZ"
        assert [recording.piece_sequence for recording in recorder.take()] == ["IOT", "IOT", "OO"]
    # Of pieces that the session was made with, a recording has those that were seen.
    with client.create_session(piece_sequences="TTTOOO", rules={"preview": 1}, autoreset="disabled") as session:
        recorder = tetrion.Recorder(session)
        session.reset()
        session.step([0])
        fourth = recorder.recording()
        assert (fourth.piece_sequence, fourth.start) == ("TTT", None)
    for number, recording in enumerate([first, second, third, fourth]):
        recording.save(tmp_path / f"{number}.tetrion")
        check_file(tmp_path / f"{number}.tetrion")
        check_drawings(recording, tmp_path)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("reseed", [None, 5])
def test_restored_snapshots_begin_with_their_playfield(client, tmp_path, preset, reseed):
    """Also where a key has moved the piece already: the recording begins with the next one."""
    rules = {"preset": preset, "height": 20 if preset == "lab" else 12, "preview": 1}
    print("seed 11")
    rng = np.random.default_rng(11)
    with client.create_session(2, rules=rules, seed=2, autoreset="disabled") as session, session.stream() as stream:
        masks = stream.reset().action_mask
        steps = 40 if preset == "lab" else 6
        for _ in range(steps // 2):
            masks = stream.step(random_actions(rng, masks)).action_mask
        states = session.save()
        before = stream.restore(states).observations
        recorder = tetrion.Recorder(session)
        masks = np.array(stream.restore(states, reseed=reseed).action_mask)
        ended = np.zeros(2, bool)
        for _ in range(steps):
            playing = np.flatnonzero(~ended)
            if playing.size:
                stepped = stream.step(random_actions(rng, masks[playing]), playing)
                masks[playing], ended[playing] = stepped.action_mask, stepped.terminated
        recordings = [recorder.recording(env_id) for env_id in (0, 1)]
    for env_id, recording in enumerate(recordings):
        recording.save(tmp_path / f"{env_id}.json")
        check_file(tmp_path / f"{env_id}.json")
        assert recording.check() is None
        assert recording.seed is None
        if preset != "lab":
            board = before["board"][env_id]
            drawn = ["".join(".#"[cell] for cell in row) for row in board[::-1]]
            assert list(recording.start.rows) == drawn[len(drawn) - len(recording.start.rows) :]
            assert recording.pieces == len(recording)
        check_drawings(recording, tmp_path)


def test_a_tree_search_is_recorded_as_the_game_that_it_plays(client, tmp_path):
    """It tries every placement and returns, in the environment itself; what it tried is not in the recording."""
    env = tetrion.RecordGames(tetrion.TetrisEnv(client, rules={"width": 4, "height": 6}), tmp_path, lambda episode: True)
    _, info = env.reset(seed=3)
    ended, played, tried_to_the_end = False, [], 0
    while not ended:
        state = env.unwrapped.clone_state()
        outcomes = {}
        for action in np.flatnonzero(info["action_mask"]).tolist():
            env.unwrapped.restore_state(state)
            observation, _, lost, _, _ = env.unwrapped.step(action)
            tried_to_the_end += lost
            outcomes[action] = (lost, observation["board"].nonzero()[0].max(initial=0))
        env.unwrapped.restore_state(state)
        best = min(outcomes, key=outcomes.get)
        _, _, terminated, truncated, info = env.step(best)
        played.append(best)
        ended = terminated or truncated or len(played) == 30
        assert len(env.recordings) == (terminated or truncated)
    assert tried_to_the_end > 0
    recording = env.recordings[0] if env.recordings else env.recorder.recording()
    assert recording.actions.tolist() == played
    assert (recording.seed, recording.start, recording.pieces) == (3, None, len(played))
    recording.save(tmp_path / "whole.json")
    check_file(tmp_path / "whole.json")


def test_a_piece_on_its_way_down(client, tmp_path):
    env = tetrion.KeypressEnv(client, rules={"height": 8})
    env.reset(options={"piece_sequence": "OTIO"})
    env.step(1)
    state = env.clone_state()
    env.step(5)
    env.restore_state(state)
    recorder = tetrion.Recorder(env)
    env.step(2)
    with pytest.raises(tetrion.ResetNeeded, match="its first piece is falling"):
        recorder.recording()
    env.step(5)
    env.step(2)
    env.step(5)
    recording = recorder.recording()
    assert recording.actions.tolist() == [2, 5]
    assert (recording.start.piece, recording.pieces) == ("T", 1)
    recording.save(tmp_path / "game.json")
    check_file(tmp_path / "game.json")
    # At the top a snapshot is a position like any other.
    env.reset(options={"piece_sequence": "OTIO"})
    env.restore_state(env.clone_state())
    env.step(5)
    assert recorder.recording().actions.tolist() == [5]


def test_snapshots_keep_explicit_pieces_for_later_episodes(client, tmp_path):
    """The sequence comes with the snapshot, so the log takes one more where the next episode begins."""
    with client.create_session(
        2, rules={"width": 4, "height": 6}, piece_sequences="OOOOOO", autoreset="next_step"
    ) as source:
        source.reset()
        states = source.save()
    with client.create_session(2, rules={"width": 4, "height": 6}, autoreset="next_step") as session:
        recorder = tetrion.Recorder(session)
        session.restore(states)
        for _ in range(9):
            session.step([0, 0])
        recordings = recorder.take()
        assert [recording.piece_sequence for recording in recordings] == ["OOOOO"] * 4
        assert [recording.end for recording in recordings] == ["topped_out"] * 4
        recordings[3].save(tmp_path / "game.json")
        check_file(tmp_path / "game.json")


@pytest.mark.parametrize("infos", [(), ["lines"], ["seed"]])
def test_requests_sent_ahead(client, tmp_path, infos):
    """The two halves of a session in turns: which episode an answer belongs to does not depend on when it is read."""
    kwargs = {"rules": {"width": 4, "height": 6}, "infos": infos, "seed": 4}
    with client.create_session(4, autoreset="same_step", **kwargs) as session, session.stream() as stream:
        recorder = tetrion.Recorder(session)
        halves = [0, 1], [2, 3]
        masks = [stream.reset(half).action_mask for half in halves]
        rng = np.random.default_rng(3)
        stream.send_step(random_actions(rng, masks[0]), halves[0])
        for turn in range(1, 60):
            stream.send_step(random_actions(rng, masks[turn % 2]), halves[turn % 2])
            masks[(turn - 1) % 2] = stream.receive_step().action_mask
        stream.receive_step()
        recordings = recorder.take()
    # Without the info `seed`, an episode that began while requests were on their way is not known.
    assert len(recordings) >= (3 if infos == ["lines"] else 25)
    for number, recording in enumerate(recordings):
        assert recording.check() is None
        if number < 3:
            recording.save(tmp_path / f"{number}.json")
            check_file(tmp_path / f"{number}.json")


def test_only_chosen_environments_and_only_while_listening(client):
    with client.create_session(3, rules={"width": 4, "height": 6}) as session:
        session.reset()
        session.step([0, 0, 0])
        with tetrion.Recorder(session, [2]) as recorder:
            session.step([1, 1, 1])
            recording = recorder.recording()
            assert (len(recording), recording.start is not None) == (1, True)
            with pytest.raises(tetrion.InvalidArgument, match=r"env_id is 0, expected one of those recorded: \[2\]"):
                recorder.recording(0)
        session.step([0, 0, 0])
        assert len(recorder.recording()) == 1
        for wrong in ([3], [-1], "0"):
            with pytest.raises(tetrion.InvalidArgument, match="env_ids"):
                tetrion.Recorder(session, wrong)
        with pytest.raises(tetrion.InvalidArgument, match="player"):
            tetrion.Recorder(session, player="a\nb")
        with pytest.raises(tetrion.InvalidArgument, match="201 bytes"):
            tetrion.Recorder(session, player="a" * 201)
    with pytest.raises(tetrion.InvalidArgument, match="source"):
        tetrion.Recorder(gymnasium.make("CartPole-v1"))


def test_before_the_first_reset_there_is_nothing(client):
    with client.create_session(2) as session:
        session.reset([1])
        recorder = tetrion.Recorder(session)
        with pytest.raises(tetrion.ResetNeeded, match="environment 0"):
            recorder.recording(0)
        assert len(recorder.recording(1)) == 0
        assert recorder.take() == []


def test_games_left_by_a_reset_are_taken_and_forks_are_not(client):
    env = tetrion.TetrisEnv(client, max_episode_steps=4)
    recorder = tetrion.Recorder(env, keep=2)
    for seed in range(4):
        env.reset(seed=seed)
        state = env.clone_state()
        env.step(3)
        env.restore_state(state)
        for action in range(seed + 1):
            env.step(action)
    # Two are kept, and the one that its limit ended.
    taken = recorder.take()
    assert [len(recording) for recording in taken] == [2, 3, 4]
    assert [recording.end for recording in taken] == [None] * 3
    assert recorder.take() == []


def test_a_lost_server_breaks_no_recording():
    with tetrion.Server() as server, tetrion.Client(server) as client:
        env = tetrion.TetrisEnv(client, rules={"width": 5, "height": 9}, snapshot_every=3)
        recorder = tetrion.Recorder(env)
        env.reset(seed=1)
        for step in range(6):
            (fits,) = np.nonzero(env.action_masks())
            action = int(fits[step % 2 * (len(fits) - 1)])
            if step == 3:
                server._process.kill()
                with pytest.warns(RuntimeWarning, match="started again"):
                    env.step(action)
            else:
                env.step(action)
        recording = recorder.recording()
        assert len(recording) == 6
        assert recording.check() is None


# Files


def made(client, **kwargs):
    env = tetrion.TetrisEnv(client, **kwargs)
    recorder = tetrion.Recorder(env)
    env.reset(seed=5)
    for action in (0, 3, 6):
        env.step(action)
    return recorder.recording()


def test_what_a_recording_says(client):
    recording = made(client, rules={"preview": 1})
    assert (len(recording), recording.pieces, recording.lines, recording.score, recording.end) == (3, 3, 0, 0.0, None)
    assert (recording.seed, recording.piece_sequence, recording.start) == (5, None, None)
    assert (recording.actions.tolist(), recording.landings.tolist()) == ([0, 3, 6], [0, 0, 0])
    assert recording.rules.width == 10
    assert recording.rules_version == client.server_info().rules_version
    assert recording.origin == "episode 0 of environment 0"
    assert repr(recording) == "<tetrion.Recording: 3 pieces, 0 lines, not ended>"
    replay = recording.replay()
    assert len(replay) == 3
    assert replay.scene(0).pieces == 0
    assert replay.scene().cells.shape == (20, 10)
    assert (replay.scene().cells >= 0).sum() == 12
    assert sum(cell == "#" for row in recording.rows for cell in row) == 12
    with pytest.raises(tetrion.InvalidArgument, match="step is 4"):
        replay.scene(4)


def test_files_are_those_of_every_protobuf_library(client, tmp_path):
    recording = made(client)
    recording.save(tmp_path / "game.json")
    fields = json.loads((tmp_path / "game.json").read_text())
    assert (fields["seed"], fields["actions"], fields["lines"]) == ("5", [0, 3, 6], "AAAA")
    recording.save(tmp_path / "game.tetrion")
    assert recording_pb2.Recording.FromString((tmp_path / "game.tetrion").read_bytes()) == recording.message
    for copied in (copy.deepcopy(recording), pickle.loads(pickle.dumps(recording))):
        assert copied == recording
        assert copied.check(client) is None
    assert recording != "game"


def change(recording, **fields):
    message = recording_pb2.Recording()
    message.CopyFrom(recording.message)
    for name, value in fields.items():
        if name == "rows":
            message.outcome.rows[-1] = value
        elif hasattr(message.outcome, name) and name != "lines":
            setattr(message.outcome, name, value)
        elif name == "actions":
            message.actions[:] = value
        else:
            setattr(message, name, value)
    return message


@pytest.mark.parametrize(
    ("fields", "difference"),
    [
        ({"lines": b"\0\1\0"}, "step 2, piece 2: 0 lines, recorded 1"),
        ({"lines": b"\0\0"}, "step 3, piece 3: 0 lines, recorded None"),
        ({"lines": b"\0\0\0\0"}, "at the end: pieces with lines 3, recorded 4"),
        ({"pieces": 4}, "at the end: pieces 3, recorded 4"),
        ({"score": 1.0}, "at the end: points 0.0, recorded 1.0"),
        ({"end": 1}, "at the end: end None, recorded topped_out"),
        ({"rows": "##########"}, "at the end: playfield"),
        ({"actions": [0, 40, 6]}, "step 2: "),
        ({"piece_sequence": "X"}, "it cannot be played"),
    ],
    ids=str,
)
def test_a_falsified_recording_is_found_out(client, tmp_path, fields, difference):
    recording = tetrion.Recording(change(made(client), **fields), client)
    assert recording.check().startswith(difference)
    recording.save(tmp_path / "game.json")
    assert program("replay", tmp_path / "game.json")[0] != 0


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "rules_version is missing"),
        (b"{}", "rules_version is missing"),
        (b"no recording", "is neither a recording in JSON nor one in binary form"),
        (b'{"rulesVersion": 1}', "is neither"),
        (b'{"unknown": 1}', "is neither"),
        (b'{"rulesVersion": "x"}', "rules is missing"),
        (b'{"rulesVersion": "x", "rules": {}}', "outcome is missing"),
        (b'{"rulesVersion": "x", "rules": {}, "outcome": {}}', "pieces are missing"),
        (b'{"rulesVersion": "x", "rules": {}, "outcome": {}, "seed": 1, "actions": [1, 256]}', r"actions\[1\] is 256"),
        (b" " * ((32 << 20) + 1), "has more than 33554432 bytes"),
    ],
    ids=lambda value: str(value[:20]),
)
def test_what_is_no_recording_is_refused(tmp_path, content, problem):
    (tmp_path / "game.json").write_bytes(content)
    with pytest.raises(tetrion.InvalidArgument, match=problem):
        tetrion.Recording.load(tmp_path / "game.json")


def test_without_a_client_a_server_of_this_process_replays(client, tmp_path):
    made(client).save(tmp_path / "game.json")
    assert tetrion.Recording.load(tmp_path / "game.json").check() is None


def test_a_recording_outlives_its_client_and_its_server():
    with tetrion.Server() as server:
        with tetrion.Client(server) as client:
            recordings = [made(client), client.evaluate("bcts", record="best", **SMALL).recordings[0]]
        for recording in recordings:
            assert recording.check() is None
        with tetrion.Client(server) as client:
            recordings.append(made(client))
    for recording in recordings:
        assert "<script>" in recording._repr_html_()
        assert recording.check() is None
    with pytest.raises(tetrion.ServerUnavailable):
        recordings[0].replay(tetrion.Client(server.address))


# Wrappers


def test_a_wrapper_writes_the_games_that_its_trigger_wants(client, tmp_path):
    env = gymnasium.make("tetrion/Placement-v0", address=client, rules={"width": 4, "height": 6}, max_episode_steps=50)
    env = tetrion.RecordGames(env, tmp_path / "games", lambda episode: episode % 2 == 0, player="first", name_prefix="run")
    rng = np.random.default_rng(1)
    for episode in range(5):
        _, info = env.reset(seed=episode)
        ended = False
        while not ended:
            action = rng.choice(np.flatnonzero(info["action_mask"]))
            _, _, terminated, truncated, info = env.step(action)
            ended = terminated or truncated
        assert [recording.seed for recording in env.recordings] == ([episode] if episode % 2 == 0 else [])
        if env.recordings:
            assert (env.recordings[0].pieces, env.recordings[0].lines) == (info["pieces"], info["lines"])
    env.reset()
    env.step(0)
    assert len(env.recorder.recording()) == 1
    # A game that a reset leaves is one more.
    env.reset()
    env.close()
    names = sorted(path.name for path in (tmp_path / "games").iterdir())
    assert names == [f"run-episode-{number}.json" for number in (0, 2, 4)]
    for name in names:
        check_file(tmp_path / "games" / name)


def test_the_usual_trigger_is_that_of_videos(client, tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gymnasium.logger, "warn", lambda message: warned.append(message))
        warned = []
        for _ in range(2):
            env = tetrion.RecordGames(tetrion.KeypressEnv(client, rules={"height": 9}), tmp_path, suffix=".tetrion")
            for _ in range(10):
                env.reset()
                for _ in range(3):
                    env.step(5)
            env.reset()
            env.close()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["game-episode-0.tetrion", "game-episode-1.tetrion", "game-episode-8.tetrion"]
    assert len(warned) == 1
    assert "has recordings already" in warned[0]
    with pytest.raises(tetrion.InvalidArgument, match=r"did you mean '\.json'"):
        tetrion.RecordGames(tetrion.TetrisEnv(client), tmp_path, suffix=".jsn")


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_a_wrapper_of_a_vector_environment(client, tmp_path, mode):
    envs = gymnasium.make_vec(
        "tetrion/Placement-v0", num_envs=6, address=client, rules={"width": 4, "height": 6}, autoreset_mode=mode
    )
    envs = tetrion.RecordVectorGames(envs, tmp_path, lambda episode: episode < 12)
    rng = np.random.default_rng(2)
    _, infos = envs.reset(seed=9)
    mask = infos["action_mask"]
    ended = 0
    for _ in range(40):
        _, _, terminated, truncated, infos = envs.step(random_actions(rng, mask))
        mask = np.array(infos["action_mask"])
        over = terminated | truncated
        assert len(envs.recordings) == min(max(12 - ended, 0), over.sum())
        ended += over.sum()
        if mode == "Disabled" and over.any():
            _, infos = envs.reset(options={"reset_mask": over})
            mask[over] = infos["action_mask"][over]
    assert ended > 12
    assert len(list(tmp_path.iterdir())) == 12
    for path in tmp_path.iterdir():
        check_file(path)
        assert tetrion.Recording.load(path, client).end == "topped_out"
    envs.close()


def test_copies_of_a_wrapped_environment_do_not_record(client, tmp_path):
    env = tetrion.RecordGames(tetrion.TetrisEnv(client, max_episode_steps=1), tmp_path, lambda episode: True)
    env.reset(seed=1)
    twin = copy.deepcopy(env)
    assert twin.recorder is None
    twin.step(0)
    assert list(tmp_path.iterdir()) == []
    env.step(0)
    assert [path.name for path in tmp_path.iterdir()] == ["game-episode-0.json"]


# Evaluations


def test_an_evaluation_records_the_games_worth_a_look(client, tmp_path):
    """The same files as those of `tetrion evaluate --record`."""
    words = ["best", "worst", "median", "all=2"]
    result = client.evaluate(["bcts", "random"], record=words, **SMALL)
    plain = client.evaluate(["bcts", "random"], **SMALL)
    assert plain.recordings == ()
    np.testing.assert_array_equal(result.lines, plain.lines)
    options = ["--width", "6", "--height", "8", "--games", "15", "--seed", "1", "--max-pieces", "200"]
    command = ["evaluate", "--controller", "bcts,random", *options, "--record", ",".join(words), tmp_path / "theirs"]
    code, printed = program(*command)
    assert code == 0, printed
    theirs = [tetrion.Recording.load(path, client) for path in sorted((tmp_path / "theirs").iterdir())]
    ours = {(recording.player, recording.seed): recording for recording in result.recordings}
    assert {(recording.player, recording.seed) for recording in theirs} == set(ours)
    for recording in theirs:
        mine = ours[recording.player, recording.seed]
        assert (mine.actions == recording.actions).all()
        assert mine.message.outcome == recording.message.outcome
        assert mine.message.lines == recording.message.lines
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
    check_drawings(recordings[15], tmp_path)


@pytest.mark.parametrize("word", ["least", "all", "all=0", "all=1001", "best worst", 3, [3]])
def test_unknown_words_are_refused_before_anything_is_played(client, word):
    with pytest.raises(tetrion.InvalidArgument, match="record"):
        client.evaluate("bcts", record=word, **SMALL)


def test_what_cannot_be_recorded_is_refused(client):
    with pytest.raises(tetrion.InvalidArgument, match="omit_results"):
        client.evaluate("bcts", record="best", omit_results=True, **SMALL)
    with pytest.raises(tetrion.InvalidArgument, match="seeds of 17 episodes"):
        client.evaluate("random", record="best", rules={"width": 4, "height": 4}, seeds=[1], episodes_per_seed=17)


def test_several_servers_record_as_one(client, tmp_path):
    with tetrion.Server() as other, tetrion.Servers([client.address, other]) as servers:
        ours = client.evaluate("bcts", record="best,median", **SMALL).recordings
        theirs = servers.evaluate("bcts", record="best,median", **SMALL).recordings
        assert ours == theirs
        assert theirs[0].check() is None
