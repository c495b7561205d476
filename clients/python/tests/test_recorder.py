"""Recorders: whatever plays, the program replays their recordings to the last cell."""

import gymnasium
import numpy as np
import protocol
import pytest
from recorded import check_file, random_actions

import tetrion
from tetrion._pb import messages as pb

PRESETS = ["simplified", "lab", "survey", "genetic", "leiden", "guideline", "nes"]


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
    if preset == "guideline":
        rules.update(height=14, rows_above=4)
    steps = 300 if preset == "lab" else 60
    with client.create_session(3, rules=rules, autoreset_mode=autoreset, seed=1) as session:
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
        assert tetrion.Recording.load(path) == recording
    assert {recording.end for recording in recordings} == {"topped_out"}
    for recording in [*recordings[:2], unfinished]:
        assert recording.check() is None


@pytest.mark.parametrize("policy", ["terminate", "ignore"])
def test_actions_that_do_not_exist(client, tmp_path, policy):
    reward = -0.1 if policy == "ignore" else 0.0
    kwargs = {"invalid_action_policy": policy, "invalid_action_reward": reward, "rules": {"width": 5, "height": 8}}
    with client.create_session(4, seed=3, autoreset_mode="next_step", **kwargs) as session:
        recordings = record_random_games(session, 5, 80, allowed=False).take()
    assert {recording.end for recording in recordings} >= {"terminate": {"invalid_action"}, "ignore": {"topped_out"}}[policy]
    assert any(len(recording) > recording.pieces for recording in recordings)
    for number, recording in enumerate(recordings):
        recording.save(tmp_path / f"{number}.json")
        check_file(tmp_path / f"{number}.json")
        assert recording.check() is None


def test_a_refused_step_is_not_recorded(client):
    with client.create_session(rules={"width": 4, "height": 6}, piece_sequences=["OIO"]) as session:
        recorder = tetrion.Recorder(session)
        session.reset()
        with pytest.raises(tetrion.IllegalActionError):
            session.step([3])
        with pytest.raises(tetrion.IllegalActionError):
            session.step([99])
        session.step([1])
        assert recorder.recording().actions.tolist() == [1]


def test_explicit_pieces_to_their_end(client, tmp_path):
    with client.create_session(2, autoreset_mode="disabled") as session:
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
    with client.create_session(piece_sequences="TTTOOO", rules={"preview": 1}, autoreset_mode="disabled") as session:
        recorder = tetrion.Recorder(session)
        session.reset()
        session.step([0])
        fourth = recorder.recording()
        assert (fourth.piece_sequence, fourth.start) == ("TTT", None)
    for number, recording in enumerate([first, second, third, fourth]):
        recording.save(tmp_path / f"{number}.tetrion")
        check_file(tmp_path / f"{number}.tetrion")


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("reseed", [None, 5])
def test_restored_snapshots_begin_with_their_playfield(client, tmp_path, preset, reseed):
    """Also where a key has moved the piece already: the recording begins with the next one."""
    rules = {"preset": preset, "height": 20 if preset == "lab" else 12, "preview": 1}
    if preset == "guideline":
        rules["rows_above"] = 4
    print("seed 11")
    rng = np.random.default_rng(11)
    with client.create_session(2, rules=rules, seed=2, autoreset_mode="disabled") as session, session.stream() as stream:
        masks = stream.reset().action_mask
        steps = 40 if preset == "lab" else 6
        for _ in range(steps // 2):
            masks = stream.step(random_actions(rng, masks)).action_mask
        states = session.save_state()
        before = stream.restore_state(states).observations
        recorder = tetrion.Recorder(session)
        masks = np.array(stream.restore_state(states, reseed=reseed).action_mask)
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


def test_a_piece_on_its_way_down(client, tmp_path):
    env = tetrion.KeypressEnv(address=client, rules={"height": 8})
    env.reset(options={"piece_sequence": "OTIO"})
    env.step(1)
    state = env.save_state()
    env.step(5)
    env.restore_state(state)
    recorder = tetrion.Recorder(env)
    env.step(2)
    with pytest.raises(tetrion.ResetNeededError, match="its first piece is falling"):
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
    env.restore_state(env.save_state())
    env.step(5)
    assert recorder.recording().actions.tolist() == [5]


def test_snapshots_keep_explicit_pieces_for_later_episodes(client, tmp_path):
    """The sequence comes with the snapshot, so the log takes one more where the next episode begins."""
    with client.create_session(
        2, rules={"width": 4, "height": 6}, piece_sequences="OOOOOO", autoreset_mode="next_step"
    ) as source:
        source.reset()
        states = source.save_state()
    with client.create_session(2, rules={"width": 4, "height": 6}, autoreset_mode="next_step") as session:
        recorder = tetrion.Recorder(session)
        session.restore_state(states)
        for _ in range(9):
            session.step([0, 0])
        recordings = recorder.take()
        assert [recording.piece_sequence for recording in recordings] == ["OOOOO"] * 4
        assert [recording.end for recording in recordings] == ["topped_out"] * 4
        recordings[3].save(tmp_path / "game.json")
        check_file(tmp_path / "game.json")


@pytest.mark.parametrize("infos", [None, [], ["lines"], ["seed"]])
def test_requests_sent_ahead(client, tmp_path, infos):
    """The two halves of a session in turns: which episode an answer belongs to does not depend on when it is read."""
    kwargs = {"rules": {"width": 4, "height": 6}, "infos": infos, "seed": 4}
    with client.create_session(4, autoreset_mode="same_step", **kwargs) as session, session.stream() as stream:
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
    assert len(recordings) >= (3 if infos in ([], ["lines"]) else 25)
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
            with pytest.raises(tetrion.InvalidArgumentError, match=r"env_id is 0, expected one of those recorded: \[2\]"):
                recorder.recording(0)
        session.step([0, 0, 0])
        assert len(recorder.recording()) == 1
        for wrong in ([3], [-1], "0"):
            with pytest.raises(tetrion.InvalidArgumentError, match="env_ids"):
                tetrion.Recorder(session, wrong)
        with pytest.raises(tetrion.InvalidArgumentError, match="player"):
            tetrion.Recorder(session, player="a\nb")
        with pytest.raises(tetrion.InvalidArgumentError, match="201 bytes"):
            tetrion.Recorder(session, player="a" * 201)
    with pytest.raises(tetrion.InvalidArgumentError, match="source"):
        tetrion.Recorder(gymnasium.make("CartPole-v1"))


def test_before_the_first_reset_there_is_nothing(client):
    with client.create_session(2) as session:
        session.reset([1])
        recorder = tetrion.Recorder(session)
        with pytest.raises(tetrion.ResetNeededError, match="environment 0"):
            recorder.recording(0)
        assert len(recorder.recording(1)) == 0
        assert recorder.take() == []


def test_games_left_by_a_reset_are_taken_and_forks_are_not(client):
    env = tetrion.PlacementEnv(address=client, max_episode_steps=4)
    recorder = tetrion.Recorder(env, keep=2)
    for seed in range(4):
        env.reset(seed=seed)
        state = env.save_state()
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
        env = tetrion.PlacementEnv(address=client, rules={"width": 5, "height": 9}, snapshot_every=3)
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


def test_a_recorder_needs_its_version_of_the_rules(client):
    with client.create_session() as session:
        session._link.message = session._message.changed(rules_version="tetrion-rules-0")
        with pytest.raises(
            tetrion.errors.VersionMismatchError, match="'tetrion-rules-0', and this package records by 'tetrion"
        ):
            tetrion.Recorder(session)


@pytest.mark.parametrize("autoreset", ["next_step", "same_step", "disabled"])
def test_a_match_is_one_recording_of_both_sides(client, tmp_path, autoreset):
    rules = {"preset": "tetrio", "players": 2, "height": 14, "rows_above": 4}
    session = client.create_session(4, rules=rules, autoreset_mode=autoreset, action_mask=True, infos=["seed"])
    rng, ended = np.random.default_rng(2), []
    with tetrion.Recorder(session, player="dice") as recorder:
        step = session.reset(seeds=[3, 3, 4, 4])
        for _ in range(200):
            step = session.step(random_actions(rng, step.action_mask))
            ended += recorder.take()
            if len(ended) >= 3:
                break
            if autoreset == "disabled" and step.terminated.any():
                over = np.flatnonzero(step.terminated)
                step.action_mask[over] = session.reset(over).action_mask
        sides = [recorder.recording(env_id) for env_id in range(2)]
    assert sides[0] == sides[1]
    assert sides[0].origin.endswith("of environment 0")
    assert len(ended) >= 3
    for number, recording in enumerate(ended):
        assert recording.check() is None
        assert (recording.player, recording.opponent.player) == ("dice", "")
        assert len(recording.opponent) == len(recording) == recording.pieces
        assert {recording.end, recording.opponent.end} in ({"won", "topped_out"}, {"drawn"})
        recording.save(tmp_path / "match.json")
        assert tetrion.Recording.load(tmp_path / "match.json") == recording
        if number == 0:
            check_file(tmp_path / "match.json")
    message = protocol.read(ended[0]._message)
    message.opponent.actions[1] = 40_000
    assert tetrion.Recording(pb.Recording.decode(message.SerializeToString())).check().startswith("opponent: step 2: ")


def test_swapped_sides_are_recorded(client):
    rules = {"preset": "tetrio", "players": 2, "height": 14, "rows_above": 4}
    session = client.create_session(2, rules=rules, autoreset_mode="same_step", action_mask=True)

    def play(seed, swap_sides=None):
        """The match of a seed, by players of their own taste."""
        if swap_sides is not None:
            session.reset(seeds=[seed] * 2, swap_sides=swap_sides)
        while True:
            chosen = [session.enumerate_placements([env], policy=of).policy_actions[0] for env, of in enumerate(policies)]
            if session.step(chosen).terminated.any():
                return

    policies = ["dt-10", "el-tetris"]
    with tetrion.Recorder(session, player="dt-10") as recorder:
        play(5, swap_sides=True)
        play(5)  # the next episode keeps the sides
        swapped = recorder.take()
        policies.reverse()
        play(5, swap_sides=False)
        play(5)
        exchanged = recorder.take()
        # Snapshots keep their sides, here one of swapped sides and one in exchanged rows.
        session.reset(seeds=[7, 7], swap_sides=True)
        states = session.save_state()
        session.reset(seeds=[8, 8])
        session.restore_state(states)
        play(7)
        session.restore_state(states[::-1])
        play(7)
        restored = recorder.take()[-2:]
    session.restore_state(states)
    with tetrion.Recorder(session) as late:
        play(7)  # under way before
        play(7)
        (known,) = late.take()
    for one, other in zip(swapped, exchanged, strict=True):
        assert one.check() is None
        assert (one.actions.tolist(), one.opponent.actions.tolist()) == (
            other.actions.tolist(),
            other.opponent.actions.tolist(),
        )
        assert (one.player, one.opponent.player, other.player, other.opponent.player) == ("", "dt-10", "dt-10", "")
        assert one.origin.endswith("of environment 1")
        assert other.origin.endswith("of environment 0")
    assert [one.check() for one in [*restored, known]] == [None] * 3
    assert [one.player for one in restored] == ["", "dt-10"]


def test_as_many_matches_are_kept_as_games(client):
    rules = {"preset": "tetrio", "players": 2, "height": 14, "rows_above": 4}
    session = client.create_session(4, rules=rules, autoreset_mode="same_step", action_mask=True, infos=["seed"])
    with tetrion.Recorder(session, keep=1) as recorder:
        step, rng = session.reset(seeds=[3, 3, 4, 4]), np.random.default_rng(2)
        ended = 0
        while ended < 3:
            step = session.step(random_actions(rng, step.action_mask))
            ended += int(step.terminated.sum()) // 2
        assert len(recorder.take()) == 1


def test_a_match_needs_both_sides(client):
    session = client.create_session(4, rules={"preset": "tetrio", "players": 2})
    with pytest.raises(tetrion.InvalidArgumentError, match="env_ids has 3 without 2, expected both sides of a match"):
        tetrion.Recorder(session, [0, 1, 3])


def test_games_with_holes_in_their_columns(client, tmp_path):
    with client.create_session(rules={"preset": "guideline", "garbage": {"lines_per_piece": 1}}) as session:
        recorder = tetrion.Recorder(session)
        for holes in ([], [[1, 2]]):
            session.reset(piece_sequences=["IOTOS"], hole_columns=holes)
            for _ in range(4):
                session.step(session.enumerate_placements().actions[:1])
            recording = recorder.recording()
            assert recording.check() is None
            assert (recording.piece_sequence, [recording.hole_columns]) == ("IOTOS", holes or [[]])
            assert (recording._message.outcome.rows[-1] == "##.#######") == bool(holes)
        recording.save(tmp_path / "game.json")
        check_file(tmp_path / "game.json")


def test_matches_with_holes_in_their_columns(client):
    rules = {"preset": "versus_simple", "players": 2, "height": 14, "rows_above": 4}
    sequences, holes = ["TLZISIOJ" * 12] * 2, [[3, 3, 7], [0]]
    with client.create_session(2, rules=rules, autoreset_mode="same_step") as session:
        recorder = tetrion.Recorder(session)
        for swap_sides in (False, True):
            session.reset(piece_sequences=sequences, hole_columns=holes, swap_sides=swap_sides)
            while True:
                step = session.step(session.enumerate_placements(policy="dt-10").policy_actions)
                if (step.terminated | step.truncated).any():
                    break
            (recording,) = recorder.take()
            assert recording.check() is None
            sides = [recording.hole_columns, recording.opponent.hole_columns]
            assert sides == (holes[::-1] if swap_sides else holes)
        session.reset(piece_sequences=["IOT", "IOS"])
        session.step(session.enumerate_placements(policy="dt-10").policy_actions)
        with pytest.raises(tetrion.ResetNeededError, match="nothing of the game in environment 0 can be recorded"):
            recorder.recording(0)
