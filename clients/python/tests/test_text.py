"""Games as text: observations, actions by name, and sessions without observations or infos."""

import gymnasium
import numpy as np
import pytest

import tetrion


def test_a_game_is_played_by_text(client):
    with client.create_session(2, seed=3, rules={"width": 6, "height": 6}) as session, session.clone(2) as twin:
        session.reset()
        twin.reset()
        first = session.render(style="prompt_board")[0]
        assert first.startswith("text-1: # full, . empty, top row first;")
        for _ in range(3):
            lists = [text.split("column\n")[1].splitlines() for text in session.render(style="prompt_consequences")]
            entries = [lines[-1].split(":")[0] for lines in lists]
            legal = [np.flatnonzero(row)[-1] for row in twin.restore_state(twin.save_state()).action_mask]
            stepped, expected = session.step([entries[0].split(" ")[0], entries[1]]), twin.step(legal)
            assert stepped.actions.tolist() == [int(action) for action in legal]
            assert expected.actions is None
            assert stepped.observations["board"].tobytes() == expected.observations["board"].tobytes()
            assert stepped.rewards.tobytes() == expected.rewards.tobytes()


def test_a_text_that_is_no_action_is_answered_with_the_legal_ones(client):
    with client.create_session(1, piece_sequences=["OOO"], rules={"width": 4, "height": 6}) as session:
        session.reset()
        with pytest.raises(tetrion.IllegalActionError, match=r"0@9.* expected one of: a 0@0-1, b 0@1-2, c 0@2-3"):
            session.step(["0@9"])
        with pytest.raises(tetrion.InvalidArgumentError, match=r"actions\[1\]"):
            session.step(["a", 3])
        session.step(["b"])
        assert session.sequence_number == 2


def test_recorded_games_know_the_actions_of_texts(client):
    with client.create_session(1, seed=5, rules={"width": 4, "height": 4}) as session:
        recorder = tetrion.Recorder(session)
        session.reset()
        while not session.step(["a"]).terminated[0]:
            pass
        (recording,) = recorder.take()
        assert set(recording.actions.tolist()) == {0}
        assert recording.check() is None


def test_no_observations_and_no_infos(client):
    with client.create_session(2, seed=1, observations=[], infos=[]) as session:
        observed = session.reset()
        assert not observed.observations
        assert not observed.infos
        stepped = session.step([0, 1])
        assert not stepped.observations
        assert not stepped.infos
        assert stepped.rewards.shape == (2,)
    with gymnasium.make("tetrion/Placement-v0", infos=[], **_where(client)) as env:
        _, info = env.reset(seed=1)
        assert set(info) == {"action_mask"}
        _, _, _, _, info = env.step(0)
        assert set(info) == {"action_mask"}


def _where(client):
    return {"address": client.address} if client.address else {}
